// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"errors"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/promising"
)

// stopKey finds the context whose end asks an operation to stop.
type stopKey struct{}

// inMainTask runs f as the main task of an operation.
//
// When ctx ends the evaluation goes on, so that what has been done is still
// reported and saved: only the engine is told, by the context of [stopContext].
func inMainTask[T any](ctx context.Context, f func(ctx context.Context) (T, hcl.Diagnostics)) (T, hcl.Diagnostics) {
	steady := context.WithValue(context.WithoutCancel(ctx), stopKey{}, ctx)
	var diags hcl.Diagnostics
	value, err := promising.MainTask(steady, func(ctx context.Context) (T, error) {
		var value T
		value, diags = f(ctx)
		return value, nil
	})
	if err != nil {
		diags = diags.Append(&hcl.Diagnostic{
			Severity: hcl.DiagError,
			Summary:  "Internal evaluation error",
			Detail:   "The operation ended early: " + err.Error() + ". This is a bug in cairn; please report it.",
		})
	}
	return value, tidy(diags)
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

// errStopped says that the engine was not started because the operation shall stop.
var errStopped = errors.New("operation stopped")

// run calls f when there is a free slot, with a context that ends when the
// operation shall stop. f must not wait for promises (rule V4).
func (s slots) run(ctx context.Context, f func(ctx context.Context)) error {
	stop := stopContext(ctx)
	select {
	case s.free <- struct{}{}:
		defer func() { <-s.free }()
	case <-stop.Done():
		return errStopped
	case <-s.halted:
		return errStopped
	}
	if stop.Err() != nil || s.isHalted() {
		return errStopped // when several cases are ready, select takes any
	}
	f(stop)
	return nil
}

func (s slots) isHalted() bool {
	select {
	case <-s.halted:
		return true
	default:
		return false
	}
}
