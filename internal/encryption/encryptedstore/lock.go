// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package encryptedstore

import (
	"context"
	"maps"
	"slices"

	"github.com/cairnstacks/cairn/internal/encryption"
	"github.com/cairnstacks/cairn/internal/statestore"
)

// lock is a lock of the store below.
type lock struct {
	statestore.Lock

	store      *Store
	deployment string
	takenFrom  []statestore.LockInfo // with paths as they are in the store below
}

// Lock implements [statestore.Store].
//
// Before an apply, keys are made ready that it needs to save what it has done: those of files, and
// those of a state that is new.
func (s *Store) Lock(ctx context.Context, deployment string, request statestore.LockRequest) (statestore.Lock, error) {
	if request.Reserve && s.keys.Demands() {
		if err := s.prepare(ctx, deployment); err != nil {
			return nil, err
		}
	}
	if s.mode != Usual {
		request.Parts = nil // each part is written anew
	}
	made, err := s.lock(ctx, deployment, request)
	if err != nil {
		return nil, s.openLocked(err)
	}
	if compactor, ok := made.Lock.(statestore.Compactor); ok {
		return &compactingLock{made, compactor}, nil
	}
	return made, nil
}

// lock is [Store.Lock] of any lock.
func (s *Store) lock(ctx context.Context, deployment string, request statestore.LockRequest) (*lock, error) {
	if len(request.Parts) > 0 {
		return s.lockParts(ctx, deployment, request)
	}
	taken, err := s.Store.Lock(ctx, deployment, request)
	if err != nil {
		return nil, err
	}
	return &lock{taken, s, deployment, taken.TakenFrom()}, nil
}

// compactingLock is the lock of a store that can drop history, which needs no key.
type compactingLock struct {
	*lock

	below statestore.Compactor
}

// Compact implements [statestore.Compactor].
func (l *compactingLock) Compact(ctx context.Context, before int64) (removed int, err error) {
	return l.below.Compact(ctx, before)
}

func (s *Store) prepare(ctx context.Context, deployment string) error {
	if _, err := s.keys.ForFiles(ctx); err != nil {
		return err
	}
	newest, err := s.Newest(ctx)
	if err != nil || newest[deployment].Serial > 0 {
		return err
	}
	ring, root, err := s.keys.NewRing(ctx, nil, nil)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.fresh[deployment] = &sealedState{ring: ring, root: root}
	return nil
}

// Begin implements [statestore.Lock].
func (l *lock) Begin(
	ctx context.Context, base statestore.Base, operation string, changes map[string][]byte,
) (statestore.Writer, error) {
	state, stored, err := l.changes(ctx, base, changes)
	if err != nil {
		return nil, err
	}
	begun, err := l.Lock.Begin(ctx, base, operation, stored)
	if err != nil {
		return nil, err
	}
	state = &sealedState{base: begun.Base(), ring: state.ring, root: state.root}
	l.store.note(l.deployment, state)
	return &writer{begun, state, l}, nil
}

// changes encrypts the first changes of the serial after base, and adds the ring if that is new.
func (l *lock) changes(ctx context.Context, base statestore.Base, changes map[string][]byte) (*sealedState, map[string][]byte, error) {
	s := l.store
	if s.mode != Usual {
		return l.rekeyed(ctx, base, changes)
	}
	if base.Serial > 0 {
		state, err := s.at(ctx, l.deployment, base)
		if err != nil {
			return nil, nil, err
		}
		if state.ring != nil || !s.keys.Demands() {
			return state, state.seal(l.deployment, changes), nil
		}
		// It is in clear without any record, such as after everything was destroyed.
	}
	if !s.keys.Demands() {
		return &sealedState{}, changes, nil
	}
	state, err := l.first(ctx)
	if err != nil {
		return nil, nil, err
	}
	state.ring.Written = []int64{base.Serial + 1}
	stored := state.seal(l.deployment, changes)
	stored[ringName], err = state.ring.Encode()
	return state, stored, err
}

// Import implements [statestore.Lock]. Whoever has no key copies encrypted records as they are,
// from and to the stores below.
func (l *lock) Import(ctx context.Context, lineage string, version statestore.Version, changes map[string][]byte) error {
	base := statestore.Base{Serial: version.Serial - 1}
	if base.Serial > 0 {
		base.Lineage = lineage
	}
	state, stored, err := l.changes(ctx, base, changes)
	if err != nil {
		return err
	}
	count(state.ring, &version, 1)
	if err := l.Lock.Import(ctx, lineage, version, stored); err != nil {
		return err
	}
	base = statestore.Base{Lineage: lineage, Serial: version.Serial}
	l.store.note(l.deployment, &sealedState{base: base, ring: state.ring, root: state.root})
	return nil
}

// first returns a new ring.
func (l *lock) first(ctx context.Context) (*sealedState, error) {
	l.store.mu.Lock()
	fresh := l.store.mu.fresh[l.deployment]
	delete(l.store.mu.fresh, l.deployment)
	l.store.mu.Unlock()
	if fresh != nil {
		return fresh, nil
	}
	ring, root, err := l.store.keys.NewRing(ctx, nil, nil)
	return &sealedState{ring: ring, root: root}, err
}

// rekeyed encrypts all records with a new root key, or decrypts all, and deletes those that have
// other names then.
func (l *lock) rekeyed(ctx context.Context, base statestore.Base, changes map[string][]byte) (*sealedState, map[string][]byte, error) {
	if l.store.mode == Rekey && !l.store.keys.Demands() {
		return nil, nil, encryption.NoKey()
	}
	before, err := l.store.Store.Read(ctx, l.deployment)
	if err != nil {
		return nil, nil, err
	}
	if before.Base() != base {
		return &sealedState{}, nil, nil // which the store refuses, as what was read is out of date
	}
	stored := make(map[string][]byte, 2*len(before.Records))
	for name := range before.Records {
		stored[name] = nil
	}
	old, err := l.store.stateOf(ctx, l.deployment, before)
	if err == nil {
		err = old.open(l.deployment, before)
	}
	if err != nil {
		return nil, nil, err
	}
	maps.Copy(before.Records, changes)
	maps.DeleteFunc(before.Records, func(_ string, value []byte) bool { return value == nil })
	state := &sealedState{}
	if l.store.mode == Rekey {
		if state.ring, state.root, err = l.store.keys.NewRing(ctx, old.ring, old.root); err != nil {
			return nil, nil, err
		}
		if old.ring != nil {
			state.ring.Written = slices.Clone(old.ring.Written)
		}
		state.ring.Written = append(state.ring.Written, base.Serial+1)
		if stored[ringName], err = state.ring.Encode(); err != nil {
			return nil, nil, err
		}
	}
	maps.Copy(stored, state.seal(l.deployment, before.Records))
	return state, stored, nil
}

// writer is a writer of the store below.
type writer struct {
	statestore.Writer

	state *sealedState // at the serial that was begun
	lock  *lock
}

// Write implements [statestore.Writer]. If it goes on in another serial, that has the same ring:
// while parts are locked, nobody exchanges the key.
func (w *writer) Write(ctx context.Context, changes map[string][]byte) error {
	err := w.Writer.Write(ctx, w.state.seal(w.lock.deployment, changes))
	if base := w.Base(); err == nil && base != w.state.base {
		w.lock.store.note(w.lock.deployment, &sealedState{base: base, ring: w.state.ring, root: w.state.root})
	}
	return err
}

var (
	_ statestore.Lock      = (*lock)(nil)
	_ statestore.Compactor = (*compactingLock)(nil)
	_ statestore.Writer    = (*writer)(nil)
)
