// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package promising

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// task is one line of execution. It is itself the context that its function gets,
// which saves an allocation per task and finding the task in the usual case.
type task struct {
	context.Context //nolint:containedctx // a task is its own context, see above

	main *mainTask

	// awaiting is the promise that the task blocks on, nil while it runs. awaits counts the times it
	// began to, so that an observer can tell one wait from the next wait for the same promise.
	awaiting atomic.Pointer[promise]
	awaits   atomic.Uint64

	// rank orders the tasks of a cycle; zero until somebody asks.
	rank atomic.Uint64

	mu struct {
		sync.Mutex
		ended       bool
		first, last *promise // those the task is responsible for, oldest first
	}
}

// mainTask is the state that all tasks below one MainTask call share.
type mainTask struct {
	ctx     context.Context //nolint:containedctx // as given to MainTask; the parent of all work of Once (rule P9)
	onPanic func(*UnresolvedError)
}

type (
	taskKey         struct{}
	panicHandlerKey struct{}
)

// Value implements context.Context.
func (t *task) Value(key any) any {
	if _, ok := key.(taskKey); ok {
		return t
	}
	return t.Context.Value(key)
}

// String keeps formatting verbs from reading the fields of a running task.
func (t *task) String() string { return fmt.Sprint(t.Context) + ".Task" }

// MainTask runs f in the calling goroutine as a new task and returns its results.
//
// When f leaves promises unresolved they fail (rule P7), and if f returned no error
// the result is the zero value with that [*UnresolvedError]. A panic in f
// continues in the caller after the promises have failed. MainTask does not wait for
// async tasks. The work of every [Once] first asked for below this call ends with
// ctx (rule P9), not with a context derived from it by f.
func MainTask[T any](ctx context.Context, f func(ctx context.Context) (T, error)) (T, error) {
	base := withoutTask(ctx)
	onPanic, _ := ctx.Value(panicHandlerKey{}).(func(*UnresolvedError))
	t := &task{Context: base, main: &mainTask{ctx: base, onPanic: onPanic}}
	if outer := taskFrom(ctx); outer != nil {
		defer outer.suspendFor(t)()
	}

	returned := false
	defer func() {
		if returned {
			return
		}
		cause := recover()      // nil after runtime.Goexit
		t.end(abruptEnd(cause)) //nolint:errcheck // the waiters get the error
		if cause != nil {
			panic(cause)
		}
	}()
	value, err := f(t)
	returned = true

	if left := t.end(UnresolvedError{}); left != nil && err == nil {
		var zero T
		return zero, left
	}
	return value, err
}

// AsyncTask starts f as a new task in a new goroutine and returns at once.
//
// Responsibility for the promises in handover moves from the calling task to the
// new one before AsyncTask returns (rule P2); f gets the same container. Handing over
// a promise that the caller is not responsible for panics. The context of f
// inherits ending and values from ctx. The task ends when f does; nobody joins it.
func AsyncTask[P PromiseContainer](ctx context.Context, handover P, f func(ctx context.Context, handover P)) {
	parent := mustTask(ctx, "AsyncTask")
	t := &task{Context: withoutTask(ctx), main: parent.main}
	parent.handOver(t, handover)
	go func() {
		t.run(func() { f(t, handover) })
	}()
}

// WithPanicHandler returns a context that puts handler in charge of panics in the
// async tasks and [Once] functions below each [MainTask] that is given the context.
//
// The handler runs in the goroutine of the panicked task before the promises of the task fail, so
// that whoever was waiting for one finds the panic handled; err holds the panic value and the
// stack, and the ids of those promises, if any. The handler may run many times at once, and must
// not await promises. When it returns, the panic counts as dealt with and the goroutine ends.
// Without a handler the program crashes (rule P10).
func WithPanicHandler(ctx context.Context, handler func(err *UnresolvedError)) context.Context {
	return context.WithValue(ctx, panicHandlerKey{}, handler)
}

// run is the body of every goroutine this package starts.
func (t *task) run(body func()) {
	returned := false
	defer func() {
		if returned {
			t.end(UnresolvedError{}) //nolint:errcheck // the waiters get the error
			return
		}
		cause := recover() // nil after runtime.Goexit
		if cause == nil {
			t.end(abruptEnd(nil)) //nolint:errcheck // the waiters get the error
			return
		}
		if t.main.onPanic == nil {
			// Nobody is woken who could end the program first, as if nothing were wrong. We are still above
			// the frames of the first panic, so the trace shows them.
			panic(cause)
		}
		report := abruptEnd(cause)
		report.IDs = t.abandon()
		defer report.failAll()
		t.main.onPanic(&report)
	}()
	body()
	returned = true
}

// abruptEnd describes the end of a task other than by return. It must be called
// while the frames of the panic are on the stack.
func abruptEnd(cause any) UnresolvedError {
	if cause == nil {
		return UnresolvedError{Goexit: true}
	}
	return UnresolvedError{Panic: cause, Stack: debug.Stack()}
}

// end marks t as ended and fails the promises it left unresolved with a copy of report that names
// them (rule P7). It returns that error, or nil if none was left.
func (t *task) end(report UnresolvedError) *UnresolvedError {
	ids := t.abandon()
	if ids == nil {
		return nil
	}
	err := report // declared here, so that only failures cost an allocation
	err.IDs = ids
	err.failAll()
	return &err
}

// failAll fails the promises that e names, with e.
func (e *UnresolvedError) failAll() {
	for _, id := range e.IDs {
		if waiters, ok := id.p.fail(e); ok && waiters != nil {
			close(waiters)
		}
	}
}

// abandon marks t as ended and returns the promises it left unresolved, oldest first.
func (t *task) abandon() []PromiseID {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mu.ended = true
	var left []PromiseID
	for p := t.mu.first; p != nil; p = t.mu.first {
		t.unlink(p)
		if !p.settled() { // not one that a cycle has failed
			left = append(left, PromiseID{p})
		}
	}
	return left
}

// suspendFor makes t await the end of the main task inner, which runs inside it
// (rule P11), and returns the function that ends the wait.
func (t *task) suspendFor(inner *task) func() {
	p := &promise{nested: true}
	p.responsible.Store(inner)
	t.beginAwait(p)
	return t.endAwait
}

func taskFrom(ctx context.Context) *task {
	if t, ok := ctx.(*task); ok {
		return t
	}
	t, _ := ctx.Value(taskKey{}).(*task)
	return t
}

func mustTask(ctx context.Context, operation string) *task {
	t := taskFrom(ctx)
	if t == nil {
		panic("promising: " + operation + " outside of a task: context not in a task (rule P5)")
	}
	return t
}

// withoutTask peels a task off ctx, so that tasks started by tasks do not make
// ever longer chains of contexts.
func withoutTask(ctx context.Context) context.Context {
	if t, ok := ctx.(*task); ok {
		return t.Context
	}
	return ctx
}
