// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objects

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/testenv/storetest"
)

// countingBucket counts requests to another bucket.
type countingBucket struct {
	bucket
	requests atomic.Int64
}

func (b *countingBucket) read(ctx context.Context, name string) ([]byte, error) {
	b.requests.Add(1)
	return b.bucket.read(ctx, name)
}

func (b *countingBucket) list(ctx context.Context, prefix string, token []byte, most int) ([]string, []byte, error) {
	b.requests.Add(1)
	return b.bucket.list(ctx, prefix, token, most)
}

func (b *countingBucket) create(ctx context.Context, name string, content []byte) error {
	b.requests.Add(1)
	return b.bucket.create(ctx, name, content)
}

func (b *countingBucket) put(ctx context.Context, name string, content []byte) error {
	b.requests.Add(1)
	return b.bucket.put(ctx, name, content)
}

// openCounting opens a store that knows nothing yet, and counts.
func openCounting(t *testing.T, location string) (statestore.Store, *countingBucket) {
	t.Helper()
	s := storetest.OpenWith(t, open, location).(*store)
	counting := &countingBucket{bucket: &directoryBucket{s.bucket}}
	s.place.mu.bucket = counting
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
