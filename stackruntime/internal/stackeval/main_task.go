// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"runtime/debug"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/diagnostics"
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
		diags = diags.Append(diagnostics.Bug("Internal evaluation error", "The operation ended early: %s.", err))
	}
	diags = slices.DeleteFunc(diags, isPanic) // told below
	return value, diagnostics.Tidy(diagnostics.MergeProviders(diags.Extend(m.panics.diagnostics())))
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
