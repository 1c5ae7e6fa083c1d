// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/testenv/storetest"
)

// namesBeside returns the names in the directory of a file.
func namesBeside(t *testing.T, path string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// peek reads the state of a deployment without a trace.
func peek(t *testing.T, location, deployment string) (*statestore.Snapshot, error) {
	t.Helper()
	store, err := Open(location, nil, statestore.Options{Traceless: true})
	if err != nil {
		return nil, err
	}
	snapshot, err := store.Read(t.Context(), deployment)
	return snapshot, errors.Join(err, store.Close())
}

func TestPeek(t *testing.T) {
	path := newFile(t)
	snapshot, err := peek(t, path, "default")
	if err != nil || len(snapshot.Records) > 0 || len(namesBeside(t, path)) > 0 {
		t.Errorf("of a file that is not there: %v, %v, beside it %q", snapshot, err, namesBeside(t, path))
	}

	s := openStore(t, path)
	lock := storetest.MustLock(t, s, "default")
	writer := storetest.MustBegin(t, lock, statestore.Base{})
	storetest.MustWrite(t, writer, map[string][]byte{"a": []byte("1")})
	_, err = peek(t, path, "default")
	wantProblem(t, "Peek of a file that is written to", err, statestore.ProblemBusy, path)

	if err := writer.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := lock.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err = peek(t, path, "default")
	if err != nil || string(snapshot.Records["a"]) != "1" {
		t.Errorf("of a file that nobody writes to: %v, %v", snapshot, err)
	}
	after, err := os.Stat(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if names := namesBeside(t, path); !slices.Equal(names, []string{filepath.Base(path)}) || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("reading left %q, and the directory of %v is of %v", names, before.ModTime(), after.ModTime())
	}
	if _, err := peek(t, "postgres://host/db", "default"); err == nil {
		t.Error("a state in no file was read")
	}
}
