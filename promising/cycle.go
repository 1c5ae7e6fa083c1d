// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package promising

import (
	"context"
	"math"
	"runtime"
	"sync/atomic"
)

// block waits until p settles; the error is about the waiting, not the result.
func (t *task) block(ctx context.Context, p *promise) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	t.beginAwait(p)
	defer t.endAwait()

	// Every task marks first and looks second. Of the tasks that close a cycle
	// together, the last to mark therefore sees all of it.
	t.breakCycle(p)

	settled := p.waitChannel()
	if settled == nil {
		return nil
	}
	select {
	case <-settled:
		return nil
	case <-ctx.Done():
		if p.settled() {
			return nil
		}
		return context.Cause(ctx) // rule P8
	}
}

func (t *task) beginAwait(p *promise) {
	t.awaits.Add(1) // before the mark; see chain.holds
	if !t.awaiting.CompareAndSwap(nil, p) {
		panic("promising: task awaits promise " + PromiseID{p}.String() + " while it awaits another (rule P1)")
	}
}

func (t *task) endAwait() { t.awaiting.Store(nil) }

// breakCycle fails all promises of the cycle that t closes by awaiting p, if it does.
func (t *task) breakCycle(p *promise) {
	for {
		length := t.reaches(p)
		if length == 0 {
			return
		}
		// reaches saw the steps of the chain one after the other; a participant may have been freed by
		// its context meanwhile. Only a cycle seen twice is one.
		if c := t.trace(p, length); c.holds() {
			c.fail()
			return
		}
	}
}

// reaches returns how many promises the chain of waits from p to t has; 0 if it
// does not lead to t.
func (t *task) reaches(p *promise) int {
	for steps := 1; ; steps++ {
		owner, next := p.follow()
		if owner == t {
			return steps
		}
		if next == nil {
			return 0
		}
		p = next
		// The chain may lead into a cycle that t is not on. One of its own tasks is
		// about to fail it, which ends the walk; let that task run.
		if steps%1024 == 0 {
			runtime.Gosched()
		}
	}
}

// follow returns the task responsible for p and the promise which that task
// awaited while it was responsible; nil each if there is none.
func (p *promise) follow() (owner *task, awaited *promise) {
	for !p.settled() {
		owner = p.responsible.Load()
		if owner == nil {
			return nil, nil // being resolved
		}
		awaited = owner.awaiting.Load()
		if p.responsible.Load() == owner {
			return owner, awaited
		}
	}
	return nil, nil
}

// chain is a cycle as it was seen: the task of each link is responsible for the
// promise of that link and awaits the promise of the next, the last one of the first.
type chain []link

type link struct {
	promise *promise
	owner   *task
	wait    uint64 // owner.awaits before its mark was read
}

// trace walks length steps like reaches and returns the chain of them; nil if the walk does not
// lead to t any more.
func (t *task) trace(p *promise, length int) chain {
	c := make(chain, 0, length)
	for p != nil && len(c) < length {
		owner := p.responsible.Load()
		if owner == nil {
			return nil
		}
		c = append(c, link{promise: p, owner: owner, wait: owner.awaits.Load()})
		if owner == t {
			return c
		}
		p = owner.awaiting.Load()
	}
	return nil
}

// holds reports whether every link is still as it was traced. As each was read before
// the first is read again here, and a changed link never looks the same again, all
// of them then held together in between.
func (c chain) holds() bool {
	for i, l := range c {
		next := c[(i+1)%len(c)].promise
		if l.promise.settled() ||
			l.promise.responsible.Load() != l.owner ||
			l.owner.awaiting.Load() != next ||
			l.owner.awaits.Load() != l.wait {
			return false
		}
	}
	return len(c) > 0
}

// fail fails all promises of the cycle with one error (rule P6).
//
// Several participants may get here at once, each with its own view of the same
// cycle. The one that fails the promise of the lowest-ranking task does it
// all; the others just wait for their promise. None of the participants can run
// before all is settled: one that blocks does so until the channels are closed, and
// one that was just about to block needs the lock of its promise first, which is held until
// then. Nobody else holds two of these locks, and no promise is on two cycles.
func (c chain) fail() {
	err := &CycleError{IDs: make([]PromiseID, 0, len(c))}
	var leader *promise
	lowest := uint64(math.MaxUint64)
	for _, l := range c {
		if l.promise.nested {
			continue
		}
		err.IDs = append(err.IDs, PromiseID{l.promise})
		if r := l.owner.orderedRank(); r < lowest {
			leader, lowest = l.promise, r
		}
	}

	if !leader.claim() {
		return
	}
	claimed := []*promise{leader}
	for _, id := range err.IDs {
		if id.p != leader && id.p.claim() {
			claimed = append(claimed, id.p)
		}
	}
	for _, p := range claimed {
		p.settle(failed, err)
	}
	wake := make([]chan struct{}, len(claimed))
	for i, p := range claimed {
		wake[i] = p.unlock()
	}
	closeAll(wake)
}

var ranks atomic.Uint64

// orderedRank returns a number that no other task has, the same at every call.
func (t *task) orderedRank() uint64 {
	if r := t.rank.Load(); r != 0 {
		return r
	}
	t.rank.CompareAndSwap(0, ranks.Add(1))
	return t.rank.Load()
}
