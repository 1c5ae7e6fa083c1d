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
	"slices"
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
	first = lock("first") // has a part in the file, too
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

// A reserve that a killed process has left is removed by the next lock, with a reserve or without.
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
	if now := directoryNames(t, filepath.Dir(path)); now == left || strings.Count(now, "reserve") != 1 {
		t.Errorf("there are %s, and before %s; want another reserve", now, left)
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

// Of several holders of locks of one deployment, each has a reserve of its own, as long as it is
// there.
func TestReservesOfProcesses(t *testing.T) {
	path := newFile(t)
	directory := filepath.Dir(path)
	s := openStore(t, path)
	reserves := func() (names []string) {
		t.Helper()
		for name := range strings.FieldsSeq(directoryNames(t, directory)) {
			if strings.Contains(name, "reserve") {
				names = append(names, name)
			}
		}
		return names
	}
	lock := func(part string, reserve bool) statestore.Lock {
		t.Helper()
		l, err := s.Lock(t.Context(), "default", statestore.LockRequest{
			Parts: []statestore.Part{{Path: []string{part}, Exclusive: true}}, Reserve: reserve,
		})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	wantReserves := func(what string, want ...string) {
		t.Helper()
		if got := reserves(); !slices.Equal(got, want) {
			t.Errorf("%s: reserves are %q, want %q", what, got, want)
		}
	}
	c := storetest.StartChild(t, "reserve", path)
	id := c.Line(t)
	other := reserves()
	if len(other) != 1 {
		t.Fatalf("reserves of a process are %q, want one", other)
	}
	mine := lock("mine", true)
	if got := reserves(); len(got) != 2 {
		t.Errorf("reserves are %q, want one of each process", got)
	}
	storetest.MustUnlock(t, mine)
	wantReserves("beside a lock that has ended", other...)
	storetest.MustUnlock(t, lock("mine", false))
	wantReserves("beside a lock without one", other...)

	// Of another machine, only the lock can be seen.
	elsewhere := strings.Replace(other[0], "_"+id, "0_"+id, 1)
	if err := os.Rename(filepath.Join(directory, other[0]), filepath.Join(directory, elsewhere)); err != nil {
		t.Fatal(err)
	}
	storetest.MustUnlock(t, lock("mine", true))
	wantReserves("of another machine", elsewhere)
	if err := s.ForceUnlock(t.Context(), "default", id); err != nil {
		t.Fatal(err)
	}
	storetest.MustUnlock(t, lock("mine", true))
	wantReserves("of a lock that was removed")

	c = storetest.StartChild(t, "reserve", path)
	c.Line(t)
	c.Kill(t)
	if got := reserves(); len(got) != 1 {
		t.Errorf("reserves are %q, want that of a process that was killed", got)
	}
	storetest.MustUnlock(t, lock("mine", false)) // whose part is another one
	if statestore.CurrentProcess().Scope != "" {
		wantReserves("of a process that was killed")
	}
}

// childReserve takes a lock with a reserve, and says its ID.
func childReserve(open storetest.Opener, location string) error {
	ctx := context.Background()
	s, err := open(location)
	if err != nil {
		return err
	}
	lock, err := s.Lock(ctx, "default", statestore.LockRequest{
		Parts: []statestore.Part{{Path: []string{"child"}, Exclusive: true}}, Reserve: true,
	})
	if err != nil {
		return err
	}
	fmt.Println(lock.ID())
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
