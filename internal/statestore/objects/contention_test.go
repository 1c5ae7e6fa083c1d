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
	bucket
	race sync.Once
	run  func()
}

func (b *racingBucket) list(ctx context.Context, prefix string, token []byte, most int) ([]string, []byte, error) {
	names, next, err := b.bucket.list(ctx, prefix, token, most)
	b.race.Do(b.run)
	return names, next, err
}

// A state that is begun after a reader has looked for its log, and before the reader looks into the
// catalog, is there and not damaged.
func TestBegunWhileReading(t *testing.T) {
	location := newDirectory(t)
	reader := storetest.OpenWith(t, open, location).(*store)
	reader.place.mu.bucket = &racingBucket{bucket: &directoryBucket{reader.bucket}, run: func() {
		storetest.Apply(t, storetest.OpenWith(t, open, location), map[string][]byte{"key": []byte("value")})
	}}
	if snapshot := storetest.MustRead(t, reader, "default"); string(snapshot.Records["key"]) != "value" {
		t.Errorf("got %q, want the record", snapshot.Records)
	}
}
