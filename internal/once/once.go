// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package once keeps values that several ask for, each computed once.
//
// Rules:
//
//	O1. The first caller computes the value, in its own goroutine. Others that ask meanwhile wait for
//	    it, no longer than their context lasts.
//	O2. An error, or a panic, is for the caller that has computed: it may be about that one alone, as
//	    when its context has ended. Those that have waited compute on their own, one after the other
//	    until one has a value.
//	O3. A value stays. The key therefore has everything that the value depends on.
package once

import (
	"context"
	"sync"
)

// Map has values by keys. The zero value is empty. It is safe for concurrent use.
type Map[K comparable, V any] struct {
	mu struct {
		sync.Mutex
		entries map[K]*entry[V]
	}
}

// entry is a value that is computed, or was.
type entry[V any] struct {
	done  chan struct{} // closed when it is decided
	value V
	found bool // false after an error; the map has no such entry then
}

// Get returns the value for a key, computed by the function if there is none yet.
//
// Errors: that of the function if this call has computed, or the cause of the end of ctx.
func (m *Map[K, V]) Get(ctx context.Context, key K, compute func() (V, error)) (V, error) {
	for {
		e, isNew := m.entry(key)
		if isNew {
			return m.fill(key, e, compute)
		}
		select {
		case <-e.done:
			if e.found {
				return e.value, nil
			}
		case <-ctx.Done():
			var none V
			return none, context.Cause(ctx)
		}
	}
}

// entry returns the entry for a key. The caller decides one that is new.
func (m *Map[K, V]) entry(key K) (e *entry[V], isNew bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.mu.entries[key]; e != nil {
		return e, false
	}
	if m.mu.entries == nil {
		m.mu.entries = map[K]*entry[V]{}
	}
	e = &entry[V]{done: make(chan struct{})}
	m.mu.entries[key] = e
	return e, true
}

func (m *Map[K, V]) fill(key K, e *entry[V], compute func() (V, error)) (V, error) {
	defer func() { // also after a panic
		if !e.found {
			m.mu.Lock()
			delete(m.mu.entries, key)
			m.mu.Unlock()
		}
		close(e.done)
	}()
	value, err := compute()
	if err == nil {
		e.value, e.found = value, true
	}
	return value, err
}
