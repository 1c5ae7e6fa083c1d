// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/statestore"
)

// Stores of one process queue for writing, however short others would wait for them.
func TestSharedTurn(t *testing.T) {
	path := newFile(t)
	var shared Shared
	var all sync.WaitGroup
	errs := make([]error, 20)
	for i := range errs {
		all.Go(func() {
			opened, err := Open(path, &shared, statestore.Options{})
			if err != nil {
				errs[i] = err
				return
			}
			opened.(*sqliteStore).busyTimeout = time.Millisecond //nolint:forcetypeassert // there is no other kind
			lock, err := opened.Lock(t.Context(), fmt.Sprintf("d%d", i), statestore.LockRequest{})
			if err == nil {
				err = lock.Unlock(t.Context())
			}
			errs[i] = errors.Join(err, opened.Close())
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

// Damage is found by the first look at the file, and by a later one of others that share nothing
// with it.
func TestSharedCheck(t *testing.T) {
	path := newFile(t)
	filled(t, path)
	var shared Shared
	look := func(shared *Shared) error {
		opened, err := Open(path, shared, statestore.Options{})
		if err != nil {
			return err
		}
		_, err = opened.Read(t.Context(), "another")
		return errors.Join(err, opened.Close())
	}
	if err := look(&shared); err != nil {
		t.Fatal(err)
	}
	rawSQL(t, path, `PRAGMA foreign_keys = OFF`, `DELETE FROM cairn_record`)
	if err := look(&shared); err != nil {
		t.Errorf("a second look at the whole file, which costs as much as the first: %v", err)
	}
	wantProblem(t, "Read", look(&Shared{}), statestore.ProblemCorrupt, path)
	wantProblem(t, "Read", look(nil), statestore.ProblemCorrupt, path)
	opened, err := Open(path, &shared, statestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close() //nolint:errcheck // it was only read
	_, err = opened.Read(t.Context(), "default")
	wantProblem(t, "Read", err, statestore.ProblemCorrupt, path) // records that are read are checked always
}

// SQLite verifies its structures for the first lock, and for that of others that share nothing with
// it.
func TestSharedStructure(t *testing.T) {
	path := newFile(t)
	filled(t, path)
	var shared Shared
	lock := func(shared *Shared) error {
		opened, err := Open(path, shared, statestore.Options{})
		if err != nil {
			return err
		}
		taken, err := opened.Lock(t.Context(), "default", statestore.LockRequest{})
		if err == nil {
			err = taken.Unlock(t.Context())
		}
		return errors.Join(err, opened.Close())
	}
	if err := lock(&shared); err != nil {
		t.Fatal(err)
	}
	rawSQL(t, path, `PRAGMA writable_schema = ON`,
		`UPDATE sqlite_schema SET rootpage = (SELECT min(rootpage) FROM sqlite_schema WHERE name LIKE 'sqlite_autoindex%') WHERE name = 'cairn_record_current'`)
	if err := lock(&shared); err != nil {
		t.Errorf("a second look at all structures, which costs as much as the first: %v", err)
	}
	wantProblem(t, "Lock", lock(&Shared{}), statestore.ProblemCorrupt, path)
	wantProblem(t, "Lock", lock(nil), statestore.ProblemCorrupt, path)
}
