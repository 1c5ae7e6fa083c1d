// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package storetest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// exclusive is the part of a path that its holder changes.
func exclusive(path ...string) statestore.Part { return statestore.Part{Path: path, Exclusive: true} }

// shared is the part of a path that its holders only read.
func shared(path ...string) statestore.Part { return statestore.Part{Path: path} }

// lockParts takes a lock of parts of the deployment "default", or fails.
func lockParts(t *testing.T, s statestore.Store, parts ...statestore.Part) statestore.Lock {
	t.Helper()
	lock, err := s.Lock(t.Context(), "default", statestore.LockRequest{Operation: "test", Parts: parts})
	if err != nil {
		t.Fatalf("Lock of %v: %v", parts, err)
	}
	return lock
}

// wantLocked fails unless a lock of parts of "default" is refused for a part of the holder of a
// lock.
func wantLocked(t *testing.T, s statestore.Store, id string, part statestore.Part, parts ...statestore.Part) {
	t.Helper()
	lock, err := s.Lock(t.Context(), "default", statestore.LockRequest{Operation: "test", Parts: parts})
	if err == nil {
		t.Errorf("Lock of %v succeeds beside %v of lock %s", parts, part, id)
		MustUnlock(t, lock)
		return
	}
	locked, ok := errors.AsType[*statestore.LockedError](err)
	if !ok {
		t.Errorf("Lock of %v: error %v, want a LockedError", parts, err)
		return
	}
	if diff := cmp.Diff(part, locked.Part, cmpopts.EquateEmpty()); locked.Holder.ID != id || diff != "" {
		t.Errorf("Lock of %v: lock %s is in the way, want %s with this part (-want +got):\n%s", parts, locked.Holder.ID, id, diff)
	}
}

// wantHolders compares the holders of "default" with these locks.
func wantHolders(t *testing.T, s statestore.Store, want ...string) {
	t.Helper()
	holders, err := s.Holders(t.Context(), "default")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, lockIDs(holders), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("locks (-want +got):\n%s", diff)
	}
}

func lockIDs(holders []statestore.LockInfo) (ids []string) {
	for _, holder := range holders {
		ids = append(ids, holder.ID)
	}
	return ids
}

// Of two locks, the second is refused if one of them changes what the other one has.
func testPartsConflict(t *testing.T, at *Place) {
	mine, other := at.store(t), at.store(t)
	parts := map[string][]statestore.Part{
		"none": nil,
		"W":    {statestore.Whole},
		"w":    {shared()},
		"A":    {exclusive("a")},
		"a":    {shared("a")},
		"AB":   {exclusive("a", "b")},
		"ab":   {shared("a", "b")},
		"AC":   {exclusive("a", "c")},
		"A-":   {exclusive("ab")}, // a path is of elements and not of letters
		"D":    {exclusive("d")},
		"d":    {shared("d")},
	}
	names := []string{"none", "W", "w", "A", "a", "AB", "ab", "AC", "A-", "D", "d"}
	conflicts := map[string]string{ // of the lock in each row with those in names
		"none": "xxxxxxxxxxx",
		"W":    "xxxxxxxxxxx",
		"w":    "xx.x.x.xxx.",
		"A":    "xxxxxxxx...",
		"a":    "xx.x.x.x...",
		"AB":   "xxxxxxx....",
		"ab":   "xx.x.x.....",
		"AC":   "xxxxx..x...",
		"A-":   "xxx.....x..",
		"D":    "xxx......xx",
		"d":    "xx.......x.",
	}
	for _, held := range names {
		first := lockParts(t, mine, parts[held]...)
		for i, wanted := range names {
			if conflicts[held][i] == 'x' {
				part := statestore.Whole
				if held != "none" {
					part = parts[held][0]
				}
				wantLocked(t, other, first.ID(), part, parts[wanted]...)
				continue
			}
			second := lockParts(t, other, parts[wanted]...)
			if from := second.TakenFrom(); len(from) > 0 {
				t.Errorf("lock of %s beside %s was taken from %v", wanted, held, from)
			}
			MustUnlock(t, second)
		}
		MustUnlock(t, first)
	}
}

// A lock of several parts, and several locks, are all compared; the first holder that is in the way
// is named with its part.
func testPartsSeveral(t *testing.T, at *Place) {
	s := at.store(t)
	first := lockParts(t, s, exclusive("a"), shared("b"))
	second := lockParts(t, s, exclusive("c"), shared("b"), exclusive("d", "x"))
	wantLocked(t, s, first.ID(), exclusive("a"), shared("e"), exclusive("a", "1"))
	wantLocked(t, s, second.ID(), exclusive("d", "x"), exclusive("d"), shared("b"))
	wantLocked(t, s, first.ID(), shared("b"), exclusive("d"), exclusive("b"))
	MustUnlock(t, first)
	wantLocked(t, s, second.ID(), shared("b"), exclusive("b"))
	wantLocked(t, s, second.ID(), exclusive("c"))
	wantHolders(t, s, second.ID())
	MustUnlock(t, second)
	MustUnlock(t, lockParts(t, s))
}

// Holders are in the order in which they got their locks, with the parts that they asked for.
func testPartsHolders(t *testing.T, at *Place) {
	s, other := at.store(t), at.store(t)
	odd := []statestore.Part{exclusive("stack.\"ü\"", "a\x00b", ""), shared("{}[],\\")}
	first := lockParts(t, s, odd...)
	second := lockParts(t, other, exclusive("b"))
	third := lockParts(t, s, shared("c"), shared("d", "e"))
	elsewhere, err := s.Lock(t.Context(), "another", statestore.LockRequest{Operation: "other"})
	if err != nil {
		t.Fatal(err)
	}
	want := []statestore.LockInfo{
		{ID: elsewhere.ID(), Deployment: "another", Operation: "other", Epoch: 1},
		{ID: first.ID(), Deployment: "default", Operation: "test", Epoch: 1, Parts: odd},
		{ID: second.ID(), Deployment: "default", Operation: "test", Epoch: 2, Parts: []statestore.Part{exclusive("b")}},
		{
			ID: third.ID(), Deployment: "default", Operation: "test", Epoch: 3,
			Parts: []statestore.Part{shared("c"), shared("d", "e")},
		},
	}
	ignored := cmp.Options{
		cmpopts.EquateEmpty(),
		cmpopts.IgnoreFields(statestore.LockInfo{}, "Owner", "Host", "PID", "Started", "Seen", "Until", "Identity"),
	}
	compare := func(want []statestore.LockInfo) {
		t.Helper()
		for _, s := range []statestore.Store{s, other} {
			all, err := s.Locks(t.Context())
			if diff := cmp.Diff(want, all, ignored); err != nil || diff != "" {
				t.Errorf("Locks: error %v, (-want +got):\n%s", err, diff)
			}
			holders, err := s.Holders(t.Context(), "default")
			if diff := cmp.Diff(want[1:], holders, ignored); err != nil || diff != "" {
				t.Errorf("Holders: error %v, (-want +got):\n%s", err, diff)
			}
			for _, holder := range holders {
				if holder.PID != os.Getpid() || holder.Process() == statestore.ProcessGone || holder.Started.IsZero() {
					t.Errorf("holder %+v, want this process", holder)
				}
			}
		}
	}
	compare(want)
	MustUnlock(t, second)
	again := lockParts(t, other, shared("b"))
	want[2], want[3] = want[3], want[2]
	want[3].ID, want[3].Parts, want[3].Epoch = again.ID(), []statestore.Part{shared("b")}, 4
	compare(want)
}

// childParts takes the locks of the parts in each line of its standard input, and says so.
func childParts(open Opener, location string) error {
	ctx := context.Background()
	s, err := open(location)
	if err != nil {
		return err
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var parts []statestore.Part
		if err := json.Unmarshal(in.Bytes(), &parts); err != nil {
			return err
		}
		lock, err := s.Lock(ctx, "default", statestore.LockRequest{Operation: "hold", Owner: "child", Parts: parts})
		if err != nil {
			return err
		}
		fmt.Println(lock.ID())
	}
	return errors.Join(in.Err(), s.Close())
}

// lockInChild has a child of the role "parts" take a lock.
func lockInChild(t *testing.T, c *Child, parts ...statestore.Part) (id string) {
	t.Helper()
	line, err := json.Marshal(parts)
	if err == nil {
		_, err = c.stdin.Write(append(line, '\n'))
	}
	if err != nil {
		t.Fatal(err)
	}
	return c.Line(t)
}

// The locks of a process that was killed are removed by those that they are in the way of, and no
// others. A lock that is refused removes none.
func testPartsKilled(t *testing.T, at *Place) {
	if statestore.CurrentProcess().Scope == "" {
		t.Skip("SKIPPED: this system cannot tell whether another process is dead")
	}
	s := at.store(t)
	c := StartChild(t, "parts", at.location)
	a := lockInChild(t, c, exclusive("a"), shared("b"))
	b := lockInChild(t, c, shared("b"), exclusive("c"))
	mine := lockParts(t, s, exclusive("mine"), shared("b"))
	d := lockInChild(t, c, exclusive("d"))
	wantLocked(t, s, a, exclusive("a"), exclusive("a"))
	c.Kill(t)

	beside := lockParts(t, s, shared("b"), exclusive("e"))
	wantHolders(t, s, a, b, mine.ID(), d, beside.ID())
	if from := beside.TakenFrom(); len(from) > 0 {
		t.Errorf("a lock that nobody is in the way of was taken from %v", from)
	}
	MustUnlock(t, beside)

	wantLocked(t, s, mine.ID(), exclusive("mine"), exclusive("a"), exclusive("mine", "x"), exclusive("d"))
	wantHolders(t, s, a, b, mine.ID(), d)

	one := lockParts(t, s, shared("d", "x"))
	if from := one.TakenFrom(); !slices.Equal(lockIDs(from), []string{d}) || from[0].PID != c.Cmd.Process.Pid || from[0].Expired {
		t.Errorf("taken from %+v, want lock %s of process %d", from, d, c.Cmd.Process.Pid)
	}
	wantHolders(t, s, a, b, mine.ID(), one.ID())
	MustUnlock(t, one)
	MustUnlock(t, mine)

	both := lockParts(t, s, exclusive("b"))
	from := both.TakenFrom()
	if !slices.Equal(lockIDs(from), []string{a, b}) {
		t.Fatalf("taken from %+v, want locks %s and %s", from, a, b)
	}
	if diff := cmp.Diff([]statestore.Part{shared("b"), exclusive("c")}, from[1].Parts); diff != "" {
		t.Errorf("parts of a holder that a lock was taken from (-want +got):\n%s", diff)
	}
	wantHolders(t, s, both.ID())
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// One of several locks is removed; the others are as before.
func testPartsForceUnlock(t *testing.T, at *Place) {
	s := at.store(t)
	a, b := lockParts(t, s, exclusive("a")), lockParts(t, at.store(t), exclusive("b"))
	wa := MustBegin(t, a, statestore.Base{})
	MustWrite(t, wa, map[string][]byte{"a": []byte("1")})
	wb := MustBegin(t, b, wa.Base())
	MustWrite(t, wb, map[string][]byte{"b": []byte("1")})

	err := s.ForceUnlock(t.Context(), "default", "another")
	if e, ok := errors.AsType[*statestore.LockIDError](err); !ok || e.Now == nil {
		t.Errorf("ForceUnlock with a wrong ID: error %v, want a LockIDError that names a holder", err)
	}
	if err := s.ForceUnlock(t.Context(), "default", a.ID()); err != nil {
		t.Fatal(err)
	}
	wantHolders(t, s, b.ID())
	if err := s.ForceUnlock(t.Context(), "default", a.ID()); !IsError[*statestore.LockIDError](err) {
		t.Errorf("second ForceUnlock: error %v, want a LockIDError", err)
	}
	wantLost := func(now string) {
		t.Helper()
		_, beginErr := a.Begin(t.Context(), wb.Base(), "apply", nil)
		for name, err := range map[string]error{
			"Write":  wa.Write(t.Context(), map[string][]byte{"a": []byte("2")}),
			"Commit": wa.Commit(t.Context()),
			"Begin":  beginErr,
			"Unlock": a.Unlock(t.Context()),
		} {
			lost, ok := errors.AsType[*statestore.LockLostError](err)
			if !ok || (lost.Now == nil) != (now == "") || lost.Now != nil && lost.Now.ID != now {
				t.Errorf("%s after a forced unlock: error %v, want a LockLostError with holder %q", name, err, now)
			}
		}
	}
	wantLost("")
	now := lockParts(t, s, exclusive("a", "x"))
	wantLost(now.ID())
	wantHolders(t, s, b.ID(), now.ID())

	MustWrite(t, wb, map[string][]byte{"b": []byte("2")})
	if err := wb.Commit(t.Context()); err != nil {
		t.Error(err)
	}
	MustUnlock(t, b)
	wantHolders(t, s, now.ID())
	got := MustRead(t, s, "default")
	WantRecords(t, got, map[string]string{"a": "1", "b": "2"})
	if got.Serial != 2 {
		t.Errorf("the state is at serial %d, want 2: a writer without its lock has opened another one", got.Serial)
	}
}

// mustBeginNamed begins an operation with a name and with changes.
func mustBeginNamed(
	t *testing.T, lock statestore.Lock, base statestore.Base, operation string, changes map[string][]byte,
) statestore.Writer {
	t.Helper()
	w, err := lock.Begin(t.Context(), base, operation, changes)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// wantSerial fails unless w writes into a serial, which is the newest one.
func wantSerial(t *testing.T, s statestore.Store, w statestore.Writer, serial int64) {
	t.Helper()
	if got, newest := w.Base(), MustRead(t, s, "default").Base(); got.Serial != serial || got != newest {
		t.Errorf("writer is at %+v and the state at %+v, want serial %d", got, newest, serial)
	}
}

// wantUnfinished compares the numbers of the serials that are unfinished.
func wantUnfinished(t *testing.T, s statestore.Store, want ...int64) {
	t.Helper()
	history, err := s.History(t.Context(), "default")
	if err != nil {
		t.Fatal(err)
	}
	var unfinished []int64
	for _, v := range history {
		if v.Unfinished() {
			unfinished = append(unfinished, v.Serial)
		}
	}
	if !slices.Equal(unfinished, want) {
		t.Errorf("serials %v are unfinished, want %v", unfinished, want)
	}
	newest, err := s.Newest(t.Context())
	last := history[len(history)-1]
	if n := newest["default"]; err != nil || n.Serial != last.Serial || n.Finished == last.Unfinished() {
		t.Errorf("Newest = %+v, %v; want serial %d, finished: %t", n, err, last.Serial, !last.Unfinished())
	}
}

// Writers of parts write in turns: each goes on in a serial of its own, on top of those of others.
func testPartsWriters(t *testing.T, at *Place) {
	s, other := at.store(t), at.store(t)
	v := func(text string) []byte { return []byte(text) }
	Apply(t, s, map[string][]byte{"a": v("0"), "a2": v("0"), "b": v("0"), "c": v("0")})
	read := MustRead(t, s, "default").Base()
	a, b := lockParts(t, s, exclusive("a")), lockParts(t, other, exclusive("b"), shared("c"))
	wa := mustBeginNamed(t, a, read, "of a", map[string][]byte{"a": v("1")})
	if _, err := b.Begin(t.Context(), read, "of b", nil); !IsError[*statestore.StaleError](err) {
		t.Errorf("Begin beside a serial that is open, on the one before: error %v, want a StaleError", err)
	}
	wantUnfinished(t, s, 2)
	MustWrite(t, wa, map[string][]byte{"a": v("2")}) // into the same serial
	wantSerial(t, s, wa, 2)
	wb := mustBeginNamed(t, b, wa.Base(), "of b", map[string][]byte{"b": v("3")})
	wantSerial(t, s, wb, 3)
	wantUnfinished(t, s, 2, 3)
	MustWrite(t, wb, map[string][]byte{"b": v("4"), "b2": v("4")})
	wantSerial(t, s, wb, 3)

	MustWrite(t, wa, map[string][]byte{"a": v("5"), "a2": nil})
	wantSerial(t, s, wa, 4)
	wantUnfinished(t, s, 3, 4)
	MustWrite(t, wa, map[string][]byte{"a": v("6")})
	wantSerial(t, s, wa, 4)
	MustWrite(t, wb, map[string][]byte{"b": v("7")})
	wantSerial(t, s, wb, 5)
	wantUnfinished(t, s, 4, 5)

	// A commit opens no serial.
	if err := wa.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantUnfinished(t, s, 5)
	if wa.Base().Serial != 4 {
		t.Errorf("the writer that was committed is at serial %d, want 4", wa.Base().Serial)
	}
	if err := wa.Write(t.Context(), map[string][]byte{"a": v("8")}); !errors.Is(err, statestore.ErrCommitted) {
		t.Errorf("Write after Commit: error %v, want ErrCommitted", err)
	}
	MustUnlock(t, a)
	MustWrite(t, wb, map[string][]byte{"b2": v("9")})
	wantSerial(t, s, wb, 5)
	if err := wb.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantUnfinished(t, s)
	MustUnlock(t, b)

	history, err := other.History(t.Context(), "default")
	if err != nil {
		t.Fatal(err)
	}
	want := []statestore.Version{
		{Serial: 1, Operation: "apply", Changed: 4, Total: 4},
		{Serial: 2, Operation: "of a", Changed: 1, Total: 4},
		{Serial: 3, Operation: "of b", Changed: 2, Total: 5},
		{Serial: 4, Operation: "of a", Changed: 2, Total: 4},
		{Serial: 5, Operation: "of b", Changed: 2, Total: 4},
	}
	if diff := cmp.Diff(want, history, cmpopts.IgnoreFields(statestore.Version{}, "Owner", "Host", "Started", "Finished")); diff != "" {
		t.Errorf("History (-want +got):\n%s", diff)
	}
	for _, version := range history {
		if version.Owner != statestore.CurrentOwner() || version.Host != statestore.CurrentHost() || version.Finished.Before(version.Started) {
			t.Errorf("History has %+v", version)
		}
	}
	if !history[3].Started.Equal(history[1].Finished) && history[3].Started.Before(history[1].Finished) {
		t.Errorf("serial 4 started at %s, before serial 2 ended at %s", history[3].Started, history[1].Finished)
	}
	for i, records := range []map[string]string{
		{"a": "0", "a2": "0", "b": "0", "c": "0"},
		{"a": "2", "a2": "0", "b": "0", "c": "0"},
		{"a": "2", "a2": "0", "b": "4", "b2": "4", "c": "0"},
		{"a": "6", "b": "4", "b2": "4", "c": "0"},
		{"a": "6", "b": "7", "b2": "9", "c": "0"},
	} {
		got, err := other.ReadSerial(t.Context(), "default", int64(i+1))
		if err != nil {
			t.Fatal(err)
		}
		WantRecords(t, got, records)
	}
	if err := other.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// A writer that wrote nothing since another one has opened a serial ends in its own.
func testPartsOvertaken(t *testing.T, at *Place) {
	s := at.store(t)
	a, b := lockParts(t, s, exclusive("a")), lockParts(t, at.store(t), exclusive("b"))
	wa := mustBeginNamed(t, a, statestore.Base{}, "of a", map[string][]byte{"a": []byte("1")})
	wb := mustBeginNamed(t, b, wa.Base(), "of b", nil)
	if err := wa.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantUnfinished(t, s, 2)
	if wa.Base().Serial != 1 {
		t.Errorf("the writer that was committed is at serial %d, want 1", wa.Base().Serial)
	}
	wantSerial(t, s, wb, 2)

	// Under the same lock, the next operation begins on the newest serial.
	if _, err := a.Begin(t.Context(), wa.Base(), "of a", nil); !IsError[*statestore.StaleError](err) {
		t.Errorf("Begin on an older serial: error %v, want a StaleError", err)
	}
	next := mustBeginNamed(t, a, wb.Base(), "next of a", nil)
	MustUnlock(t, b) // whose serial stays unfinished
	MustWrite(t, next, map[string][]byte{"a": []byte("2")})
	wantSerial(t, s, next, 3)
	wantUnfinished(t, s, 2, 3)
	WantRecords(t, MustRead(t, s, "default"), map[string]string{"a": "2"})
	if err := wb.Write(t.Context(), map[string][]byte{"b": []byte("1")}); !IsError[*statestore.LockLostError](err) {
		t.Errorf("Write after Unlock: error %v, want a LockLostError", err)
	}
	wantSerial(t, s, next, 3)
}

// A writer does not go on beside a later one of its own lock, as it does beside those of others.
func testPartsStale(t *testing.T, at *Place) {
	s := at.store(t)
	a, b := lockParts(t, s, exclusive("a")), lockParts(t, at.store(t), exclusive("b"))
	first := mustBeginNamed(t, a, statestore.Base{}, "first", map[string][]byte{"a": []byte("1")})
	second := mustBeginNamed(t, a, first.Base(), "second", nil)
	wantStale := func() {
		t.Helper()
		if err := first.Write(t.Context(), map[string][]byte{"a": []byte("2")}); !IsError[*statestore.StaleError](err) {
			t.Errorf("Write to an older serial: error %v, want a StaleError", err)
		}
		if err := first.Commit(t.Context()); !IsError[*statestore.StaleError](err) {
			t.Errorf("Commit of an older serial: error %v, want a StaleError", err)
		}
	}
	wantStale()
	wb := mustBeginNamed(t, b, second.Base(), "of b", map[string][]byte{"b": []byte("1")})
	wantStale()
	MustWrite(t, second, map[string][]byte{"a": []byte("3")})
	wantSerial(t, s, second, 4)
	wantStale()
	MustWrite(t, wb, map[string][]byte{"b": []byte("2")})
	WantRecords(t, MustRead(t, s, "default"), map[string]string{"a": "3", "b": "2"})
	if err := errors.Join(second.Commit(t.Context()), wb.Commit(t.Context())); err != nil {
		t.Error(err)
	}
	wantUnfinished(t, s, 1)
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// Writes that wait together go into one serial, also if that is a new one.
func testPartsConcurrentWrites(t *testing.T, at *Place) {
	s := at.store(t)
	a, b := lockParts(t, s, exclusive("a")), lockParts(t, at.store(t), exclusive("b"))
	writers := []statestore.Writer{MustBegin(t, a, statestore.Base{})}
	writers = append(writers, MustBegin(t, b, writers[0].Base()))
	want := map[string]string{}
	errs := make([]error, 10)
	var writing sync.WaitGroup
	for i := range errs {
		w := writers[i%len(writers)]
		for j := range 5 {
			want[fmt.Sprint(i, j)] = "x"
		}
		writing.Go(func() {
			for j := range 5 {
				before := w.Base().Serial
				err := w.Write(t.Context(), map[string][]byte{fmt.Sprint(i, j): []byte("x")})
				if after := w.Base().Serial; after < before {
					err = errors.Join(err, fmt.Errorf("a writer went back from serial %d to %d", before, after))
				}
				errs[i] = errors.Join(errs[i], err)
			}
		})
	}
	testenv.Within(t, "everybody has written", writing.Wait)
	err := errors.Join(errs...)
	for _, w := range writers {
		err = errors.Join(err, w.Commit(t.Context()))
	}
	if err := errors.Join(err, s.Check(t.Context())); err != nil {
		t.Error(err)
	}
	got := MustRead(t, s, "default")
	WantRecords(t, got, want)
	wantUnfinished(t, s)
	if got.Serial < 2 || got.Serial > 50 {
		t.Errorf("50 writes of two writers have opened %d serials", got.Serial)
	}
}
