// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"context"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv/storetest"
)

// rereading is a database that loses the connection at the end of each transaction that reads,
// once.
type rereading struct{ database }

func (r rereading) read(ctx context.Context, fn func(*transaction) error) error {
	return r.database.read(ctx, func(tx *transaction) error {
		if err := fn(tx); err != nil {
			return err
		}
		return fn(tx)
	})
}

// Rows that were read before the connection was lost are read again, and are not there twice.
func TestReadAgain(t *testing.T) {
	file := newSQLiteStore(t.TempDir() + "/cairn.state.db")
	t.Cleanup(func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
	storetest.FillStates(t, file)
	lock := storetest.MustLock(t, file, "prod")
	want, once := storetest.ReadStates(t, file), file.tableStore
	again := tableStore{rereading{file}}
	for name, s := range map[string]tableStore{"once": once, "again": again} {
		names, err := s.Deployments(t.Context())
		if err != nil || len(names) != 2 {
			t.Errorf("%s: got deployments %q, error %v, want two", name, names, err)
		}
		history, err := s.History(t.Context(), "prod")
		if err != nil || len(history) != len(want.History["prod"]) {
			t.Errorf("%s: got %d serials, error %v, want %d", name, len(history), err, len(want.History["prod"]))
		}
		locks, err := s.Locks(t.Context())
		if err != nil || len(locks) != 1 {
			t.Errorf("%s: got %d locks, error %v, want one", name, len(locks), err)
		}
		newest, err := s.Newest(t.Context())
		if err != nil || len(newest) != 2 {
			t.Errorf("%s: got %d newest serials, error %v, want two", name, len(newest), err)
		}
		snapshot, err := s.Read(t.Context(), "prod")
		if err != nil || len(snapshot.Records) != len(want.Snapshots["prod"][3].Records) {
			t.Errorf("%s: got %v, error %v", name, snapshot, err)
		}
	}
	storetest.MustUnlock(t, lock)
}
