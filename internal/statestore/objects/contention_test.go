// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objects

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/objectstore"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/testenv/storetest"
)

// testContention has several writers, each with a store of its own as if it was a process, count in
// one record. Each count that was acknowledged must be there at the end, and each serial is one
// more than the one before.
func testContention(t *testing.T, location string, writers, rounds int) {
	t.Helper()
	var counted atomic.Int64
	var all sync.WaitGroup
	for i := range writers {
		s := storetest.OpenWith(t, open, location)
		all.Go(func() {
			for done := 0; done < rounds && !t.Failed(); {
				counts, err := count(t, s, fmt.Sprint("writer-", i))
				counted.Add(int64(counts))
				done += counts
				if err != nil && !storetest.IsError[*statestore.LockedError](err) {
					t.Errorf("writer %d: %v", i, err)
				}
			}
		})
	}
	all.Wait()
	s := storetest.OpenWith(t, open, location)
	history, err := s.History(t.Context(), "default")
	if err != nil {
		t.Fatal(err)
	}
	if want := int64(writers * rounds); int64(len(history)) != want || counted.Load() != want {
		t.Errorf("%d serials, %d were acknowledged, want %d", len(history), counted.Load(), want)
	}
	if got := string(storetest.MustRead(t, s, "default").Records["count"]); got != fmt.Sprint(len(history)) {
		t.Errorf("the count is %s after %d serials", got, len(history))
	}
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// count is an operation: it takes the lock and adds one. It returns 1 if it was acknowledged.
func count(t *testing.T, s statestore.Store, owner string) (counts int, err error) {
	t.Helper()
	ctx := t.Context()
	lock, err := s.Lock(ctx, "default", statestore.LockRequest{Operation: "count", Owner: owner})
	if err != nil {
		time.Sleep(time.Millisecond) //nolint:forbidigo // as a command that is refused is run again later
		return 0, err
	}
	defer func() { err = errors.Join(err, lock.Unlock(ctx)) }()
	snapshot, err := s.Read(ctx, "default")
	if err != nil {
		return 0, err
	}
	w, err := lock.Begin(ctx, snapshot.Base(), "count", map[string][]byte{owner: []byte(lock.ID())})
	if err != nil {
		return 0, err
	}
	before, _ := strconv.Atoi(string(snapshot.Records["count"])) // none is 0
	if err := w.Write(ctx, map[string][]byte{"count": fmt.Append(nil, before+1)}); err != nil {
		return 0, err
	}
	return 1, w.Commit(ctx)
}

func TestContention(t *testing.T) { testContention(t, newDirectory(t), 8, 20) }

// racingBucket calls a function once, after its first list.
type racingBucket struct {
	objectstore.Bucket
	race sync.Once
	run  func()
}

func (b *racingBucket) List(ctx context.Context, prefix string, token []byte, most int) ([]string, []byte, error) {
	names, next, err := b.Bucket.List(ctx, prefix, token, most)
	b.race.Do(b.run)
	return names, next, err
}

// A state that is begun after a reader has looked for its log, and before the reader looks into the
// catalog, is there and not damaged.
func TestBegunWhileReading(t *testing.T) {
	location := newDirectory(t)
	reader := storetest.OpenWith(t, open, location).(*store)
	race := func() {
		storetest.Apply(t, storetest.OpenWith(t, open, location), map[string][]byte{"key": []byte("value")})
	}
	reader.Wrap = func(b objectstore.Bucket) objectstore.Bucket { return &racingBucket{Bucket: b, run: race} }
	if snapshot := storetest.MustRead(t, reader, "default"); string(snapshot.Records["key"]) != "value" {
		t.Errorf("got %q, want the record", snapshot.Records)
	}
}

// testDisjoint has several writers, each with a part of its own, write at the same time into one
// deployment, and one that takes the whole of it now and then. What was acknowledged must be there
// at the end, no count goes back from serial to serial, and while the whole is locked nothing
// changes.
func testDisjoint(t *testing.T, location string, writers, rounds int) {
	t.Helper()
	var all sync.WaitGroup
	want := map[string]string{"whole": fmt.Sprint(rounds)}
	for i := range writers {
		s := storetest.OpenWith(t, open, location)
		part := fmt.Sprint("part-", i)
		want[part] = fmt.Sprint(rounds * disjointWrites)
		all.Go(func() {
			for round := 0; round < rounds && !t.Failed(); round++ {
				if err := countPart(t, s, part); err != nil {
					t.Errorf("%s, round %d: %v", part, round, err)
				}
			}
		})
	}
	s := storetest.OpenWith(t, open, location)
	all.Go(func() {
		for round := 0; round < rounds && !t.Failed(); round++ {
			if err := countWhole(t, s); err != nil {
				t.Errorf("whole, round %d: %v", round, err)
			}
		}
	})
	all.Wait()
	s = storetest.OpenWith(t, open, location)
	storetest.WantRecords(t, storetest.MustRead(t, s, "default"), want)
	checkCounts(t, s, rounds)
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// disjointWrites is how often an operation on a part writes.
const disjointWrites = 4

// lockWhenFree takes a lock as a command does that waits for it.
func lockWhenFree(t *testing.T, s statestore.Store, request statestore.LockRequest) (statestore.Lock, error) {
	t.Helper()
	for {
		lock, err := s.Lock(t.Context(), "default", request)
		if !storetest.IsError[*statestore.LockedError](err) {
			return lock, err
		}
		time.Sleep(time.Millisecond) //nolint:forbidigo // as a command that is refused is run again later
	}
}

// countPart is an operation that counts in the record of a part.
func countPart(t *testing.T, s statestore.Store, part string) (err error) {
	t.Helper()
	lock, err := lockWhenFree(t, s, statestore.LockRequest{Operation: part, Parts: []statestore.Part{
		{Path: []string{part}, Exclusive: true}, {Path: []string{"read by all"}},
	}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock(t.Context())) }()
	snapshot, w, err := beginNewest(t, s, lock, part)
	if err != nil {
		return err
	}
	before, _ := strconv.Atoi(string(snapshot.Records[part])) // none is 0
	for i := range disjointWrites {
		if err := w.Write(t.Context(), map[string][]byte{part: fmt.Append(nil, before+1+i)}); err != nil {
			return err
		}
	}
	return w.Commit(t.Context())
}

// beginNewest begins a serial on the newest one, whoever has opened that meanwhile.
func beginNewest(
	t *testing.T, s statestore.Store, lock statestore.Lock, operation string,
) (snapshot *statestore.Snapshot, w statestore.Writer, err error) {
	t.Helper()
	for {
		if snapshot, err = s.Read(t.Context(), "default"); err != nil {
			return nil, nil, err
		}
		w, err = lock.Begin(t.Context(), snapshot.Base(), operation, nil)
		if !storetest.IsError[*statestore.StaleError](err) {
			return snapshot, w, err
		}
	}
}

// countWhole is an operation on the whole deployment, which nobody else changes meanwhile.
func countWhole(t *testing.T, s statestore.Store) (err error) {
	t.Helper()
	lock, err := lockWhenFree(t, s, statestore.LockRequest{Operation: "whole"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock(t.Context())) }()
	before, err := s.Read(t.Context(), "default")
	if err != nil {
		return err
	}
	count, _ := strconv.Atoi(string(before.Records["whole"])) // none is 0
	before.Records["whole"] = fmt.Append(nil, count+1)
	w, err := lock.Begin(t.Context(), before.Base(), "whole", map[string][]byte{"whole": before.Records["whole"]})
	if err == nil {
		err = w.Commit(t.Context())
	}
	if err != nil {
		return err
	}
	after, err := s.Read(t.Context(), "default")
	if err != nil {
		return err
	}
	if diff := cmp.Diff(before.Records, after.Records); diff != "" || after.Serial != before.Serial+1 {
		return fmt.Errorf("serial %d after %d, changed meanwhile (-before +after):\n%s", after.Serial, before.Serial, diff)
	}
	return nil
}

// checkCounts reads all serials: each is of one operation, finished, and changes the record of that
// alone, which never goes back.
func checkCounts(t *testing.T, s statestore.Store, rounds int) {
	t.Helper()
	history, err := s.History(t.Context(), "default")
	if err != nil {
		t.Fatal(err)
	}
	before := map[string][]byte{}
	operations := map[string]bool{}
	for _, v := range history {
		snapshot, err := s.ReadSerial(t.Context(), "default", v.Serial)
		if err != nil || v.Unfinished() || v.Total != int64(len(snapshot.Records)) {
			t.Errorf("serial %+v, error %v", v, err)
			continue
		}
		changes := statestore.Changes(before, snapshot.Records)
		if v.Changed != int64(len(changes)) {
			t.Errorf("serial %+v has changed %v", v, changes)
		}
		for key := range changes {
			was, _ := strconv.Atoi(string(before[key])) // none is 0
			is, err := strconv.Atoi(string(snapshot.Records[key]))
			if key != v.Operation || is <= was || err != nil {
				t.Errorf("serial %+v has changed %s from %d to %d, error %v", v, key, was, is, err)
			}
		}
		before = snapshot.Records
		operations[v.Operation] = true
	}
	if len(history) < rounds*len(operations) {
		t.Errorf("%d serials of %d operations in %d rounds", len(history), len(operations), rounds)
	}
}

func TestDisjointParts(t *testing.T) { testDisjoint(t, newDirectory(t), 4, 10) }
