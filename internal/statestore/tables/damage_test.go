// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/damage"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testenv/storetest"
)

// damageSuffixes are those of the files of a state.
var damageSuffixes = []string{"", "-wal", "-shm"}

// damageSubject is a state that is to be damaged.
type damageSubject struct {
	name  string
	files map[string][]byte // by suffix
	truth damageTruth
}

// damageTruth has all readable parts of a state.
type damageTruth struct {
	Now     map[string]*statestore.Snapshot // by deployment
	First   map[string]*statestore.Snapshot // serial 1
	History map[string][]statestore.Version
	Locks   map[string][]statestore.LockInfo
	Secret  map[string][]byte
}

var damageDeployments = []string{"default", "second", "third"} // the third has no state

// readTruth reads the state. Where some of it is an error, the rest counts.
func readTruth(t *testing.T, path string) (damageTruth, []error) {
	t.Helper()
	truth := damageTruth{
		map[string]*statestore.Snapshot{},
		map[string]*statestore.Snapshot{},
		map[string][]statestore.Version{},
		map[string][]statestore.LockInfo{},
		map[string][]byte{},
	}
	s, err := Open(path, nil, statestore.Options{})
	if err != nil {
		return truth, []error{err}
	}
	var errs []error
	for _, name := range damageDeployments {
		now, err := s.Read(t.Context(), name)
		if err != nil {
			errs = append(errs, fmt.Errorf("Read(%s): %w", name, err))
		} else {
			truth.Now[name] = now
		}
		first, err := s.ReadSerial(t.Context(), name, 1)
		switch {
		case storetest.IsError[*statestore.SerialError](err): // of a state that has no serials, or seems to have none
			truth.First[name] = nil
		case err != nil:
			errs = append(errs, fmt.Errorf("ReadSerial(%s): %w", name, err))
		default:
			truth.First[name] = first
		}
		history, err := s.History(t.Context(), name)
		if err != nil {
			errs = append(errs, fmt.Errorf("History(%s): %w", name, err))
		} else {
			truth.History[name] = history
		}
		holders, err := s.Holders(t.Context(), name)
		if err != nil {
			errs = append(errs, fmt.Errorf("Holders(%s): %w", name, err))
		} else {
			truth.Locks[name] = holders
		}
		secret, err := s.Secret(t.Context(), name)
		if err != nil {
			errs = append(errs, fmt.Errorf("Secret(%s): %w", name, err))
		} else {
			truth.Secret[name] = secret
		}
	}
	if err := s.Close(); err != nil && len(errs) == 0 {
		errs = append(errs, fmt.Errorf("Close: %w", err))
	}
	return truth, errs
}

// differs returns where two truths contradict each other. An unreadable part contradicts nothing.
func (have damageTruth) differs(want damageTruth) string {
	var b strings.Builder
	for name, got := range have.Now {
		fmt.Fprint(&b, differing("Read("+name+")", got, want.Now[name]))
	}
	for name, got := range have.First {
		fmt.Fprint(&b, differing("ReadSerial("+name+", 1)", got, want.First[name]))
	}
	for name, got := range have.History {
		fmt.Fprint(&b, differing("History("+name+")", got, want.History[name]))
	}
	for name, got := range have.Locks {
		fmt.Fprint(&b, differing("Holders("+name+")", got, want.Locks[name]))
	}
	for name, got := range have.Secret {
		fmt.Fprint(&b, differing("Secret("+name+")", got, want.Secret[name]))
	}
	return b.String()
}

func differing[T any](what string, have, want T) string {
	if reflect.DeepEqual(have, want) { // which takes a small part of the time of cmp
		return ""
	}
	return fmt.Sprintf("%s (-want +got): %.2000s\n", what, cmp.Diff(want, have))
}

// takeSubject reads the files of a state, and their truth.
func takeSubject(t *testing.T, name, path string) *damageSubject {
	t.Helper()
	subject := &damageSubject{name: name, files: map[string][]byte{}}
	copied := newFile(t)
	for _, suffix := range damageSuffixes {
		content, err := os.ReadFile(path + suffix)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		subject.files[suffix] = content
	}
	subject.write(t, copied)
	truth, errs := readTruth(t, copied)
	if len(errs) > 0 {
		t.Fatalf("%s: %v", name, errs)
	}
	if len(truth.Now["default"].Records) == 0 {
		t.Fatalf("%s has no records", name)
	}
	subject.truth = truth
	return subject
}

func (d *damageSubject) write(t *testing.T, path string) {
	t.Helper()
	for _, suffix := range damageSuffixes {
		content, ok := d.files[suffix]
		if !ok {
			if err := os.Remove(path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(path+suffix, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// damageSubjects makes states of several sizes, closed in order and left by a process that was
// killed.
func damageSubjects(t *testing.T) []*damageSubject {
	t.Helper()
	var subjects []*damageSubject

	path := newFile(t)
	s := newSQLiteStore(path)
	storetest.Apply(t, s, map[string][]byte{"only": []byte("one")})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	subjects = append(subjects, takeSubject(t, "one record", path))

	path = newFile(t)
	filled(t, path)
	s = newSQLiteStore(path)
	changes := map[string][]byte{}
	for i := range 40 {
		changes[fmt.Sprintf("key-%d", i)] = bytes.Repeat([]byte{byte(i)}, 30*i)
	}
	storetest.Apply(t, s, changes)
	for key := range changes {
		changes[key] = append(changes[key], "more"...)
	}
	// Values that are replaced within one serial leave free pages that hold them.
	long := map[string][]byte{"key-1": bytes.Repeat([]byte("x"), 20_000)}
	storetest.Apply(t, s, changes, long, map[string][]byte{"key-1": []byte("y"), "one": nil})
	lock, err := s.Lock(t.Context(), "second", statestore.LockRequest{Operation: "test"})
	if err != nil {
		t.Fatal(err)
	}
	writer := storetest.MustBegin(t, lock, statestore.Base{})
	storetest.MustWrite(t, writer, map[string][]byte{"a": []byte("1"), "b": bytes.Repeat([]byte("b"), 5000)})
	mustSecret(t, lock)
	storetest.MustUnlock(t, lock)
	mustSecret(t, storetest.MustLock(t, s, "default")) // whose lock stays
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	subjects = append(subjects, takeSubject(t, "many records", path))

	// The remains of a killed process are the files in the middle of its life.
	s = newSQLiteStore(path)
	for _, part := range []string{"another", "new"} {
		lock, err = s.Lock(t.Context(), "second", statestore.LockRequest{
			Operation: "test", Parts: []statestore.Part{{Path: []string{part}, Exclusive: true}, {Path: []string{"other"}}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	w := storetest.MustBegin(t, lock, storetest.MustRead(t, s, "second").Base())
	for i := range 20 {
		storetest.MustWrite(t, w, map[string][]byte{fmt.Sprint("new-", i): bytes.Repeat([]byte{byte(i)}, 300)})
	}
	subjects = append(subjects, takeSubject(t, "killed", path))

	rawSQL(t, path, `PRAGMA wal_checkpoint(PASSIVE)`)
	subjects = append(subjects, takeSubject(t, "killed after a checkpoint", path))

	// The log begins again, in front of its remains.
	for i := range 3 {
		storetest.MustWrite(t, w, map[string][]byte{"newest": {byte(i)}})
	}
	subjects = append(subjects, takeSubject(t, "killed in a new log", path))

	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return subjects
}

// damage returns a copy of d with one thing changed, and says which.
func (d *damageSubject) damage(random *rand.Rand) (*damageSubject, string) {
	suffixes := slices.Sorted(maps.Keys(d.files))
	suffix := suffixes[random.IntN(len(suffixes))]
	pages := damage.Pages{Size: 4096}
	if suffix == "-wal" {
		pages = damage.Pages{Start: 32, Size: 4096 + 24}
	}
	content, what := damage.Alter(random, d.files[suffix], pages)
	damaged := &damageSubject{name: d.name, files: maps.Clone(d.files), truth: d.truth}
	damaged.files[suffix] = content
	return damaged, fmt.Sprintf("%s, in the file %q: %s", d.name, suffix, what)
}

// With any damage, a read returns the truth or an error, and so it does after more was written
// (rule S9).
func TestRandomDamage(t *testing.T) {
	testenv.SkipUnderRace(t, "does one thing at a time")
	subjects := damageSubjects(t)
	path := newFile(t)
	var number, found int
	damage.Each(t, 80, func(i int, random *rand.Rand) {
		number++
		subject := subjects[random.IntN(len(subjects))]
		damaged, what := subject.damage(random)
		what = fmt.Sprintf("damage %d: %s", i, what)
		damaged.write(t, path)
		have, errs := readTruth(t, path)
		if wrong := have.differs(subject.truth); wrong != "" {
			t.Errorf("%s: another state without an error:\n%s", what, wrong)
		}
		for _, err := range errs {
			if !storetest.IsError[*statestore.StoreError](err) {
				t.Errorf("%s: %v, which is not a StoreError", what, err)
			}
		}
		if len(errs) > 0 {
			found++
		}
		if len(errs) == 0 {
			checkWriteAfterDamage(t, path, what, subject.truth)
		}
	})
	t.Logf("%d of %d damages were noticed", found, number)
	if found < number/4 {
		t.Errorf("only %d of %d damages were noticed", found, number)
	}
}

// checkWriteAfterDamage writes to a state that could be read, which may still
// fail, and reads it again.
func checkWriteAfterDamage(t *testing.T, path, what string, truth damageTruth) {
	t.Helper()
	written, err := writeAfterDamage(t, path)
	if err != nil && !storetest.IsError[*statestore.StoreError](err) && !storetest.IsError[*statestore.LockedError](err) {
		t.Errorf("%s: writing: %v, which is not a StoreError", what, err)
	}
	have, errs := readTruth(t, path)
	now := have.Now["second"]
	delete(have.Now, "second")
	delete(have.History, "second")
	delete(have.Locks, "second")
	if truth.First["second"] == nil {
		delete(have.First, "second")
	}
	if wrong := have.differs(truth); wrong != "" {
		t.Errorf("%s: another state after something else was written:\n%s", what, wrong)
	}
	want := maps.Clone(truth.Now["second"].Records)
	if written {
		want["after"] = []byte("damage")
		if len(errs) > 0 {
			t.Errorf("%s: was accepted for writing, and is damaged now: %v", what, errs)
		}
	}
	if now != nil && len(statestore.Changes(now.Records, want)) > 0 {
		t.Errorf("%s: another state after writing (written: %t, error: %v)", what, written, err)
	}
}

func writeAfterDamage(t *testing.T, path string) (written bool, err error) {
	t.Helper()
	s, err := Open(path, nil, statestore.Options{})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	holders, err := s.Holders(t.Context(), "second")
	if err != nil {
		return false, err
	}
	for _, holder := range holders {
		if err := s.ForceUnlock(t.Context(), "second", holder.ID); err != nil {
			return false, err
		}
	}
	lock, err := s.Lock(t.Context(), "second", statestore.LockRequest{Operation: "test"})
	if err != nil {
		return false, err
	}
	snapshot, err := s.Read(t.Context(), "second")
	if err != nil {
		return false, err
	}
	w, err := lock.Begin(t.Context(), snapshot.Base(), "test", nil)
	if err != nil {
		return false, err
	}
	if err := w.Write(t.Context(), map[string][]byte{"after": []byte("damage")}); err != nil {
		return false, err
	}
	return true, errors.Join(w.Commit(t.Context()), lock.Unlock(t.Context()))
}
