// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package tables

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testenv/storetest"
)

// With space that was kept back, an operation that fills the disk saves its work, and learns that
// nothing more should be done.
func TestDiskFullWithReserve(t *testing.T) {
	directory := t.TempDir()
	testenv.SmallDisk(t, directory, 4<<20)
	path := filepath.Join(directory, "cairn.state.db")
	s := newSQLiteStore(path)
	lock, err := s.Lock(t.Context(), "default", statestore.LockRequest{Reserve: true})
	if err != nil {
		t.Fatal(err)
	}
	w := storetest.MustBegin(t, lock, statestore.Base{})
	storetest.MustWrite(t, w, map[string][]byte{"before": []byte("1")})
	if lock.ReserveUsed() {
		t.Error("the reserve was used without need")
	}
	entries, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", entry.Name(), info.Mode(), err)
		}
	}
	fill(t, filepath.Join(directory, "filler"))
	want := map[string]string{"before": "1"}
	for i := range 5 {
		key, value := fmt.Sprint("during-", i), strings.Repeat("x", 20_000)
		storetest.MustWrite(t, w, map[string][]byte{key: []byte(value)})
		want[key] = value
		if !lock.ReserveUsed() {
			t.Error("nobody learns that the disk is full")
		}
	}
	if err := w.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	storetest.MustUnlock(t, lock)
	storetest.WantRecords(t, storetest.MustRead(t, s, "default"), want)

	_, err = s.Lock(t.Context(), "default", statestore.LockRequest{Reserve: true})
	wantProblem(t, "Lock", err, statestore.ProblemFull, path)
	if holder, err := storetest.Holder(t.Context(), s, "default"); err != nil || holder != nil {
		t.Errorf("LockInfo = %v, %v; want no lock after one that was refused", holder, err)
	}
	if err := os.Remove(filepath.Join(directory, "filler")); err != nil {
		t.Fatal(err)
	}
	lock, err = s.Lock(t.Context(), "default", statestore.LockRequest{Reserve: true})
	if err != nil {
		t.Fatal(err)
	}
	storetest.MustUnlock(t, lock)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left := directoryNames(t, directory); left != "cairn.state.db" {
		t.Errorf("left behind: %s", left)
	}
}

func directoryNames(t *testing.T, directory string) string {
	t.Helper()
	entries, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return strings.Join(names, " ")
}

// Locks of one process share a reserve, which is there until the last of them ends, and is given up
// for all.
func TestSharedReserve(t *testing.T) {
	directory := t.TempDir()
	testenv.SmallDisk(t, directory, 4<<20)
	path := filepath.Join(directory, "cairn.state.db")
	var shared Shared
	lock := func(deployment string) statestore.Lock {
		s, err := Open(path, &shared, statestore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		l, err := s.Lock(t.Context(), deployment, statestore.LockRequest{Reserve: true})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	wantReserves := func(want int) {
		t.Helper()
		if names := directoryNames(t, directory); strings.Count(names, "reserve") != want {
			t.Errorf("there are %s, want %d reserves", names, want)
		}
	}
	first, second := lock("first"), lock("second")
	wantReserves(1)
	storetest.MustUnlock(t, first)
	wantReserves(1)
	first = lock("first") // which removes the file with its name
	wantReserves(1)
	writers := map[string]statestore.Writer{
		"first":  storetest.MustBegin(t, first, statestore.Base{}),
		"second": storetest.MustBegin(t, second, statestore.Base{}),
	}
	fill(t, filepath.Join(directory, "filler"))
	for i := range 5 {
		for _, w := range writers {
			storetest.MustWrite(t, w, map[string][]byte{fmt.Sprint("during-", i): []byte(strings.Repeat("x", 20_000))})
		}
	}
	if !first.ReserveUsed() || !second.ReserveUsed() {
		t.Error("not all learn that the disk is full")
	}
	wantReserves(0)
	for _, w := range writers {
		if err := w.Commit(t.Context()); err != nil {
			t.Error(err)
		}
	}
	storetest.MustUnlock(t, second)
	storetest.MustUnlock(t, first)
	wantReserves(0)
}

// A reserve that a killed process has left is used again, or removed by an
// operation that needs none.
func TestReserveOfKilledProcess(t *testing.T) {
	path := newFile(t)
	c := storetest.StartChild(t, "reserve", path)
	c.Line(t)
	c.Kill(t)
	left := directoryNames(t, filepath.Dir(path))
	if !strings.Contains(left, "reserve") {
		t.Fatalf("no reserve is left: %s", left)
	}
	s := newSQLiteStore(path)
	lock, err := s.Lock(t.Context(), "default", statestore.LockRequest{Reserve: true})
	if err != nil {
		t.Fatal(err)
	}
	if again := directoryNames(t, filepath.Dir(path)); again != left {
		t.Errorf("there are %s, want %s", again, left)
	}
	storetest.MustUnlock(t, lock)
	c = storetest.StartChild(t, "reserve", path)
	c.Line(t)
	c.Kill(t)
	lock = storetest.MustLock(t, s, "default")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if left := directoryNames(t, filepath.Dir(path)); left != "cairn.state.db" {
		t.Errorf("left behind: %s", left)
	}
	_ = lock
}

// childReserve takes the lock with a reserve, and says so.
func childReserve(open storetest.Opener, location string) error {
	ctx := context.Background()
	s, err := open(location)
	if err != nil {
		return err
	}
	if _, err := s.Lock(ctx, "default", statestore.LockRequest{Reserve: true}); err != nil {
		return err
	}
	fmt.Println("locked")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
