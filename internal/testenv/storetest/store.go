// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package storetest has the tests that each store passes, with other processes as users of the same
// one, and the helpers of tests of stores.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// Run is the contract of [statestore.Store]. Every kind of store passes it.
// newLocation returns the location of a store that holds nothing yet.
func Run(t *testing.T, open Opener, newLocation func(*testing.T) string) {
	tests := map[string]func(*testing.T, *Place){
		"nothing stored":                         NothingStored,
		"records":                                testRecords,
		"odd keys and values":                    testOddRecords,
		"several writes to a record in a serial": testRewrites,
		"every serial stays readable":            testHistory,
		"unfinished serial":                      testUnfinished,
		"stale base":                             testStale,
		"lineage is adopted":                     testAdoptLineage,
		"serial with its first changes":          testFirstChanges,
		"deployments are apart":                  testDeployments,
		"lock is exclusive":                      testLockExclusive,
		"one of many goroutines gets the lock":   testLockRace,
		"one of several processes gets the lock": testLockProcesses,
		"lock of a running process":              testLockRunning,
		"lock of a killed process":               testLockKilled,
		"forced unlock":                          testForceUnlock,
		"forced unlock while writing":            testForceUnlockWhileWriting,
		"writer outlived by its rights":          testWriterOutlived,
		"parts that conflict":                    testPartsConflict,
		"locks of several parts":                 testPartsSeveral,
		"holders of parts":                       testPartsHolders,
		"parts of a killed process":              testPartsKilled,
		"forced unlock of parts":                 testPartsForceUnlock,
		"writers of parts in turns":              testPartsWriters,
		"overtaken writer of parts":              testPartsOvertaken,
		"writer of parts outlived by its rights": testPartsStale,
		"concurrent writes to parts":             testPartsConcurrentWrites,
		"interleaved operations": func(t *testing.T, at *Place) {
			Interleavings(t, at.open, newLocation, usualInterleavings)
		},
		"interleaved operations of processes": testInterleavedProcesses,
		"concurrent writes":                   testConcurrentWrites,
		"interrupt does not stop a write":     testInterrupt,
		"killed in the middle of writes":      testKilledWriter,
		"rolled back by changes":              testChanges,
		"revisions of records":                testRevisions,
		"closed":                              testClosed,
		"secret of a deployment":              testSecret,
		"migration there and back":            testMigration,
		"migration that is interrupted":       testMigrationInterrupted,
		"migration to another state":          testMigrationRefused,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test(t, NewPlace(newLocation(t), open)) })
	}
}

// Opener opens a store.
type Opener func(location string) (statestore.Store, error)

// Place is where a test has its store, which holds nothing yet.
type Place struct {
	location string
	open     Opener
}

func NewPlace(location string, open Opener) *Place { return &Place{location, open} }

// store opens the store of the test.
func (p *Place) store(t *testing.T) statestore.Store {
	t.Helper()
	return p.other(t, p.location)
}

// other opens the store at another location.
func (p *Place) other(t *testing.T, location string) statestore.Store {
	t.Helper()
	return OpenWith(t, p.open, location)
}

// OpenWith opens a store until the test ends.
func OpenWith(t *testing.T, open Opener, location string) statestore.Store {
	t.Helper()
	s, err := open(location)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func MustLock(t *testing.T, s statestore.Store, deployment string) statestore.Lock {
	t.Helper()
	lock, err := s.Lock(t.Context(), deployment, statestore.LockRequest{Operation: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return lock
}

func MustUnlock(t *testing.T, lock statestore.Lock) {
	t.Helper()
	if err := lock.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func MustBegin(t *testing.T, lock statestore.Lock, base statestore.Base) statestore.Writer {
	t.Helper()
	w, err := lock.Begin(t.Context(), base, "apply", nil)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func MustWrite(t *testing.T, w statestore.Writer, changes map[string][]byte) {
	t.Helper()
	if err := w.Write(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
}

func MustRead(t *testing.T, s statestore.Store, deployment string) *statestore.Snapshot {
	t.Helper()
	snapshot, err := s.Read(t.Context(), deployment)
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}

// Apply is a whole operation: one serial with these changes.
func Apply(t *testing.T, s statestore.Store, changes ...map[string][]byte) statestore.Base {
	t.Helper()
	lock := MustLock(t, s, "default")
	w := MustBegin(t, lock, MustRead(t, s, "default").Base())
	for _, c := range changes {
		MustWrite(t, w, c)
	}
	if err := w.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	MustUnlock(t, lock)
	return w.Base()
}

func WantRecords(t *testing.T, got *statestore.Snapshot, want map[string]string) {
	t.Helper()
	records := map[string]string{}
	for k, v := range got.Records {
		if v == nil {
			t.Errorf("record %q is nil", k)
		}
		records[k] = string(v)
	}
	if diff := cmp.Diff(want, records); diff != "" {
		t.Errorf("records of serial %d (-want +got):\n%s", got.Serial, diff)
	}
}

func NothingStored(t *testing.T, at *Place) {
	s := at.store(t)
	got := MustRead(t, s, "default")
	if diff := cmp.Diff(&statestore.Snapshot{Records: map[string][]byte{}}, got); diff != "" {
		t.Errorf("Read (-want +got):\n%s", diff)
	}
	if got, err := s.ReadSerial(t.Context(), "default", 0); err != nil || len(got.Records) != 0 {
		t.Errorf("ReadSerial(0) = %v, %v; want an empty snapshot", got, err)
	}
	if _, err := s.ReadSerial(t.Context(), "default", 1); !IsError[*statestore.SerialError](err) {
		t.Errorf("ReadSerial(1): error %v, want a SerialError", err)
	}
	if got, err := s.History(t.Context(), "default"); err != nil || len(got) != 0 {
		t.Errorf("History = %v, %v; want none", got, err)
	}
	if got, err := Holder(t.Context(), s, "default"); err != nil || got != nil {
		t.Errorf("LockInfo = %v, %v; want nil", got, err)
	}
	if err := s.ForceUnlock(t.Context(), "default", "x"); !IsError[*statestore.LockIDError](err) {
		t.Errorf("ForceUnlock: error %v, want a LockIDError", err)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Errorf("Check: %v", err)
	}
}

func IsError[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func testRecords(t *testing.T, at *Place) {
	s := at.store(t)
	base := Apply(t, s, map[string][]byte{"a": []byte("1"), "b": []byte("2"), "c": []byte("3")})
	if base.Serial != 1 || base.Lineage == "" {
		t.Errorf("first serial is %+v, want serial 1 and a lineage", base)
	}
	second := Apply(t, s, map[string][]byte{"a": []byte("1"), "b": []byte("two"), "c": nil, "d": []byte("4"), "none": nil})
	if second.Serial != 2 || second.Lineage != base.Lineage {
		t.Errorf("second serial is %+v, want serial 2 of lineage %s", second, base.Lineage)
	}

	// Also through another connection.
	for _, s := range []statestore.Store{s, at.store(t)} {
		got := MustRead(t, s, "default")
		WantRecords(t, got, map[string]string{"a": "1", "b": "two", "d": "4"})
		if got.Base() != second {
			t.Errorf("Read returns base %+v, want %+v", got.Base(), second)
		}
		if got.Changed != 3 || got.Total != 3 {
			t.Errorf("serial 2 has %d changed of %d, want 3 of 3", got.Changed, got.Total)
		}
		if err := s.Check(t.Context()); err != nil {
			t.Errorf("Check: %v", err)
		}
	}
}

func testOddRecords(t *testing.T, at *Place) {
	s := at.store(t)
	want := map[string]string{
		`CMPTcomponent.x["a"]`:             "state",
		"RSRCcomponent.x,a.b[\"x,y\"],cur": "\x00\x01\xff",
		"OTPToutput.empty":                 "",
		"nul \x00 and no UTF-8 \xff\xfe":   "x",
		"VRBLvar.ü":                        strings.Repeat("long", 300_000),
		strings.Repeat("long key ", 1000):  "x",
		"case":                             "lower",
		"CASE":                             "upper",
		"'; DROP TABLE cairn_record; --":   "quoted",
		"trailing space":                   "no",
		"trailing space ":                  "yes",
		"123":                              "a number, as text",
		"numeric value":                    "42",
	}
	changes := map[string][]byte{}
	for k, v := range want {
		changes[k] = []byte(v)
	}
	Apply(t, s, changes)
	WantRecords(t, MustRead(t, s, "default"), want)
	Apply(t, s, changes)
	if got := MustRead(t, s, "default"); got.Changed != 0 || got.Total != int64(len(want)) {
		t.Errorf("writing the same again changed %d of %d, want 0 of %d", got.Changed, got.Total, len(want))
	}
	for k := range changes {
		changes[k] = nil
	}
	Apply(t, s, changes)
	WantRecords(t, MustRead(t, s, "default"), map[string]string{})

	lock := MustLock(t, s, "default")
	w := MustBegin(t, lock, MustRead(t, s, "default").Base())
	if err := w.Write(t.Context(), map[string][]byte{"": []byte("x")}); err == nil {
		t.Error("Write accepts an empty key")
	}
	if _, err := lock.Begin(t.Context(), w.Base(), "apply", map[string][]byte{"": []byte("x")}); err == nil {
		t.Error("Begin accepts an empty key")
	}
}

func testRewrites(t *testing.T, at *Place) {
	s := at.store(t)
	v := func(s string) []byte { return []byte(s) }
	Apply(t, s, map[string][]byte{"kept": v("k"), "changed": v("1"), "deleted": v("1"), "back": v("1"), "same": v("1")})
	Apply(t, s,
		map[string][]byte{"changed": v("2"), "deleted": v("2"), "back": nil, "new": v("1"), "brief": v("1"), "same": v("2")},
		map[string][]byte{"changed": v("3"), "deleted": nil, "back": v("2"), "new": v("2"), "brief": nil, "same": v("1")},
		map[string][]byte{"changed": v("4"), "brief": nil, "back": nil},
		map[string][]byte{"back": v("3")},
	)
	got := MustRead(t, s, "default")
	WantRecords(t, got, map[string]string{"kept": "k", "changed": "4", "back": "3", "new": "2", "same": "1"})
	// "same" was written twice; that it ended where it began is not tracked.
	if got.Changed != 5 || got.Total != 5 {
		t.Errorf("serial 2 has %d changed of %d, want 5 of 5", got.Changed, got.Total)
	}
	old, err := s.ReadSerial(t.Context(), "default", 1)
	if err != nil {
		t.Fatal(err)
	}
	WantRecords(t, old, map[string]string{"kept": "k", "changed": "1", "deleted": "1", "back": "1", "same": "1"})
	if err := s.Check(t.Context()); err != nil {
		t.Errorf("Check: %v", err)
	}
}

func testHistory(t *testing.T, at *Place) {
	// Each field is compared for itself, so that a failure names it.
	s := at.store(t)
	began := time.Now().Add(-time.Second)
	model := map[string]string{}
	want := []map[string]string{{}}
	for i := range 30 {
		changes := map[string][]byte{}
		for j := range 5 {
			key := fmt.Sprintf("k%d", (i*7+j*3)%11)
			if (i+j)%3 == 0 {
				changes[key] = nil
				delete(model, key)
			} else {
				changes[key] = fmt.Appendf(nil, "%d-%d", i, j)
				model[key] = string(changes[key])
			}
		}
		Apply(t, s, changes)
		want = append(want, maps.Clone(model))
	}

	history, err := s.History(t.Context(), "default")
	if err != nil || len(history) != 30 {
		t.Fatalf("History returns %d versions, error %v; want 30", len(history), err)
	}
	for serial, records := range want {
		got, err := s.ReadSerial(t.Context(), "default", int64(serial))
		if err != nil {
			t.Fatalf("ReadSerial(%d): %v", serial, err)
		}
		WantRecords(t, got, records)
		if serial == 0 {
			continue
		}
		v := history[serial-1]
		if diff := cmp.Diff(got.Version, v); diff != "" {
			t.Errorf("ReadSerial(%d) and History differ:\n%s", serial, diff)
		}
		if v.Serial != int64(serial) || v.Operation != "apply" || v.Owner != statestore.CurrentOwner() || v.Host != statestore.CurrentHost() ||
			v.Started.Before(began) || v.Finished.Before(v.Started) || v.Finished.After(time.Now()) || v.Unfinished() {
			t.Errorf("History has %+v for serial %d", v, serial)
		}
	}
	for _, serial := range []int64{-1, 31} {
		_, err := s.ReadSerial(t.Context(), "default", serial)
		if serialErr, ok := errors.AsType[*statestore.SerialError](err); !ok || serialErr.Newest != 30 {
			t.Errorf("ReadSerial(%d): error %v, want a SerialError with newest 30", serial, err)
		}
	}
}

func testUnfinished(t *testing.T, at *Place) {
	s := at.store(t)
	Apply(t, s, map[string][]byte{"a": []byte("1")})
	lock := MustLock(t, s, "default")
	w := MustBegin(t, lock, MustRead(t, s, "default").Base())
	MustWrite(t, w, map[string][]byte{"b": []byte("2")})
	MustUnlock(t, lock)

	got := MustRead(t, s, "default")
	WantRecords(t, got, map[string]string{"a": "1", "b": "2"})
	if !got.Unfinished() || got.Serial != 2 {
		t.Errorf("Read returns serial %d, unfinished %t; want 2, true", got.Serial, got.Unfinished())
	}
	Apply(t, s, map[string][]byte{"c": []byte("3")})
	got = MustRead(t, s, "default")
	WantRecords(t, got, map[string]string{"a": "1", "b": "2", "c": "3"})
	if got.Unfinished() || got.Serial != 3 {
		t.Errorf("Read returns serial %d, unfinished %t; want 3, false", got.Serial, got.Unfinished())
	}
	history, err := s.History(t.Context(), "default")
	if err != nil || len(history) != 3 || !history[1].Unfinished() {
		t.Errorf("History = %+v, %v; want three, the second unfinished", history, err)
	}
}

func testStale(t *testing.T, at *Place) {
	s := at.store(t)
	first := Apply(t, s, map[string][]byte{"a": []byte("1")})
	second := Apply(t, s, map[string][]byte{"a": []byte("2")})
	lock := MustLock(t, s, "default")
	for name, base := range map[string]statestore.Base{
		"older serial":       first,
		"newer serial":       {Lineage: second.Lineage, Serial: 3},
		"before the first":   {Lineage: second.Lineage, Serial: 0},
		"nothing":            {},
		"another lineage":    {Lineage: "other", Serial: 2},
		"no lineage":         {Lineage: "", Serial: 2},
		"new, other lineage": {Lineage: "other", Serial: 0},
		"negative, nonsense": {Lineage: second.Lineage, Serial: -1},
	} {
		_, err := lock.Begin(t.Context(), base, "apply", nil)
		stale, ok := errors.AsType[*statestore.StaleError](err)
		if !ok {
			t.Errorf("%s: Begin(%+v): error %v, want a StaleError", name, base, err)
			continue
		}
		if stale.Want != base || stale.Have != second {
			t.Errorf("%s: StaleError has want %+v have %+v", name, stale.Want, stale.Have)
		}
	}
	if got := MustRead(t, s, "default"); got.Base() != second || got.Unfinished() {
		t.Errorf("refused Begin changed the state to %+v", got.Version)
	}
}

func testAdoptLineage(t *testing.T, at *Place) {
	s := at.store(t)
	lock := MustLock(t, s, "default")
	if _, err := lock.Begin(t.Context(), statestore.Base{Lineage: "mine", Serial: 3}, "push", nil); !IsError[*statestore.StaleError](err) {
		t.Errorf("Begin on serial 3 of nothing: error %v, want a StaleError", err)
	}
	if got := MustBegin(t, lock, statestore.Base{Lineage: "mine", Serial: 0}).Base(); got != (statestore.Base{Lineage: "mine", Serial: 1}) {
		t.Errorf("first serial is %+v, want serial 1 of the lineage asked for", got)
	}
}

// A process that finds a serial finds its first changes.
func testFirstChanges(t *testing.T, at *Place) {
	s := at.store(t)
	first := Apply(t, s, map[string][]byte{"a": []byte("1"), "b": []byte("1")})
	lock := MustLock(t, s, "default")
	w, err := lock.Begin(t.Context(), first, "apply", map[string][]byte{"a": []byte("2"), "b": nil, "c": []byte("2")})
	if err != nil {
		t.Fatal(err)
	}
	got := MustRead(t, s, "default")
	WantRecords(t, got, map[string]string{"a": "2", "c": "2"})
	if got.Base() != w.Base() || !got.Unfinished() || got.Changed != 3 || got.Total != 2 {
		t.Errorf("the serial that was begun is %+v", got)
	}
	old, err := s.ReadSerial(t.Context(), "default", first.Serial)
	if err != nil {
		t.Fatal(err)
	}
	WantRecords(t, old, map[string]string{"a": "1", "b": "1"})
}

func testDeployments(t *testing.T, at *Place) {
	s := at.store(t)
	a := MustLock(t, s, "a")
	b := MustLock(t, s, "b")
	wa := MustBegin(t, a, statestore.Base{})
	wb := MustBegin(t, b, statestore.Base{})
	MustWrite(t, wa, map[string][]byte{"k": []byte("a")})
	MustWrite(t, wb, map[string][]byte{"k": []byte("b"), "l": []byte("b")})
	MustWrite(t, wa, map[string][]byte{"l": nil})
	if wa.Base().Lineage == wb.Base().Lineage {
		t.Error("two deployments share a lineage")
	}
	WantRecords(t, MustRead(t, s, "a"), map[string]string{"k": "a"})
	WantRecords(t, MustRead(t, s, "b"), map[string]string{"k": "b", "l": "b"})
	WantRecords(t, MustRead(t, s, "c"), map[string]string{})
	if _, err := s.Lock(t.Context(), "", statestore.LockRequest{}); err == nil {
		t.Error("Lock accepts a deployment without a name")
	}
	if got, err := s.Deployments(t.Context()); err != nil || !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("Deployments = %v, %v", got, err)
	}
	if err := wb.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := map[string]statestore.Newest{"a": {Base: wa.Base()}, "b": {Base: wb.Base(), Finished: true}}
	if got, err := s.Newest(t.Context()); err != nil || !maps.Equal(got, want) {
		t.Errorf("Newest = %v, %v; want %v", got, err, want)
	}
}

func testSecret(t *testing.T, at *Place) {
	s := at.store(t)
	read := func(deployment string) string {
		t.Helper()
		secret, err := s.Secret(t.Context(), deployment)
		if err != nil {
			t.Fatal(err)
		}
		return string(secret)
	}
	makeSecret := func(deployment string) string {
		t.Helper()
		lock, err := s.Lock(t.Context(), deployment, statestore.LockRequest{Operation: "test"})
		if err != nil {
			t.Fatal(err)
		}
		secret, err := lock.Secret(t.Context())
		if err := errors.Join(err, lock.Unlock(t.Context())); err != nil {
			t.Fatal(err)
		}
		return string(secret)
	}
	if got := read("a"); got != "" {
		t.Errorf("Secret of a state that is not there: got %q", got)
	}
	first := makeSecret("a")
	if other := makeSecret("b"); len(first) < 16 || first == other {
		t.Errorf("secrets are %q and %q, want two that nobody guesses", first, other)
	}
	s = at.store(t)
	if got := []string{read("a"), makeSecret("a"), read("never locked")}; !slices.Equal(got, []string{first, first, ""}) {
		t.Errorf("secrets of another program: got %q, want %q twice, and none", got, first)
	}
	for _, deployment := range []string{"a", "new"} {
		lock := MustLock(t, s, deployment)
		if err := errors.Join(lock.AdoptSecret(t.Context(), []byte("adopted")), lock.Unlock(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	if got := []string{read("a"), read("new")}; !slices.Equal(got, []string{first, "adopted"}) {
		t.Errorf("secrets after AdoptSecret: got %q, want the one that was there, and the adopted one", got)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func testConcurrentWrites(t *testing.T, at *Place) {
	s := at.store(t)
	lock := MustLock(t, s, "default")
	w := MustBegin(t, lock, statestore.Base{})
	want := map[string]string{}
	var wg sync.WaitGroup
	for i := range 20 {
		for j := range 10 {
			want[fmt.Sprintf("%d-%d", i, j)] = "x"
		}
		wg.Go(func() {
			for j := range 10 {
				key := fmt.Sprintf("%d-%d", i, j)
				if err := w.Write(t.Context(), map[string][]byte{key: []byte("x"), "shared": []byte(key)}); err != nil {
					t.Error(err)
				}
				// The changes of a call of Write that has returned are there for every reader.
				if got, err := s.Read(t.Context(), "default"); err != nil || string(got.Records[key]) != "x" {
					t.Errorf("Read after Write of %s: %v", key, err)
				}
			}
		})
	}
	testenv.Within(t, "everybody has written", wg.Wait)
	got := MustRead(t, s, "default")
	if len(got.Records["shared"]) == 0 {
		t.Error("shared record is missing")
	}
	delete(got.Records, "shared")
	WantRecords(t, got, want)
	if got.Changed != 201 || got.Total != 201 {
		t.Errorf("%d changed of %d, want 201 of 201", got.Changed, got.Total)
	}
}

func testInterrupt(t *testing.T, at *Place) {
	s := at.store(t)
	lock := MustLock(t, s, "default")
	w := MustBegin(t, lock, statestore.Base{})
	stop := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	if err := w.Write(ctx, map[string][]byte{"a": []byte("1")}); err != nil {
		t.Errorf("Write: %v", err)
	}
	if err := w.Commit(ctx); err != nil {
		t.Errorf("Commit: %v", err)
	}
	if _, err := lock.Begin(ctx, w.Base(), "apply", nil); !errors.Is(err, stop) {
		t.Errorf("Begin: error %v, want the interrupt", err)
	}
	if err := lock.Unlock(ctx); err != nil {
		t.Errorf("Unlock: %v", err)
	}
	if _, err := s.Lock(ctx, "default", statestore.LockRequest{}); !errors.Is(err, stop) {
		t.Errorf("Lock: error %v, want the interrupt", err)
	}
	if _, err := s.Read(ctx, "default"); !errors.Is(err, stop) {
		t.Errorf("Read: error %v, want the interrupt", err)
	}
	WantRecords(t, MustRead(t, s, "default"), map[string]string{"a": "1"})
}

// A process that is killed while it writes leaves every record it was told is
// stored (rule S1 of package statestore), and a store that is whole.
func testKilledWriter(t *testing.T, at *Place) {
	s := at.store(t)
	Apply(t, s, map[string][]byte{"before": []byte("x")})
	for round := range int64(3) {
		c := StartChild(t, "write", at.location)
		var stored []string
		for range 20 + round*7 {
			stored = append(stored, c.Line(t))
		}
		c.Kill(t)
		for c.Out.Scan() { // printed, but not yet read, when it was killed
			stored = append(stored, c.Out.Text())
		}

		fresh := at.store(t)
		if err := fresh.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := MustRead(t, fresh, "default")
		if !got.Unfinished() || got.Serial != 2+round {
			t.Errorf("serial %d, unfinished %t; want %d, true", got.Serial, got.Unfinished(), 2+round)
		}
		for _, key := range append(stored, "before") {
			want := "x"
			if key != "before" {
				want = string(killedValue(key))
			}
			if string(got.Records[key]) != want {
				t.Errorf("record %s was stored but is not there", key)
			}
		}
		if statestore.CurrentProcess().Scope == "" {
			info, err := Holder(t.Context(), fresh, "default")
			if err != nil {
				t.Fatal(err)
			}
			if err := fresh.ForceUnlock(t.Context(), "default", info.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	Apply(t, s, map[string][]byte{"after": []byte("x")})
}

func testChanges(t *testing.T, at *Place) {
	s := at.store(t)
	Apply(t, s, map[string][]byte{"a": []byte("1"), "b": []byte("2"), "e": {}})
	Apply(t, s, map[string][]byte{"a": []byte("9"), "b": nil, "c": []byte("3")})
	old, err := s.ReadSerial(t.Context(), "default", 1)
	if err != nil {
		t.Fatal(err)
	}
	changes := statestore.Changes(MustRead(t, s, "default").Records, old.Records)
	want := map[string][]byte{"a": []byte("1"), "b": []byte("2"), "c": nil}
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Errorf("Changes (-want +got):\n%s", diff)
	}
	Apply(t, s, changes)
	WantRecords(t, MustRead(t, s, "default"), map[string]string{"a": "1", "b": "2", "e": ""})
}

func testClosed(t *testing.T, at *Place) {
	s, err := at.open(at.location)
	if err != nil {
		t.Fatal(err)
	}
	lock := MustLock(t, s, "default")
	w := MustBegin(t, lock, statestore.Base{})
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, readErr := s.Read(t.Context(), "default")
	_, lockErr := s.Lock(t.Context(), "default", statestore.LockRequest{})
	for name, err := range map[string]error{
		"Read": readErr, "Lock": lockErr,
		"Write":  w.Write(t.Context(), map[string][]byte{"a": nil}),
		"Unlock": lock.Unlock(t.Context()),
	} {
		if !errors.Is(err, statestore.ErrClosed) {
			t.Errorf("%s after Close: error %v, want ErrClosed", name, err)
		}
	}
}

func testRevisions(t *testing.T, at *Place) {
	s := at.store(t)
	v := func(s string) []byte { return []byte(s) }
	keys := []string{"kept", "changed", "deleted", "back", "brief", "empty", "never"}
	if past, err := s.Revisions(t.Context(), "default", keys); err != nil || len(past) != 0 {
		t.Fatalf("Revisions of nothing = %v, %v; want none", past, err)
	}
	Apply(t, s, map[string][]byte{"kept": v("k"), "changed": v("1"), "deleted": v("1"), "back": v("1")})
	Apply(t, s,
		map[string][]byte{"changed": v("2"), "deleted": nil, "brief": v("1"), "empty": {}},
		map[string][]byte{"changed": v("3"), "brief": nil})
	Apply(t, s, map[string][]byte{"changed": v("4"), "back": nil})
	Apply(t, s, map[string][]byte{"changed": v("5"), "back": v("1"), "empty": nil}, map[string][]byte{"changed": v("4")})
	got, err := s.Revisions(t.Context(), "default", keys)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]statestore.Revisions{
		"kept":    {{Serial: 1, Value: v("k")}},
		"changed": {{Serial: 1, Value: v("1")}, {Serial: 2, Value: v("3")}, {Serial: 3, Value: v("4")}},
		"deleted": {{Serial: 1, Value: v("1")}, {Serial: 2}},
		"back":    {{Serial: 1, Value: v("1")}, {Serial: 3}, {Serial: 4, Value: v("1")}},
		"empty":   {{Serial: 2, Value: []byte{}}, {Serial: 4}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Revisions (-want +got):\n%s", diff)
	}
}
