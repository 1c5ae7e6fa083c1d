// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployment

import (
	"context"
	"sync"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// Known is one process's cache of states in several stores, so that a deployment that publishes
// after each apply need not read all others each time. The zero value is empty. It is safe for
// concurrent use.
type Known struct {
	mu struct {
		sync.Mutex
		stores map[string]*knownStore // by location
	}
}

// knownStore is the cache of the deployments in one store, with their serials. These were finished
// then, so that nothing in them changes.
type knownStore struct {
	mu           sync.Mutex
	publications map[string]read[*publication]
	outputs      map[string]read[map[string]cty.Value]
}

type read[T any] struct {
	at   statestore.Base
	what T
}

func (k *Known) store(location string) *knownStore {
	fresh := &knownStore{publications: map[string]read[*publication]{}, outputs: map[string]read[map[string]cty.Value]{}}
	if k == nil {
		return fresh
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.mu.stores == nil {
		k.mu.stores = map[string]*knownStore{}
	}
	if k.mu.stores[location] == nil {
		k.mu.stores[location] = fresh
	}
	return k.mu.stores[location]
}

// Readings are the states of deployments in a store at one time: each is read once, and not at all
// if the cache has the answer for its serial. They are for one goroutine.
type Readings struct {
	store     statestore.Store
	known     *knownStore
	newest    map[string]statestore.Newest // nil before it was asked for
	snapshots map[string]*statestore.Snapshot
}

// NewReadings returns readings in the store at a location. Known may be nil.
func NewReadings(store statestore.Store, location string, known *Known) *Readings {
	return &Readings{store: store, known: known.store(location), snapshots: map[string]*statestore.Snapshot{}}
}

func (r *Readings) serials(ctx context.Context) (map[string]statestore.Newest, error) {
	if r.newest != nil {
		return r.newest, nil
	}
	newest, err := r.store.Newest(ctx)
	if err == nil {
		r.newest = newest
	}
	return newest, err
}

func (r *Readings) snapshot(ctx context.Context, name string) (*statestore.Snapshot, error) {
	if snapshot, ok := r.snapshots[name]; ok {
		return snapshot, nil
	}
	snapshot, err := r.store.Read(ctx, name)
	if err == nil {
		r.snapshots[name] = snapshot
	}
	return snapshot, err
}

// find returns the cached value of a deployment at its newest serial, or else finds it in the
// snapshot that it reads. Values of an unfinished serial are not kept.
func find[T any](ctx context.Context, r *Readings, name string, known map[string]read[T], in func(*statestore.Snapshot) (T, error)) (T,
	error,
) {
	var none T
	serials, err := r.serials(ctx)
	if err != nil {
		return none, err
	}
	newest, ok := serials[name]
	if !ok {
		return none, nil
	}
	r.known.mu.Lock()
	have, ok := known[name]
	r.known.mu.Unlock()
	if ok && newest.Finished && have.at == newest.Base {
		return have.what, nil
	}
	snapshot, err := r.snapshot(ctx, name)
	if err != nil {
		return none, err
	}
	what, err := in(snapshot)
	if err == nil && !snapshot.Unfinished() {
		r.known.mu.Lock()
		known[name] = read[T]{snapshot.Base(), what}
		r.known.mu.Unlock()
	}
	return what, err
}

// Outputs returns the outputs of a deployment by its last apply, nil if nothing was applied or all
// was destroyed. The caller must not change them.
func (r *Readings) Outputs(ctx context.Context, name string) (map[string]cty.Value, error) {
	return find(ctx, r, name, r.known.outputs, func(snapshot *statestore.Snapshot) (map[string]cty.Value, error) {
		state, err := Decode(snapshot.Records)
		if err != nil {
			return nil, err
		}
		return Outputs(state), nil
	})
}

// Outputs returns the outputs of a state, nil if nothing was applied or all was destroyed.
func Outputs(state *stackstate.State) map[string]cty.Value {
	if len(state.Components) == 0 && len(state.Outputs) == 0 {
		return nil
	}
	return state.Outputs
}

// Published returns the published values of the stack.
func (r *Readings) Published(ctx context.Context) (Published, error) {
	all, err := r.combined(ctx)
	if err != nil {
		return Published{}, err
	}
	return all.published(), nil
}

// Publish returns the changes of records of a deployment that keep the values published by its
// apply at this time, none if they are published already.
func (r *Readings) Publish(ctx context.Context, stored *Stored, now time.Time, values map[string]cty.Value) (map[string][]byte, error) {
	all, err := r.combined(ctx)
	if err != nil {
		return nil, err
	}
	publication, changed := all.publish(stored.Deployment, values, now)
	if !changed {
		return nil, nil
	}
	return stored.publicationRecords(publication)
}

func (r *Readings) combined(ctx context.Context) (*combined, error) {
	serials, err := r.serials(ctx)
	if err != nil {
		return nil, err
	}
	all := map[string]*publication{}
	for name := range serials {
		all[name], err = find(ctx, r, name, r.known.publications, func(snapshot *statestore.Snapshot) (*publication, error) {
			return (&Stored{Snapshot: snapshot}).publication()
		})
		if err != nil {
			return nil, err
		}
	}
	return combine(all), nil
}
