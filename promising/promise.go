// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package promising

import (
	"context"
	"sync"
	"sync/atomic"
)

// PromiseID identifies one promise. IDs are comparable and usable as map keys;
// the zero ID stands for no promise.
type PromiseID struct {
	p *promise
}

// Name returns the name given at creation, which may be empty.
func (id PromiseID) Name() string {
	if id.p == nil {
		return ""
	}
	return id.p.name
}

// String returns the name, or "(...)" for a promise without one.
func (id PromiseID) String() string {
	if name := id.Name(); name != "" {
		return name
	}
	return "(...)"
}

// States of a promise. Both settled states are final.
const (
	pending  uint32 = iota
	resolved        // by the responsible task
	failed          // by this package: the responsible task may still call Resolve
)

// promise is the part of a promise that does not depend on the type of its value.
type promise struct {
	name string

	// nested marks the wait of a task for a main task inside it (rule P11). It has
	// no waiter to wake and lasts as long as the call, so cycles do not fail it.
	nested bool

	// state is the only thing a reader of a settled promise has to look at: err
	// and the value are written before state leaves pending, and never after.
	state atomic.Uint32
	err   error

	// responsible is nil once the responsible task has resolved the promise.
	// It never returns to an earlier task, because only new tasks can receive a
	// promise; so seeing the same task twice means it did not change between.
	responsible atomic.Pointer[task]

	// Neighbours in the responsible task's list; guarded by that task's mutex.
	prev, next *promise

	wake struct {
		sync.Mutex
		settled chan struct{} // made by the first waiter, closed when settled
	}
}

type promiseOf[T any] struct {
	promise
	value T
}

func (p *promise) settled() bool { return p.state.Load() != pending }

// claim locks p for settling. When it returns false p is settled already, and not locked.
func (p *promise) claim() bool {
	p.wake.Lock()
	if p.settled() {
		p.wake.Unlock()
		return false
	}
	return true
}

// publish ends the change of state that claim began and returns the channel that the caller must
// close to wake the waiters; nil if there are none.
func (p *promise) publish(state uint32, err error) chan struct{} {
	p.settle(state, err)
	return p.unlock()
}

// settle is the first half of publish: the result is there, but whoever waits for
// the lock still does.
func (p *promise) settle(state uint32, err error) {
	p.err = err
	p.state.Store(state)
}

// unlock is the second half of publish.
func (p *promise) unlock() (waiters chan struct{}) {
	waiters = p.wake.settled
	p.wake.settled = nil
	p.wake.Unlock()
	return waiters
}

// fail settles p with err unless it is settled already. The caller closes waiters.
func (p *promise) fail(err error) (waiters chan struct{}, ok bool) {
	if !p.claim() {
		return nil, false
	}
	return p.publish(failed, err), true
}

// waitChannel returns the channel that is closed when p settles; nil if it has.
func (p *promise) waitChannel() <-chan struct{} {
	if !p.claim() {
		return nil
	}
	defer p.wake.Unlock()
	if p.wake.settled == nil {
		p.wake.settled = make(chan struct{})
	}
	return p.wake.settled
}

func closeAll(channels []chan struct{}) {
	for _, ch := range channels {
		if ch != nil {
			close(ch)
		}
	}
}

// NewPromise makes a promise for which the calling task is responsible (rule P2).
//
// The name appears in error messages, so that people can tell which promise waits for which.
func NewPromise[T any](ctx context.Context, name string) (PromiseResolver[T], PromiseGet[T]) {
	t := mustTask(ctx, "NewPromise")
	p := &promiseOf[T]{promise: promise{name: name}}
	t.adopt(&p.promise)
	return PromiseResolver[T]{p}, PromiseGet[T]{p}
}

// PromiseResolver is the half of a promise that supplies its result. It is also
// the [PromiseContainer] with just this promise. The zero value is not usable.
type PromiseResolver[T any] struct {
	p *promiseOf[T]
}

// Resolve supplies the result and wakes all waiters.
//
// Must be called by the responsible task, once; anything else panics (rule P2).
// If the package failed the promise before (rules P6, P7), the call is ignored.
func (r PromiseResolver[T]) Resolve(ctx context.Context, value T, err error) {
	r.p.resolve(mustTask(ctx, "Resolve"), value, err)
}

// PromiseID returns the identity of the promise.
func (r PromiseResolver[T]) PromiseID() PromiseID { return PromiseID{r.handle()} }

// EachResolver implements [PromiseContainer].
func (r PromiseResolver[T]) EachResolver(visit func(AnyResolver)) { visit(r) }

func (r PromiseResolver[T]) handle() *promise {
	if r.p == nil {
		panic("promising: use of a zero PromiseResolver")
	}
	return &r.p.promise
}

func (p *promiseOf[T]) resolve(t *task, value T, err error) {
	t.release(&p.promise)
	if !p.claim() {
		if p.state.Load() == failed {
			return
		}
		panic("promising: promise " + PromiseID{&p.promise}.String() + " resolved twice (rule P2)")
	}
	p.value = value
	waiters := p.publish(resolved, err)
	p.responsible.Store(nil) // lets the task be collected while the promise lives
	if waiters != nil {
		close(waiters)
	}
}

// PromiseGet is the half of a promise that waits for its result. It may be copied,
// shared and used from any number of tasks, also after the task that made the
// promise has ended. The zero value is not usable.
type PromiseGet[T any] struct {
	p *promiseOf[T]
}

// Await blocks until the promise is settled and returns its result.
//
// Must run inside a task; a task awaits one promise at a time (rules P1, P5). The
// result is returned as it was supplied, value and error both.
//
// Errors:
//   - whatever error the promise was resolved with.
//   - [*CycleError]: waiting would close a cycle (rule P6).
//   - [*UnresolvedError]: the responsible task ended first (rule P7). Always a bug in that task.
//   - context.Cause(ctx): ctx ended first (rule P8). A result that is there already wins.
//
// Source: Voss and Sarkar, arXiv:2101.01312, algorithm 2.
func (g PromiseGet[T]) Await(ctx context.Context) (T, error) {
	return g.p.await(ctx, mustTask(ctx, "Await"))
}

// PromiseID returns the identity of the promise.
func (g PromiseGet[T]) PromiseID() PromiseID { return PromiseID{&g.p.promise} }

func (p *promiseOf[T]) await(ctx context.Context, t *task) (T, error) {
	if !p.settled() {
		if err := t.block(ctx, &p.promise); err != nil {
			var zero T
			return zero, err
		}
	}
	return p.value, p.err
}
