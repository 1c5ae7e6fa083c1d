// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package handle keeps the objects that clients of the RPC API have opened, by the numbers that
// clients know them by.
//
// A handle of another kind than the one that is asked for is like one that does not exist. Numbers
// are not used again.
package handle

import (
	"slices"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Table has the handles of one server. The zero value is empty. It is safe for concurrent use.
type Table struct {
	mu      sync.Mutex
	last    int64
	entries map[int64]entry
}

type entry struct {
	value any
	holds []int64 // handles that cannot be closed before this one
}

// Open returns a new handle for a value, which is never 0. The handles that it holds cannot be
// closed before it.
func Open[T any](t *Table, value T, holds ...int64) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.entries == nil {
		t.entries = map[int64]entry{}
	}
	t.last++
	t.entries[t.last] = entry{value, holds}
	return t.last
}

// Get returns the value of a handle. Its name, such as "source bundle", is for the error.
//
// Errors: InvalidArgument.
func Get[T any](t *Table, handle int64, what string) (T, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return get[T](t, handle, what)
}

func get[T any](t *Table, handle int64, what string) (T, error) {
	value, ok := t.entries[handle].value.(T)
	if !ok {
		return value, status.Errorf(codes.InvalidArgument, "there is no %s with handle %d", what, handle)
	}
	return value, nil
}

// Close removes a handle and returns its value.
//
// Errors: InvalidArgument, also for one that another handle holds.
func Close[T any](t *Table, handle int64, what string) (T, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	value, err := get[T](t, handle, what)
	if err != nil {
		return value, err
	}
	for _, other := range t.entries {
		if slices.Contains(other.holds, handle) {
			var none T
			return none, status.Errorf(codes.InvalidArgument, "the %s with handle %d is in use: close the handles that were opened with it first",
				what, handle)
		}
	}
	delete(t.entries, handle)
	return value, nil
}

// Len returns the number of open handles.
func (t *Table) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.entries)
}
