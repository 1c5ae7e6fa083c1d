// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statestore

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// statesOf is all that is stored.
type statesOf struct {
	History   map[string][]Version
	Snapshots map[string][]*Snapshot
	Secrets   map[string]string
}

func readStates(t *testing.T, s Store) statesOf {
	t.Helper()
	all := statesOf{map[string][]Version{}, map[string][]*Snapshot{}, map[string]string{}}
	names, err := s.Deployments(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		history, err := s.History(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		all.History[name] = history
		for _, version := range history {
			snapshot, err := s.ReadSerial(t.Context(), name, version.Serial)
			if err != nil {
				t.Fatal(err)
			}
			all.Snapshots[name] = append(all.Snapshots[name], snapshot)
		}
		secret, err := s.Secret(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		all.Secrets[name] = string(secret)
	}
	return all
}

// fillStates makes states of two deployments: serials that add, replace, restore and delete
// records, of which the last is unfinished.
func fillStates(t *testing.T, s Store) {
	t.Helper()
	for _, name := range []string{"prod", "test"} {
		lock := mustLock(t, s, name)
		if _, err := lock.Secret(t.Context()); err != nil {
			t.Fatal(err)
		}
		base := Base{}
		for i, writes := range [][]map[string][]byte{
			{{"a": []byte("1"), "b": {}, "\x00odd\xff": []byte("2")}},
			{{"a": []byte("3")}, {"a": []byte("1"), "b": nil}},
			{},
			{{"c": []byte(name)}},
		} {
			w := mustBegin(t, lock, base)
			for _, changes := range writes {
				mustWrite(t, w, changes)
			}
			if i < 3 {
				if err := w.Commit(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			base = w.Base()
		}
		mustUnlock(t, lock)
	}
}

func migrate(t *testing.T, from, to Store, location string) (Moved, error) {
	t.Helper()
	return (&Migration{From: from, To: to, Location: location}).Run(t.Context())
}

func testMigration(t *testing.T, at *place) {
	file := "sqlite://" + t.TempDir() + "/from.db"
	from := at.other(t, file)
	fillStates(t, from)
	want := readStates(t, from)
	to, opened := at.store(t), at.other(t, file)
	mustRead(t, opened, "prod")
	moved, err := migrate(t, from, to, at.location)
	if err != nil || moved != (Moved{2, 8}) {
		t.Fatalf("moved %+v, error %v", moved, err)
	}
	compare := func(s Store) {
		t.Helper()
		if diff := cmp.Diff(want, readStates(t, s), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("the states are others after they were moved (-want +got):\n%s", diff)
		}
		if err := s.Check(t.Context()); err != nil {
			t.Error(err)
		}
	}
	compare(to)
	checkMoved(t, from, at.location)
	checkMoved(t, opened, at.location)
	checkMoved(t, at.other(t, file), at.location)

	back := "sqlite://" + t.TempDir() + "/back.db"
	again := at.other(t, back)
	if _, err := migrate(t, to, again, back); err != nil {
		t.Fatal(err)
	}
	compare(again)
	checkMoved(t, to, back)
	checkMoved(t, at.store(t), back)
	apply(t, again, map[string][]byte{"a": []byte("4")}) // of another deployment
}

// checkMoved makes sure that states are refused which were moved, with the place where they are.
func checkMoved(t *testing.T, s Store, to string) {
	t.Helper()
	for name, call := range map[string]func(context.Context) error{
		"Read":        func(ctx context.Context) error { _, err := s.Read(ctx, "prod"); return err },
		"Read other":  func(ctx context.Context) error { _, err := s.Read(ctx, "other"); return err },
		"Deployments": func(ctx context.Context) error { _, err := s.Deployments(ctx); return err },
		"Newest":      func(ctx context.Context) error { _, err := s.Newest(ctx); return err },
		"Check":       s.Check,
		"Lock": func(ctx context.Context) error {
			_, err := s.Lock(ctx, "prod", LockRequest{Operation: "test"})
			return err
		},
		"Lock other": func(ctx context.Context) error {
			_, err := s.Lock(ctx, "other", LockRequest{Operation: "test"})
			return err
		},
	} {
		err := call(t.Context())
		fault, ok := errors.AsType[*StoreError](err)
		if !ok || fault.Problem != ProblemMoved || !strings.Contains(err.Error(), "was moved to "+to+" at ") {
			t.Errorf("%s: got error %v, want that the states were moved to %s", name, err, to)
		}
	}
}

func testMigrationInterrupted(t *testing.T, at *place) {
	from, to := at.other(t, "sqlite://"+t.TempDir()+"/from.db"), at.store(t)
	fillStates(t, from)
	want := readStates(t, from)
	for stop := 1; stop <= 3; stop++ { // after so many serials more
		ctx, cancel := context.WithCancel(t.Context())
		copied := 0
		m := &Migration{From: from, To: to, Location: at.location, Copied: func(string, Version) {
			if copied++; copied == stop {
				cancel()
			}
		}}
		if _, err := m.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("got error %v, want that of the interrupt", err)
		}
		cancel()
	}
	if diff := cmp.Diff(want, readStates(t, from)); diff != "" {
		t.Errorf("the states are others after the interrupt (-want +got):\n%s", diff)
	}
	if moved, err := migrate(t, from, to, at.location); err != nil || moved != (Moved{2, 2}) {
		t.Errorf("moved %+v, error %v; want the last two serials", moved, err)
	}
	if diff := cmp.Diff(want, readStates(t, to), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the states are others after they were moved (-want +got):\n%s", diff)
	}
}

func testMigrationRefused(t *testing.T, at *place) {
	from, to := at.other(t, "sqlite://"+t.TempDir()+"/from.db"), at.store(t)
	apply(t, from, map[string][]byte{"a": []byte("1")})
	lock := mustLock(t, from, "default")
	if _, err := migrate(t, from, to, at.location); !isError[*LockedError](err) {
		t.Errorf("locked: got error %v", err)
	}
	mustUnlock(t, lock)
	if lock, err := from.LockInfo(t.Context(), "default"); err != nil || lock != nil {
		t.Errorf("the state is locked by %v, error %v", lock, err)
	}
	apply(t, to, map[string][]byte{"a": []byte("2")})
	if _, err := migrate(t, from, to, at.location); !isError[*StaleError](err) {
		t.Errorf("another state: got error %v", err)
	}
	wantRecords(t, mustRead(t, from, "default"), map[string]string{"a": "1"})
	wantRecords(t, mustRead(t, to, "default"), map[string]string{"a": "2"})
	mustUnlock(t, mustLock(t, from, "default"))
	if err := from.MarkMoved(t.Context(), at.location, map[string]Newest{}); !errors.Is(err, ErrChanged) {
		t.Errorf("other serials: got error %v, want %v", err, ErrChanged)
	}
	mustRead(t, from, "default")
}
