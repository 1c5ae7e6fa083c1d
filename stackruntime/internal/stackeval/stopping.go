// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/promising"
)

// stopKey finds the context whose end asks an operation to stop.
type stopKey struct{}

// steadyContext returns a context for an evaluation that goes on when ctx ends,
// so that what has been done is still reported and saved: only the engine is
// told, by the context of [stopContext].
func steadyContext(ctx context.Context) context.Context {
	return context.WithValue(context.WithoutCancel(ctx), stopKey{}, ctx)
}

// inMainTask runs f as the main task of an operation, with a [steadyContext]. A panic in any task becomes an
// error, and is one for all further operations of m, whether or not anybody needs what the task was to compute.
func inMainTask[T any](ctx context.Context, m *Main, f func(ctx context.Context) (T, hcl.Diagnostics)) (T, hcl.Diagnostics) {
	var diags hcl.Diagnostics
	value, err := mainTask(ctx, m, func(ctx context.Context) (T, error) {
		var value T
		value, diags = f(ctx)
		return value, nil
	})
	if err != nil && !m.panics.any() {
		diags = diags.Append(bugDiagnostic("Internal evaluation error", "The operation ended early: %s.", err))
	}
	diags = slices.DeleteFunc(diags, isPanic) // told below
	return value, tidy(mergeProviderDiagnostics(diags.Extend(m.panics.diagnostics())))
}

// mainTask runs f as a main task, whose panic it notes and returns as an error.
func mainTask[T any](ctx context.Context, m *Main, f func(ctx context.Context) (T, error)) (value T, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			panicked := &promising.UnresolvedError{Panic: cause, Stack: debug.Stack()}
			m.panics.note(panicked)
			err = panicked
		}
	}()
	return promising.MainTask(promising.WithPanicHandler(steadyContext(ctx), m.panics.note), f)
}

// stopContext returns the context that ends when the operation shall stop.
func stopContext(ctx context.Context) context.Context {
	return ctx.Value(stopKey{}).(context.Context)
}

// slots limit how many component instances the engine works on at a time.
type slots struct {
	free   chan struct{} // an element for each slot in use
	halted chan struct{} // closed when nothing more may begin
	halt   func()
}

const defaultParallelism = 10

func newSlots(n int) slots {
	if n <= 0 {
		n = defaultParallelism
	}
	halted := make(chan struct{})
	return slots{
		free:   make(chan struct{}, n),
		halted: halted,
		halt:   sync.OnceFunc(func() { close(halted) }),
	}
}

// run calls f when there is a free slot, with a context that ends when the
// operation shall stop. f must not wait for promises (rule V4). It returns false
// if f was not called because the operation shall stop already.
func (s slots) run(ctx context.Context, f func(ctx context.Context)) bool {
	stop := stopContext(ctx)
	select {
	case s.free <- struct{}{}:
		defer func() { <-s.free }()
	case <-stop.Done():
		return false
	case <-s.halted:
		return false
	}
	if stop.Err() != nil || s.isHalted() {
		return false // when several cases are ready, select takes any
	}
	f(stop)
	return true
}

func (s slots) isHalted() bool {
	select {
	case <-s.halted:
		return true
	default:
		return false
	}
}
