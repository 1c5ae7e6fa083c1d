// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package promising

import (
	"context"
	"sync/atomic"
)

// Once is a computation that runs at most once, when its result is first asked for.
//
// The zero value is ready for use and as small as a pointer. A Once must not be
// copied after first use. It may be used from any task, also of different main
// tasks over time.
type Once[T any] struct {
	p atomic.Pointer[promiseOf[T]]
}

// Do returns the result of f, which the first call runs as an async task.
//
// All calls, now and later, get the same value and the same error, whatever f they
// bring: an f that fails is not tried again, and neither is one that waits for
// its own Once, which gives a [*CycleError]. The promise is called name.
//
// When ctx ends while f runs, Do returns context.Cause(ctx) and f goes on for others; with a ctx
// that has ended already, Do does not start f. f runs under the context given to [MainTask],
// without values or ending of ctx (rule P9); if that context ends, the return values of f are kept
// like any result.
//
// Errors: as [PromiseGet.Await].
func (o *Once[T]) Do(ctx context.Context, name string, f func(ctx context.Context) (T, error)) (T, error) {
	t := mustTask(ctx, "Once.Do")
	p := o.p.Load()
	if p == nil {
		if ctx.Err() != nil {
			var zero T
			return zero, context.Cause(ctx)
		}
		p = o.start(t, name, f)
	}
	return p.await(ctx, t)
}

// PromiseID returns the identity of the promise behind o; zero before the first Do.
func (o *Once[T]) PromiseID() PromiseID {
	p := o.p.Load()
	if p == nil {
		return PromiseID{}
	}
	return PromiseID{&p.promise}
}

func (o *Once[T]) start(caller *task, name string, f func(ctx context.Context) (T, error)) *promiseOf[T] {
	t := &task{Context: caller.main.ctx, main: caller.main}
	p := &promiseOf[T]{promise: promise{name: name}}
	t.adopt(&p.promise) // before others can see p: it is never without a responsible task
	if !o.p.CompareAndSwap(nil, p) {
		return o.p.Load()
	}
	go func() {
		t.run(func() {
			value, err := f(t)
			p.resolve(t, value, err)
		})
	}()
	return p
}
