// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package limiter limits how much is done at the same time, with a limit that may be raised
// meanwhile.
package limiter

import (
	"context"
	"slices"
	"sync"
)

// Limiter gives places to those that wait, in the order in which they came. The zero value has none
// until it is raised. It is safe for concurrent use.
//
// A caller that holds a place must not wait for another one of the same limiter, so that all
// waiting ones get theirs.
type Limiter struct {
	mu struct {
		sync.Mutex
		limit, taken int
		waiting      []chan struct{} // those that came first, first; closed when they have their place
	}
}

// Raise has at least so many places. It takes none away.
func (l *Limiter) Raise(limit int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.limit = max(l.mu.limit, limit)
	l.admit()
}

// admit gives the free places to those that wait. The lock is held.
func (l *Limiter) admit() {
	for l.mu.taken < l.mu.limit && len(l.mu.waiting) > 0 {
		l.mu.taken++
		close(l.mu.waiting[0])
		l.mu.waiting = l.mu.waiting[1:]
	}
}

// Acquire waits for a place. The caller releases it once.
//
// Errors: the cause of the end of ctx.
func (l *Limiter) Acquire(ctx context.Context) (release func(), err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	turn := make(chan struct{})
	l.mu.Lock()
	l.mu.waiting = append(l.mu.waiting, turn)
	l.admit()
	l.mu.Unlock()
	select {
	case <-turn:
		return l.release, nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	at := slices.Index(l.mu.waiting, turn)
	if at >= 0 {
		l.mu.waiting = slices.Delete(l.mu.waiting, at, at+1)
	}
	l.mu.Unlock()
	if at < 0 { // it has got its place meanwhile
		l.release()
	}
	return nil, context.Cause(ctx)
}

func (l *Limiter) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.taken--
	l.admit()
}
