// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objects

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/statestore/tables"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testenv/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m, open, nil) }

// open opens the stores of tests: those of migrations are files.
func open(location string) (statestore.Store, error) {
	if strings.HasPrefix(location, "sqlite://") {
		return tables.Open(location, nil, statestore.Options{})
	}
	return Open(location, nil, statestore.Options{})
}

func newDirectory(t *testing.T) string { return "file://" + t.TempDir() + "?stack=test" }

func TestDirectory(t *testing.T) {
	storetest.Run(t, open, newDirectory)
}

// fill makes a log with several serials, of which the last two are open, and returns the snapshots
// of all. Two locks of parts are held, whose writers write in turns.
func fill(t *testing.T, s statestore.Store) (serials []*statestore.Snapshot) {
	t.Helper()
	for i := range 20 {
		changes := map[string][]byte{"same": {}, fmt.Sprint("key-", i%7): fmt.Append(nil, "value ", i)}
		storetest.Apply(t, s, changes, map[string][]byte{"gone": nil})
	}
	lock := lockPart(t, s, "key-1")
	w := storetest.MustBegin(t, lock, storetest.MustRead(t, s, "default").Base())
	between := storetest.MustBegin(t, lockPart(t, s, "key-2"), w.Base())
	storetest.MustWrite(t, w, map[string][]byte{"key-1": nil, "open": []byte("x")})
	storetest.MustWrite(t, between, map[string][]byte{"key-2": []byte("y")})
	if _, err := lock.Secret(t.Context()); err != nil {
		t.Fatal(err)
	}
	history, err := s.History(t.Context(), "default")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range history {
		snapshot, err := s.ReadSerial(t.Context(), "default", v.Serial)
		if err != nil {
			t.Fatal(err)
		}
		serials = append(serials, snapshot)
	}
	return serials
}

// A copy of the objects in which one is changed, cut or missing is an error, or makes no
// difference: never another state (rule S9 of package statestore).
func TestDamage(t *testing.T) {
	directory := t.TempDir()
	original := storetest.OpenWith(t, open, "file://"+directory+"?stack=test")
	want := fill(t, original)
	if err := original.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	names, _, err := original.(*store).List(t.Context(), "", nil, 1000)
	if err != nil || len(names) < 100 {
		t.Fatalf("%d objects, error %v", len(names), err)
	}
	random := rand.New(rand.NewPCG(testenv.Seed(t), 0))
	damages := map[string]func(content []byte) []byte{
		"flipped": func(content []byte) []byte {
			content[random.IntN(len(content))] ^= 1
			return content
		},
		"cut":   func(content []byte) []byte { return content[:len(content)-1] },
		"empty": func([]byte) []byte { return nil },
	}
	found, harmless := 0, 0
	for _, name := range names {
		for damage, change := range damages {
			copied := t.TempDir()
			if err := os.CopyFS(copied, os.DirFS(directory)); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(copied, name)
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, change(content), 0o600); err != nil {
				t.Fatal(err)
			}
			s := storetest.OpenWith(t, open, "file://"+copied+"?stack=test")
			switch got, err := s.Read(t.Context(), "default"); {
			case storetest.IsError[*statestore.StoreError](err):
				found++
			case err != nil:
				t.Errorf("%s of %s: error %v", damage, name, err)
			default:
				harmless++ // it is before a snapshot
				if diff := cmp.Diff(want[len(want)-1], got); diff != "" {
					t.Errorf("%s of %s: another state (-want +got):\n%s", damage, name, diff)
				}
			}
			if err := s.Check(t.Context()); !storetest.IsError[*statestore.StoreError](err) {
				t.Errorf("%s of %s: Check returns the error %v", damage, name, err)
			}
		}
	}
	if found < 20 || harmless < 20 {
		t.Errorf("%d damages were found while reading, %d make no difference to it: not both are tried", found, harmless)
	}
}

// An object that is missing is noticed, but for the newest, and those that are not needed.
func TestMissingObject(t *testing.T) {
	directory := t.TempDir()
	want := fill(t, storetest.OpenWith(t, open, "file://"+directory+"?stack=test"))
	folder := "test/deployments/default/"
	for name, gone := range map[string][]string{
		"entry after the last snapshot": {objectName(folder, 100, entryKind)},
		"log":                           {folder},
		"catalog":                       {"test/catalog"},
	} {
		copied := t.TempDir()
		if err := os.CopyFS(copied, os.DirFS(directory)); err != nil {
			t.Fatal(err)
		}
		for _, object := range gone {
			if err := os.RemoveAll(filepath.Join(copied, object)); err != nil {
				t.Fatal(err)
			}
		}
		s := storetest.OpenWith(t, open, "file://"+copied+"?stack=test")
		snapshot, err := s.Read(t.Context(), "default")
		fault, ok := errors.AsType[*statestore.StoreError](err)
		if name == "catalog" { // the log is there
			if diff := cmp.Diff(want[len(want)-1], snapshot); diff != "" {
				t.Errorf("%s: another state (-want +got):\n%s", name, diff)
			}
			continue
		}
		if !ok || fault.Problem != statestore.ProblemCorrupt {
			t.Errorf("%s: got error %v", name, err)
		}
	}
}

func TestCompact(t *testing.T) {
	s := storetest.OpenWith(t, open, newDirectory(t)).(*store)
	want := fill(t, s)
	holders, err := s.Holders(t.Context(), "default")
	if err != nil || len(holders) != 2 {
		t.Fatalf("holders %v, error %v", holders, err)
	}
	for _, holder := range holders {
		if err := s.ForceUnlock(t.Context(), "default", holder.ID); err != nil {
			t.Fatal(err)
		}
	}
	lock := storetest.MustLock(t, s, "default").(statestore.Compactor)
	if removed, err := lock.Compact(t.Context(), 10); removed != 0 || err != nil {
		t.Errorf("removed %d objects that are young, error %v", removed, err)
	}
	s.keeps = -time.Minute
	for _, before := range []int64{5, 10, 10, 21, 22, 24} {
		removed, err := lock.Compact(t.Context(), before)
		if err != nil {
			t.Fatal(err)
		}
		if again := storetest.OpenWith(t, open, s.location); before != 10 || removed == 0 {
			checkSerials(t, again, want, before)
		}
		checkSerials(t, s, want, before)
	}
	if _, err := lock.Compact(t.Context(), 25); !storetest.IsError[*statestore.SerialError](err) {
		t.Errorf("no such serial: got error %v", err)
	}
	storetest.MustUnlock(t, lock)
	storetest.Apply(t, s, map[string][]byte{"later": []byte("x")})
}

// checkSerials makes sure that the serials from one are those that were stored, and that others
// were dropped.
func checkSerials(t *testing.T, s statestore.Store, want []*statestore.Snapshot, from int64) {
	t.Helper()
	for i, snapshot := range want {
		got, err := s.ReadSerial(t.Context(), "default", int64(i+1))
		if dropped, ok := errors.AsType[*statestore.SerialError](err); int64(i+1) < from {
			if !ok || !dropped.Dropped {
				t.Errorf("serial %d was dropped: got error %v", i+1, err)
			}
			continue
		}
		if diff := cmp.Diff(snapshot, got); diff != "" || err != nil {
			t.Errorf("serial %d: error %v (-want +got):\n%s", i+1, err, diff)
		}
	}
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
}
