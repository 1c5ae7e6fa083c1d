// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployment

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/protobuf/proto"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/statestore"
	valuev1 "github.com/cairnstacks/cairn/proto/cairn/value/v1"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
	"github.com/cairnstacks/cairn/stackruntime/storedvalue"
)

// What the state of a deployment keeps besides that of its components: what the stack publishes, and stable values of stores. Their kinds are such that
// versions which do not know them keep them.
const (
	publishedKind = "pubL" // before the name of a published value; alone, before nothing, when that was
	stableKind    = "stbL" // before the reference to a stable value
)

// Published is what a stack has published with one apply of one of its deployments.
type Published struct {
	At     time.Time // zero if nothing was ever published
	Values map[string]cty.Value
}

// publishedRecord is the record with the key publishedKind, as JSON.
type publishedRecord struct {
	At time.Time `json:"at"`
}

// PublishedAt returns when the stack published something with an apply of this deployment, zero if it never did.
func (t *Stored) PublishedAt() (time.Time, error) {
	raw, ok := t.Records[publishedKind]
	if !ok {
		return time.Time{}, nil
	}
	var record publishedRecord
	if err := json.Unmarshal(raw, &record); err != nil {
		return time.Time{}, unreadableKept(publishedKind, err)
	}
	return record.At, nil
}

// Published returns what the stack had published when this deployment was applied last.
func (t *Stored) Published() (Published, error) {
	at, err := t.PublishedAt()
	if err != nil {
		return Published{}, err
	}
	published := Published{At: at, Values: map[string]cty.Value{}}
	for key, raw := range t.Records {
		name, ok := strings.CutPrefix(key, publishedKind)
		if !ok || name == "" {
			continue
		}
		if published.Values[name], err = decodeKept(raw); err != nil {
			return Published{}, unreadableKept(key, err)
		}
	}
	return published, nil
}

func unreadableKept(key string, err error) error {
	return failure.Error("Unreadable state", "The record %q of the state cannot be understood: %s.", key, err)
}

// Stable returns the stable values of stores, by their references.
func (t *Stored) Stable() (map[string]cty.Value, error) {
	stable := map[string]cty.Value{}
	for key, raw := range t.Records {
		if name, ok := strings.CutPrefix(key, stableKind); ok {
			value, err := decodeKept(raw)
			if err != nil {
				return nil, unreadableKept(key, err)
			}
			stable[name] = value
		}
	}
	return stable, nil
}

// PublishedRecords returns the changes of records that keep what is published in place of what was.
func (t *Stored) PublishedRecords(published Published) (map[string][]byte, error) {
	marker, err := json.Marshal(publishedRecord{published.At})
	if err != nil {
		return nil, err
	}
	changes := map[string][]byte{publishedKind: marker}
	for key := range t.Records {
		if strings.HasPrefix(key, publishedKind) && key != publishedKind {
			changes[key] = nil
		}
	}
	return changes, addKept(changes, publishedKind, published.Values)
}

// StableRecords returns the changes of records that keep stable values, by their references. Those that are kept already stay.
func (t *Stored) StableRecords(stable map[string]cty.Value) (map[string][]byte, error) {
	changes := map[string][]byte{}
	err := addKept(changes, stableKind, stable)
	maps.DeleteFunc(changes, func(key string, raw []byte) bool { return bytes.Equal(t.Records[key], raw) })
	return changes, err
}

func addKept(changes map[string][]byte, kind string, values map[string]cty.Value) error {
	for name, value := range values {
		stored, err := storedvalue.Encode(value)
		if err != nil {
			return err
		}
		raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(stored)
		if err != nil {
			return err
		}
		changes[kind+name] = append([]byte{}, raw...) // nil would remove the record
	}
	return nil
}

func decodeKept(raw []byte) (cty.Value, error) {
	var stored valuev1.DynamicValue
	if err := proto.Unmarshal(raw, &stored); err != nil {
		return cty.NilVal, err
	}
	return storedvalue.Decode(&stored)
}

// Readings are the states of deployments in a store, each of which is read once. They are for one goroutine.
type Readings struct {
	store statestore.Store
	known map[string]*statestore.Snapshot
}

// NewReadings returns readings in a store.
func NewReadings(store statestore.Store) *Readings {
	return &Readings{store: store, known: map[string]*statestore.Snapshot{}}
}

func (r *Readings) of(ctx context.Context, name string) (*statestore.Snapshot, error) {
	if snapshot, ok := r.known[name]; ok {
		return snapshot, nil
	}
	snapshot, err := r.store.Read(ctx, name)
	if err == nil {
		r.known[name] = snapshot
	}
	return snapshot, err
}

// State returns the state of a deployment, nil if there is none.
func (r *Readings) State(ctx context.Context, name string) (*stackstate.State, error) {
	snapshot, err := r.of(ctx, name)
	if err != nil || snapshot.Lineage == "" {
		return nil, err
	}
	return Decode(snapshot.Records)
}

// NewestPublished returns what was published last of what the deployments have.
func (r *Readings) NewestPublished(ctx context.Context) (Published, error) {
	names, err := r.store.Deployments(ctx)
	if err != nil {
		return Published{}, err
	}
	newest, at := &Stored{Snapshot: &statestore.Snapshot{}}, time.Time{}
	for _, name := range names {
		snapshot, err := r.of(ctx, name)
		if err != nil {
			return Published{}, err
		}
		stored := &Stored{Snapshot: snapshot}
		switch published, err := stored.PublishedAt(); {
		case err != nil:
			return Published{}, err
		case published.After(at):
			newest, at = stored, published
		}
	}
	return newest.Published()
}
