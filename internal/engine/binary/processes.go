// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"context"
	"slices"
	"sync"
)

// processLimit limits how many processes run at the same time. The zero value allows none until it is raised. It is safe for concurrent use.
//
// Who holds a place waits for nothing but its process, so that all who wait get one.
type processLimit struct {
	mu struct {
		sync.Mutex
		limit, running int
		waiting        []chan struct{} // those that came first, first; closed when they have their place
	}
}

// raise allows at least so many.
func (l *processLimit) raise(limit int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.limit = max(l.mu.limit, limit)
	l.admit()
}

// admit gives the free places to those that wait. The lock is held.
func (l *processLimit) admit() {
	for l.mu.running < l.mu.limit && len(l.mu.waiting) > 0 {
		l.mu.running++
		close(l.mu.waiting[0])
		l.mu.waiting = l.mu.waiting[1:]
	}
}

// acquire waits for a place. The caller releases it once.
//
// Errors: the cause of the end of ctx.
func (l *processLimit) acquire(ctx context.Context) (release func(), err error) {
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

func (l *processLimit) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.running--
	l.admit()
}
