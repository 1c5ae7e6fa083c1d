// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package calls

import (
	"slices"
	"sync"
	"time"
)

// The times between looks at a call that no worker has taken. There may be many of them: so the
// records get no more than two looks a second at all of them together, up to 30 calls.
const (
	leastIdle = 3 * time.Second
	mostIdle  = 15 * time.Second
	idleShare = mostIdle / 30
)

// idleCalls are those of a client that no worker has taken, in the order in which queues are
// expected to give them to workers.
type idleCalls struct {
	mu struct {
		sync.Mutex
		calls []*following
	}
}

// wait adds a call, or leaves it in its place, and has it looked at after a while, at most this
// one.
func (i *idleCalls) wait(f *following, most time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !slices.Contains(i.mu.calls, f) {
		i.mu.calls = append(i.mu.calls, f)
	}
	f.soon = false
	f.look.Reset(min(max(leastIdle, time.Duration(len(i.mu.calls))*idleShare), mostIdle, most))
}

// remove removes a call, if it is one of them.
func (i *idleCalls) remove(f *following) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.mu.calls = slices.DeleteFunc(i.mu.calls, func(other *following) bool { return other == f })
}

// next has the next call looked at soon, since a worker of the pool may be free.
func (i *idleCalls) next(pool string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, f := range i.mu.calls {
		if f.call.Pool == pool && !f.soon {
			f.soon = true
			f.look.Reset(reportTime)
			return
		}
	}
}
