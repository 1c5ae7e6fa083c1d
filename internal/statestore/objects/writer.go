// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objects

import (
	"context"

	"github.com/cairnstacks/cairn/internal/statestore"
	statelogv1 "github.com/cairnstacks/cairn/proto/cairn/statelog/v1"
)

// writer is a [statestore.Writer] on object storage. Writes that come while another is on its way
// wait together and then go in one entry.
type writer struct {
	lock    *lock
	base    statestore.Base
	batches statestore.Batches

	committed bool // guarded by the turn of the log
}

var _ statestore.Writer = (*writer)(nil)

// Base implements [statestore.Writer].
func (w *writer) Base() statestore.Base { return w.base }

// Write implements [statestore.Writer].
func (w *writer) Write(ctx context.Context, changes map[string][]byte) error {
	if len(changes) == 0 {
		return nil
	}
	if err := statestore.CheckKeys(changes); err != nil {
		return err
	}
	return w.batches.Write(w.lock.log.turn, changes, func(changes map[string][]byte) error {
		return w.add(ctx, func(m *model) (*statelogv1.Entry, error) {
			write := m.changes(changes)
			if len(write.GetRecords()) == 0 {
				return nil, errNothing
			}
			return &statelogv1.Entry{Event: &statelogv1.Entry_Write{Write: write}}, nil
		})
	})
}

// add adds an entry to the serial. The caller has the turn.
func (w *writer) add(ctx context.Context, next func(m *model) (*statelogv1.Entry, error)) error {
	if w.committed {
		return statestore.ErrCommitted
	}
	return w.lock.writeInTurn(ctx, func(m *model) (*statelogv1.Entry, error) {
		if m.base() != w.base {
			return nil, w.lock.stale(w.base, m)
		}
		return next(m)
	})
}

// Commit implements [statestore.Writer].
func (w *writer) Commit(ctx context.Context) error {
	return w.lock.log.within(func() error {
		err := w.add(ctx, func(*model) (*statelogv1.Entry, error) {
			return &statelogv1.Entry{Event: &statelogv1.Entry_Commit{Commit: &statelogv1.Commit{}}}, nil
		})
		w.committed = w.committed || err == nil
		return err
	})
}
