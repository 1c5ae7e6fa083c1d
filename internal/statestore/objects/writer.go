// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objects

import (
	"context"
	"sync"

	"github.com/cairnstacks/cairn/internal/statestore"
	statelogv1 "github.com/cairnstacks/cairn/proto/cairn/statelog/v1"
)

// writer is a [statestore.Writer] on object storage. Writes that come while another is on its way
// wait together and then go in one entry.
type writer struct {
	lock    *lock
	batches statestore.Batches

	committed bool // guarded by the turn of the log

	mu struct {
		sync.Mutex
		base statestore.Base // changed by the holder of the turn of the log only
	}
}

var _ statestore.Writer = (*writer)(nil)

// Base implements [statestore.Writer].
func (w *writer) Base() statestore.Base {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mu.base
}

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
			switch {
			case len(write.GetRecords()) == 0: // also if others have written: not these records
				return nil, errNothing
			case m.base() != w.Base():
				return w.goOn(m, write), nil
			}
			return &statelogv1.Entry{Event: &statelogv1.Entry_Write{Write: write}}, nil
		})
	})
}

// goOn returns the entry that opens a new serial of the operation, as somebody else has opened one
// since. Only the lock of parts can come to that: nobody else opens serials beside one of the
// whole.
func (w *writer) goOn(m *model, write *statelogv1.Write) *statelogv1.Entry {
	serial := w.Base().Serial
	return w.lock.begin(statestore.NextBase(m.base()), version{
		Version:   statestore.Version{Operation: m.versions[serial-1].Operation},
		continues: serial,
	}, write)
}

// add adds an entry to the serial, or the one in which that is continued. The caller has the turn.
func (w *writer) add(ctx context.Context, next func(m *model) (*statelogv1.Entry, error)) error {
	if w.committed {
		return statestore.ErrCommitted
	}
	err := w.lock.writeInTurn(ctx, func(m *model) (*statelogv1.Entry, error) {
		if !w.follow(m) {
			return nil, w.lock.stale(w.Base(), m)
		}
		return next(m)
	})
	if err == nil {
		w.follow(w.lock.log.known)
	}
	return err
}

// follow goes on to the serial in which that of the writer is continued, if it is, also by a write
// whose answer was lost. It reports false if another writer has opened a later one under the lock.
func (w *writer) follow(m *model) bool {
	base := w.Base()
	newest := m.newestOf(w.lock.info.ID)
	for at := newest; at.Serial != base.Serial; at = m.versions[at.continues-1] {
		if at.continues == 0 {
			return false
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.base.Serial = newest.Serial
	return m.lineage == base.Lineage
}

// Commit implements [statestore.Writer].
func (w *writer) Commit(ctx context.Context) error {
	return w.lock.log.within(func() error {
		err := w.add(ctx, func(*model) (*statelogv1.Entry, error) {
			return &statelogv1.Entry{Event: &statelogv1.Entry_Commit{Commit: &statelogv1.Commit{Serial: w.Base().Serial}}}, nil
		})
		w.committed = w.committed || err == nil
		return err
	})
}
