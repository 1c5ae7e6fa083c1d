// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objects

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/objectstore"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/testenv/storetest"
)

// countingBucket counts requests to another bucket.
type countingBucket struct {
	objectstore.Bucket
	requests atomic.Int64
}

func (b *countingBucket) Read(ctx context.Context, name string) ([]byte, error) {
	b.requests.Add(1)
	return b.Bucket.Read(ctx, name)
}

func (b *countingBucket) List(ctx context.Context, prefix string, token []byte, most int) ([]string, []byte, error) {
	b.requests.Add(1)
	return b.Bucket.List(ctx, prefix, token, most)
}

func (b *countingBucket) Create(ctx context.Context, name string, content []byte) error {
	b.requests.Add(1)
	return b.Bucket.Create(ctx, name, content)
}

func (b *countingBucket) Put(ctx context.Context, name string, content []byte) error {
	b.requests.Add(1)
	return b.Bucket.Put(ctx, name, content)
}

func (b *countingBucket) Modified(ctx context.Context, name string) (time.Time, error) {
	b.requests.Add(1)
	return b.Bucket.Modified(ctx, name)
}

func (b *countingBucket) Remove(ctx context.Context, name string) error {
	b.requests.Add(1)
	return b.Bucket.Remove(ctx, name)
}

// openCounting opens a store that knows nothing yet, and counts.
func openCounting(t *testing.T, location string) (statestore.Store, *countingBucket) {
	t.Helper()
	s := storetest.OpenWith(t, open, location).(*store)
	counting := &countingBucket{}
	s.Wrap = func(b objectstore.Bucket) objectstore.Bucket {
		counting.Bucket = b
		return counting
	}
	return s, counting
}

// The requests for reading a state, and those of an operation, do not grow with the history.
func TestRequests(t *testing.T) {
	location := newDirectory(t)
	value := bytes.Repeat([]byte("x"), 1000)
	for serial := range 300 {
		s, operation := openCounting(t, location)
		storetest.Apply(t, s, map[string][]byte{fmt.Sprint("key-", serial): value})
		// The catalog, the list, a snapshot with the entries since, five entries, and a snapshot.
		if got := operation.requests.Load(); got > manyEntries+16 {
			t.Fatalf("operation %d took %d requests", serial, got)
		}
	}
	s, reading := openCounting(t, location)
	if snapshot := storetest.MustRead(t, s, "default"); len(snapshot.Records) != 300 || reading.requests.Load() > manyEntries+16 {
		t.Errorf("%d records in %d requests", len(snapshot.Records), reading.requests.Load())
	}
	for range 3 { // that nobody has changed meanwhile
		storetest.MustRead(t, s, "default")
	}
	if got := reading.requests.Load(); got > manyEntries+16+3 {
		t.Errorf("%d requests after three times more", got)
	}
}

// The only holder of a lock makes as few requests whether that is of the whole or of parts, also
// where others have locks of other parts.
func TestRequestsOfOperation(t *testing.T) {
	location := newDirectory(t)
	storetest.Apply(t, storetest.OpenWith(t, open, location), map[string][]byte{"a": []byte("0")})
	for _, test := range []struct {
		name   string
		parts  []statestore.Part
		beside []statestore.Part
	}{
		{name: "whole"},
		{name: "parts", parts: []statestore.Part{{Path: []string{"a"}, Exclusive: true}, {Path: []string{"b"}}}},
		{
			name:   "parts beside others",
			parts:  []statestore.Part{{Path: []string{"a"}, Exclusive: true}},
			beside: []statestore.Part{{Path: []string{"b"}, Exclusive: true}},
		},
	} {
		s, counting := openCounting(t, location)
		storetest.MustRead(t, s, "default") // whatever is there
		if test.beside != nil {
			other := storetest.OpenWith(t, open, location)
			if _, err := other.Lock(t.Context(), "default", statestore.LockRequest{Parts: test.beside}); err != nil {
				t.Fatal(err)
			}
			storetest.MustRead(t, s, "default")
		}
		counting.requests.Store(0)
		wantRequests := func(step string, want int64) {
			t.Helper()
			if got := counting.requests.Swap(0); got != want {
				t.Errorf("%s: %s took %d requests, want %d", test.name, step, got, want)
			}
		}
		lock, err := s.Lock(t.Context(), "default", statestore.LockRequest{Parts: test.parts})
		if err != nil {
			t.Fatal(err)
		}
		wantRequests("Lock", 4) // the list of catalogs, the newest, the list of the log, and the entry
		base := storetest.MustRead(t, s, "default").Base()
		wantRequests("Read", 1)
		w := storetest.MustBegin(t, lock, base)
		wantRequests("Begin", 1)
		storetest.MustWrite(t, w, map[string][]byte{"a": fmt.Append(nil, base.Serial)})
		wantRequests("Write", 1)
		storetest.MustWrite(t, w, map[string][]byte{"a": fmt.Append(nil, base.Serial)})
		wantRequests("Write of the same", 0)
		if err := w.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantRequests("Commit", 1)
		if _, err := s.Lock(t.Context(), "default", statestore.LockRequest{}); !storetest.IsError[*statestore.LockedError](err) {
			t.Fatalf("got error %v, want that of a lock", err)
		}
		wantRequests("Lock that is refused", 4) // two lists, no lease, and the entry of the holder
		storetest.MustUnlock(t, lock)
		wantRequests("Unlock", 1)
	}
}
