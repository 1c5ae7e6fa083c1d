// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package encryptedstore_test

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/encryption"
	"github.com/cairnstacks/cairn/internal/encryption/encryptedstore"
	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/testenv/storetest"
)

// The parts that tests lock.
var (
	dbParts  = []statestore.Part{{Path: []string{"stack.eu", "component.db"}, Exclusive: true}, {Path: []string{"component.net"}}}
	webParts = []statestore.Part{{Path: []string{"component.web"}, Exclusive: true}, {Path: []string{"component.net"}}}
)

// onEachStore runs a test on a store of each kind, of which nothing is stored yet.
func onEachStore(t *testing.T, test func(t *testing.T, s stores)) {
	t.Helper()
	for kind, newLocation := range map[string]func(t *testing.T, name string) string{"file": newFile, "objects": newDirectory} {
		t.Run(kind, func(t *testing.T) { test(t, stores{t, newLocation(t, "state")}) })
	}
}

func lockParts(t *testing.T, s statestore.Store, parts ...statestore.Part) statestore.Lock {
	t.Helper()
	lock, err := s.Lock(t.Context(), deployment, statestore.LockRequest{Operation: "test", Parts: parts})
	if err != nil {
		t.Fatal(err)
	}
	return lock
}

// wantLocked fails unless the first of these parts of a lock is in the way of a lock of the same.
func wantLocked(t *testing.T, s statestore.Store, id string, wanted []statestore.Part, want ...statestore.Part) {
	t.Helper()
	_, err := s.Lock(t.Context(), deployment, statestore.LockRequest{Parts: wanted})
	locked, ok := errors.AsType[*statestore.LockedError](err)
	if !ok || locked.Holder.ID != id {
		t.Fatalf("got error %v, want that of lock %s", err, id)
	}
	if diff := cmp.Diff(want, locked.Holder.Parts) + cmp.Diff(want[0], locked.Part); diff != "" {
		t.Errorf("parts in the error (-want +got):\n%s", diff)
	}
}

// wantParts compares the parts of the only holder of a lock.
func wantParts(t *testing.T, s statestore.Store, want ...statestore.Part) {
	t.Helper()
	holders, err := s.Holders(t.Context(), deployment)
	if err != nil || len(holders) != 1 {
		t.Fatalf("holders %v, error %v, want one", holders, err)
	}
	if diff := cmp.Diff(want, holders[0].Parts); diff != "" {
		t.Errorf("parts of the holder (-want +got):\n%s", diff)
	}
	all, err := s.Locks(t.Context())
	if diff := cmp.Diff(holders, all); err != nil || diff != "" {
		t.Errorf("Locks: error %v, (-want +got):\n%s", err, diff)
	}
}

// contents returns all that is stored, inflated.
func (s stores) contents() string {
	s.Helper()
	root, pattern := filepath.Dir(s.path), filepath.Base(s.path)+"*" // and the log of SQLite
	if rest, ok := strings.CutPrefix(s.path, "file://"); ok {
		root, _, _ = strings.Cut(rest, "?")
		pattern = "*"
	}
	var all bytes.Buffer
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		matches, _ := filepath.Match(pattern, entry.Name())
		if err != nil || entry.IsDir() || !matches {
			return err
		}
		content, err := os.ReadFile(path)
		if _, deflated, ok := bytes.Cut(content, []byte("cairn state log 1\n")); ok && err == nil {
			content, err = io.ReadAll(flate.NewReader(bytes.NewReader(deflated)))
		}
		all.Write(content)
		return err
	})
	if err != nil || all.Len() == 0 {
		s.Fatal(all.Len(), err)
	}
	return all.String()
}

// The store below does not know the addresses of parts, and compares them all the same. Who has the
// key sees them, and who has not sees that there are parts.
func TestHiddenParts(t *testing.T) {
	onEachStore(t, func(t *testing.T, s stores) {
		key := newKey(t)
		mine := s.open(key, encryptedstore.Usual)
		mustWrite(t, mine, map[string][]byte{"CMPTcomponent.web": []byte("x")}, nil)
		lock := lockParts(t, mine, dbParts...)
		for _, address := range []string{"component.db", "component.net", "stack.eu"} {
			if strings.Contains(s.contents(), address) {
				t.Errorf("%s is in clear", address)
			}
		}
		wantParts(t, mine, dbParts...)
		other := s.open(key, encryptedstore.Usual)
		wantLocked(t, other, lock.ID(), dbParts[:1], dbParts...)
		beside := lockParts(t, other, webParts...)
		if from := beside.TakenFrom(); len(from) > 0 {
			t.Errorf("a lock of other parts was taken from %+v", from)
		}
		storetest.MustUnlock(t, beside)

		// The text of an element is the same each time, and says nothing.
		raw, err := storetest.Holder(t.Context(), s.raw(), deployment)
		if err != nil {
			t.Fatal(err)
		}
		short := make([]statestore.Part, len(raw.Parts))
		for i, part := range raw.Parts {
			short[i] = statestore.Part{Exclusive: part.Exclusive}
			for _, element := range part.Path {
				short[i].Path = append(short[i].Path, "=…"+element[len(element)-8:])
			}
		}
		storetest.MustUnlock(t, lock)
		storetest.MustUnlock(t, lockParts(t, mine, dbParts[1]))
		again := lockParts(t, other, dbParts...)
		wantParts(t, s.raw(), raw.Parts...)
		for name, store := range map[string]statestore.Store{
			"no key": s.open("", encryptedstore.Usual), "not read yet": s.open(key, encryptedstore.Usual),
		} {
			t.Run(name, func(t *testing.T) { wantParts(t, store, short...) })
		}
		wholeStore := s.open(key, encryptedstore.Usual)
		wantLocked(t, wholeStore, again.ID(), nil, short...)
		if _, err := wholeStore.Read(t.Context(), deployment); err != nil {
			t.Fatal(err)
		}
		wantLocked(t, wholeStore, again.ID(), nil, dbParts...)
		_, err = s.open("", encryptedstore.Usual).Lock(t.Context(), deployment, statestore.LockRequest{Parts: webParts})
		checkCode(t, err, encryption.CodeMissingKey)
	})
}

// Where names of records are in clear, and in a state in clear, addresses of parts are, too.
func TestClearParts(t *testing.T) {
	for name, variable := range map[string]string{"clear metadata": newKey(t) + ";metadata=clear", "no encryption": ""} {
		t.Run(name, func(t *testing.T) {
			onEachStore(t, func(t *testing.T, s stores) {
				mustWrite(t, s.open(variable, encryptedstore.Usual), map[string][]byte{"CMPTcomponent.web": []byte("x")}, nil)
				lock := lockParts(t, s.open(variable, encryptedstore.Usual), dbParts...)
				wantParts(t, s.raw(), dbParts...)
				if !strings.Contains(s.contents(), "component.db") {
					t.Error("the address of a part is not found where it is in clear")
				}
				wantLocked(t, s.open(variable, encryptedstore.Usual), lock.ID(), dbParts, dbParts...)
				storetest.MustUnlock(t, lockParts(t, s.open(variable, encryptedstore.Usual), webParts...))
			})
		})
	}
}

// Before there is a key for them, and before a rekey, parts are locked with the whole. The first
// serial, and the first after a state in clear has no records any more, make the key.
func TestPartsWithoutKey(t *testing.T) {
	onEachStore(t, func(t *testing.T, s stores) {
		key := newKey(t)
		for _, wasClear := range []bool{false, true} {
			if wasClear {
				mustWrite(t, s.open(key, encryptedstore.Decrypt), nil, map[string][]byte{"a": nil})
			}
			mine, other := s.open(key, encryptedstore.Usual), s.open(key, encryptedstore.Usual)
			base := storetest.MustRead(t, mine, deployment).Base() // from before there is a key
			storetest.MustRead(t, other, deployment)
			lock := lockParts(t, mine, dbParts...)
			wantParts(t, other)
			_, err := other.Lock(t.Context(), deployment, statestore.LockRequest{Parts: webParts})
			if !storetest.IsError[*statestore.LockedError](err) {
				t.Errorf("got error %v, want that the whole is locked", err)
			}
			w, err := lock.Begin(t.Context(), base, "test", map[string][]byte{"a": []byte(secret)})
			if err == nil {
				err = errors.Join(w.Commit(t.Context()), lock.Unlock(t.Context()))
			}
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(s.contents(), "component.") {
				t.Error("the address of a part is in clear")
			}
			lock, beside := lockParts(t, mine, dbParts...), lockParts(t, other, webParts...)
			storetest.MustUnlock(t, beside)
			storetest.MustUnlock(t, lock)
		}
		lock := lockParts(t, s.open(key, encryptedstore.Rekey), dbParts...)
		wantParts(t, s.raw())
		storetest.MustUnlock(t, lock)
	})
}

// A lock of parts whose paths were encrypted with a key that was exchanged meanwhile is given back
// and taken with the new one. What it was taken from is known all the same.
func TestPartsRekeyed(t *testing.T) {
	onEachStore(t, func(t *testing.T, s stores) {
		key := newKey(t)
		t.Setenv(keyFile, s.file(key))
		mine := s.open(key, encryptedstore.Usual)
		mustWrite(t, mine, map[string][]byte{"a": []byte("1")}, nil)
		storetest.MustUnlock(t, lockParts(t, mine, dbParts...))
		mustWrite(t, s.open(key, encryptedstore.Rekey), nil, nil)
		died := storetest.StartChild(t, "hold", s.path)
		id := strings.TrimPrefix(died.Line(t), "locked ")
		died.Kill(t)

		lock := lockParts(t, mine, dbParts...)
		if from := lock.TakenFrom(); len(from) != 1 || from[0].ID != id {
			t.Errorf("taken from %+v, want lock %s", from, id)
		}
		other := s.open(key, encryptedstore.Usual)
		wantLocked(t, other, lock.ID(), dbParts, dbParts...)
		w, err := lock.Begin(t.Context(), storetest.MustRead(t, mine, deployment).Base(), "mine", map[string][]byte{"a": []byte("2")})
		if err != nil {
			t.Fatal(err)
		}

		// Serials in which a writer goes on are encrypted as its first one.
		beside := lockParts(t, other, webParts...)
		between, err := beside.Begin(t.Context(), w.Base(), "other", map[string][]byte{"b": []byte("1")})
		if err != nil {
			t.Fatal(err)
		}
		storetest.MustWrite(t, w, map[string][]byte{"a": []byte("3")})
		if w.Base().Serial != between.Base().Serial+1 {
			t.Errorf("the writer is at %+v after %+v", w.Base(), between.Base())
		}
		if err := errors.Join(w.Commit(t.Context()), between.Commit(t.Context())); err != nil {
			t.Fatal(err)
		}
		storetest.MustUnlock(t, beside)
		storetest.MustUnlock(t, lock)
		checkRecords(t, s.open(key, encryptedstore.Usual), map[string][]byte{"a": []byte("3"), "b": []byte("1")})
		history, err := mine.History(t.Context(), deployment)
		if err != nil || len(history) != 5 || history[4].Total != 2 || history[4].Changed != 1 {
			t.Errorf("history %+v, error %v", history, err)
		}
	})
}

// childHoldParts takes a lock of parts, says so, and keeps it.
func childHoldParts(open storetest.Opener, location string) error {
	s, err := open(location)
	if err == nil {
		_, err = s.Lock(context.Background(), deployment, statestore.LockRequest{Parts: dbParts})
	}
	if err == nil {
		fmt.Println("locked")
		_, err = io.Copy(io.Discard, os.Stdin)
	}
	return err
}

// The parts of a holder that died are named in clear to the one that takes its lock.
func TestPartsTakenFrom(t *testing.T) {
	onEachStore(t, func(t *testing.T, s stores) {
		key := newKey(t)
		t.Setenv(keyFile, s.file(key))
		mine := s.open(key, encryptedstore.Usual)
		mustWrite(t, mine, map[string][]byte{"a": []byte("1")}, nil)
		died := storetest.StartChild(t, "hold parts", s.path)
		if line := died.Line(t); line != "locked" {
			t.Fatal(line)
		}
		died.Kill(t)
		lock := lockParts(t, mine, dbParts[0])
		from := lock.TakenFrom()
		if len(from) != 1 {
			t.Fatalf("taken from %+v, want one lock", from)
		}
		if diff := cmp.Diff(dbParts, from[0].Parts); diff != "" {
			t.Errorf("parts of the one that died (-want +got):\n%s", diff)
		}
	})
}

// A key service that was asked for a state is not asked again for locks.
func TestPartsAskNoService(t *testing.T) {
	onEachStore(t, func(t *testing.T, s stores) {
		asked := filepath.Join(t.TempDir(), "asked")
		program := filepath.Join(t.TempDir(), "program")
		script := fmt.Sprintf("#!/bin/sh\necho \"$1\" >>'%s'\ncat\n", asked)
		if err := os.WriteFile(program, []byte(script), 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
		open := func() statestore.Store {
			keys, err := encryption.Open(&settings.Encryption{Keys: settings.Keys{Command: []string{program}}}, nil, ".")
			if err != nil {
				t.Fatal(err)
			}
			return encryptedstore.New(s.raw(), keys, encryptedstore.Usual)
		}
		times := func() int {
			content, err := os.ReadFile(asked)
			if err != nil {
				t.Fatal(err)
			}
			return bytes.Count(content, []byte("\n"))
		}
		mine := open()
		mustWrite(t, mine, map[string][]byte{"a": []byte("1")}, nil)
		before := times()
		lock := lockParts(t, mine, dbParts...)
		wantParts(t, mine, dbParts...)
		wantLocked(t, mine, lock.ID(), dbParts, dbParts...)
		if _, err := open().Locks(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := open().Lock(t.Context(), deployment, statestore.LockRequest{}); !storetest.IsError[*statestore.LockedError](err) {
			t.Errorf("got error %v, want that of a lock", err)
		}
		if after := times(); after != before {
			t.Errorf("the service was asked %d times, and %d times before", after, before)
		}
		storetest.MustUnlock(t, lockParts(t, open(), webParts...))
		if after := times(); after != before+1 {
			t.Errorf("the service was asked %d times for a lock, want once", after-before)
		}
	})
}

// A state in clear is refused before a lock of its parts is taken.
func TestPartsOfClearState(t *testing.T) {
	onEachStore(t, func(t *testing.T, s stores) {
		mustWrite(t, s.open("", encryptedstore.Usual), map[string][]byte{"a": []byte("1")}, nil)
		_, err := s.open(newKey(t), encryptedstore.Usual).Lock(t.Context(), deployment, statestore.LockRequest{Parts: dbParts})
		checkCode(t, err, encryption.CodeClearState)
		if holders, err := s.raw().Holders(t.Context(), deployment); err != nil || len(holders) > 0 {
			t.Errorf("holders %v, error %v, want none", holders, err)
		}
	})
}
