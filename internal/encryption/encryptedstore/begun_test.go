// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package encryptedstore_test

import (
	"context"
	"errors"

	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/testenv/storetest"
)

// begunStore hides the first serial of each deployment, and the lock under which it was written. So
// the tests of locks of parts, which begin with deployments of which nothing is stored, have one
// with a ring: before there is one, the whole deployment is locked (rule T4 of package
// encryptedstore).
type begunStore struct{ statestore.Store }

// begunMark is in the locations of such stores.
const begunMark = "begun"

// begin writes the first serial of a deployment, if nobody else has.
func (s begunStore) begin(ctx context.Context, deployment string) error {
	for {
		newest, err := s.Store.Newest(ctx)
		if err != nil || newest[deployment].Serial > 0 {
			return err
		}
		lock, err := s.Store.Lock(ctx, deployment, statestore.LockRequest{Operation: "first"})
		if storetest.IsError[*statestore.LockedError](err) {
			continue // by somebody who does the same
		}
		if err != nil {
			return err
		}
		w, err := lock.Begin(ctx, statestore.Base{}, "first", nil)
		switch {
		case err == nil:
			err = w.Commit(ctx)
		case storetest.IsError[*statestore.StaleError](err): // somebody else has, before the lock was taken
			err = nil
		}
		if err := errors.Join(err, lock.Unlock(ctx)); err != nil {
			return err
		}
	}
}

// Read implements [statestore.Store].
func (s begunStore) Read(ctx context.Context, deployment string) (*statestore.Snapshot, error) {
	return hideFirst(s.Store.Read(ctx, deployment))
}

// ReadSerial implements [statestore.Store].
func (s begunStore) ReadSerial(ctx context.Context, deployment string, serial int64) (*statestore.Snapshot, error) {
	return hideFirst(s.Store.ReadSerial(ctx, deployment, serial+1))
}

func hideFirst(snapshot *statestore.Snapshot, err error) (*statestore.Snapshot, error) {
	if err != nil {
		return nil, err
	}
	snapshot.Serial = max(snapshot.Serial-1, 0)
	return snapshot, nil
}

// History implements [statestore.Store].
func (s begunStore) History(ctx context.Context, deployment string) ([]statestore.Version, error) {
	history, err := s.Store.History(ctx, deployment)
	if err != nil || len(history) == 0 {
		return nil, err
	}
	for i := range history {
		history[i].Serial--
	}
	return history[1:], nil
}

// Revisions implements [statestore.Store].
func (s begunStore) Revisions(ctx context.Context, deployment string, keys []string) (map[string]statestore.Revisions, error) {
	past, err := s.Store.Revisions(ctx, deployment, keys)
	for _, of := range past {
		for i := range of {
			of[i].Serial--
		}
	}
	return past, err
}

// Newest implements [statestore.Store].
func (s begunStore) Newest(ctx context.Context) (map[string]statestore.Newest, error) {
	newest, err := s.Store.Newest(ctx)
	for name, n := range newest {
		n.Serial--
		newest[name] = n
	}
	return newest, err
}

// Holders implements [statestore.Store].
func (s begunStore) Holders(ctx context.Context, deployment string) ([]statestore.LockInfo, error) {
	return hideFirstLock(s.Store.Holders(ctx, deployment))
}

// Locks implements [statestore.Store].
func (s begunStore) Locks(ctx context.Context) ([]statestore.LockInfo, error) {
	return hideFirstLock(s.Store.Locks(ctx))
}

func hideFirstLock(locks []statestore.LockInfo, err error) ([]statestore.LockInfo, error) {
	for i := range locks {
		locks[i].Epoch--
	}
	return locks, err
}

// Lock implements [statestore.Store].
func (s begunStore) Lock(ctx context.Context, deployment string, request statestore.LockRequest) (statestore.Lock, error) {
	if err := s.begin(ctx, deployment); err != nil {
		return nil, err
	}
	lock, err := s.Store.Lock(ctx, deployment, request)
	if err != nil {
		return nil, err
	}
	return begunLock{lock, s.Store, deployment}, nil
}

type begunLock struct {
	statestore.Lock

	store      statestore.Store
	deployment string
}

// Begin implements [statestore.Lock].
func (l begunLock) Begin(
	ctx context.Context, base statestore.Base, operation string, changes map[string][]byte,
) (statestore.Writer, error) {
	base.Serial++
	if base.Lineage == "" {
		first, err := l.store.ReadSerial(ctx, l.deployment, 1)
		if err != nil {
			return nil, err
		}
		base.Lineage = first.Lineage
	}
	w, err := l.Lock.Begin(ctx, base, operation, changes)
	if err != nil {
		return nil, err
	}
	return begunWriter{w}, nil
}

type begunWriter struct{ statestore.Writer }

// Base implements [statestore.Writer].
func (w begunWriter) Base() statestore.Base {
	base := w.Writer.Base()
	base.Serial--
	return base
}
