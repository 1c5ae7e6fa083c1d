// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package storetest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cairnstacks/cairn/internal/statestore"
)

// States is all that is stored.
type States struct {
	History   map[string][]statestore.Version
	Snapshots map[string][]*statestore.Snapshot
	Secrets   map[string]string
}

func ReadStates(t *testing.T, s statestore.Store) States {
	t.Helper()
	all := States{map[string][]statestore.Version{}, map[string][]*statestore.Snapshot{}, map[string]string{}}
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

// FillStates makes states of two deployments: serials that add, replace, restore and delete
// records, of which the last is unfinished.
func FillStates(t *testing.T, s statestore.Store) {
	t.Helper()
	for _, name := range []string{"prod", "test"} {
		lock := MustLock(t, s, name)
		if _, err := lock.Secret(t.Context()); err != nil {
			t.Fatal(err)
		}
		base := statestore.Base{}
		for i, writes := range [][]map[string][]byte{
			{{"a": []byte("1"), "b": {}, "\x00odd\xff": []byte("2")}},
			{{"a": []byte("3")}, {"a": []byte("1"), "b": nil}},
			{},
			{{"c": []byte(name)}},
		} {
			w := MustBegin(t, lock, base)
			for _, changes := range writes {
				MustWrite(t, w, changes)
			}
			if i < 3 {
				if err := w.Commit(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			base = w.Base()
		}
		MustUnlock(t, lock)
	}
}

func migrate(t *testing.T, from, to statestore.Store, location string) (statestore.Moved, error) {
	t.Helper()
	return (&statestore.Migration{From: from, To: to, Location: location}).Run(t.Context())
}

func testMigration(t *testing.T, at *Place) {
	file := "sqlite://" + t.TempDir() + "/from.db"
	from := at.other(t, file)
	FillStates(t, from)
	want := ReadStates(t, from)
	to, opened := at.store(t), at.other(t, file)
	MustRead(t, opened, "prod")
	moved, err := migrate(t, from, to, at.location)
	if err != nil || moved != (statestore.Moved{Deployments: 2, Serials: 8}) {
		t.Fatalf("moved %+v, error %v", moved, err)
	}
	compare := func(s statestore.Store) {
		t.Helper()
		if diff := cmp.Diff(want, ReadStates(t, s), cmpopts.EquateEmpty()); diff != "" {
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
	Apply(t, again, map[string][]byte{"a": []byte("4")}) // of another deployment
}

// checkMoved makes sure that states are refused which were moved, with the place where they are.
func checkMoved(t *testing.T, s statestore.Store, to string) {
	t.Helper()
	for name, call := range map[string]func(context.Context) error{
		"Read":        func(ctx context.Context) error { _, err := s.Read(ctx, "prod"); return err },
		"Read other":  func(ctx context.Context) error { _, err := s.Read(ctx, "other"); return err },
		"Deployments": func(ctx context.Context) error { _, err := s.Deployments(ctx); return err },
		"Newest":      func(ctx context.Context) error { _, err := s.Newest(ctx); return err },
		"Check":       s.Check,
		"Lock": func(ctx context.Context) error {
			_, err := s.Lock(ctx, "prod", statestore.LockRequest{Operation: "test"})
			return err
		},
		"Lock other": func(ctx context.Context) error {
			_, err := s.Lock(ctx, "other", statestore.LockRequest{Operation: "test"})
			return err
		},
	} {
		err := call(t.Context())
		fault, ok := errors.AsType[*statestore.StoreError](err)
		if !ok || fault.Problem != statestore.ProblemMoved || !strings.Contains(err.Error(), "was moved to "+to+" at ") {
			t.Errorf("%s: got error %v, want that the states were moved to %s", name, err, to)
		}
	}
}

func testMigrationInterrupted(t *testing.T, at *Place) {
	from, to := at.other(t, "sqlite://"+t.TempDir()+"/from.db"), at.store(t)
	FillStates(t, from)
	want := ReadStates(t, from)
	for stop := 1; stop <= 3; stop++ { // after so many serials more
		ctx, cancel := context.WithCancel(t.Context())
		copied := 0
		m := &statestore.Migration{From: from, To: to, Location: at.location, Copied: func(string, statestore.Version) {
			if copied++; copied == stop {
				cancel()
			}
		}}
		if _, err := m.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("got error %v, want that of the interrupt", err)
		}
		cancel()
	}
	if diff := cmp.Diff(want, ReadStates(t, from)); diff != "" {
		t.Errorf("the states are others after the interrupt (-want +got):\n%s", diff)
	}
	if moved, err := migrate(t, from, to, at.location); err != nil || moved != (statestore.Moved{Deployments: 2, Serials: 2}) {
		t.Errorf("moved %+v, error %v; want the last two serials", moved, err)
	}
	if diff := cmp.Diff(want, ReadStates(t, to), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the states are others after they were moved (-want +got):\n%s", diff)
	}
}

func testMigrationRefused(t *testing.T, at *Place) {
	from, to := at.other(t, "sqlite://"+t.TempDir()+"/from.db"), at.store(t)
	Apply(t, from, map[string][]byte{"a": []byte("1")})
	lock := MustLock(t, from, "default")
	if _, err := migrate(t, from, to, at.location); !IsError[*statestore.LockedError](err) {
		t.Errorf("locked: got error %v", err)
	}
	MustUnlock(t, lock)
	if lock, err := Holder(t.Context(), from, "default"); err != nil || lock != nil {
		t.Errorf("the state is locked by %v, error %v", lock, err)
	}
	Apply(t, to, map[string][]byte{"a": []byte("2")})
	if _, err := migrate(t, from, to, at.location); !IsError[*statestore.StaleError](err) {
		t.Errorf("another state: got error %v", err)
	}
	WantRecords(t, MustRead(t, from, "default"), map[string]string{"a": "1"})
	WantRecords(t, MustRead(t, to, "default"), map[string]string{"a": "2"})
	MustUnlock(t, MustLock(t, from, "default"))
	if err := from.MarkMoved(t.Context(), at.location, map[string]statestore.Newest{}); !errors.Is(err, statestore.ErrChanged) {
		t.Errorf("other serials: got error %v, want %v", err, statestore.ErrChanged)
	}
	MustRead(t, from, "default")
}
