// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package maintask runs the main task of an operation, from which all others come (package
// promising).
//
//   - An evaluation goes on when the context of the operation ends, so that finished work is still
//     reported and saved. Only a caller of [StopContext] learns of the end: the engine, and code
//     that decides whether more is begun.
//   - A panic in any task becomes an error of the operation, and of all later ones, whoever needs
//     the result of the task.
//   - Diagnostics leave the main task merged and sorted.
package maintask

import (
	"context"
	"runtime/debug"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/diagnostic/identity"
	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/diagnostics"
)

// stopKey finds the context whose end asks an operation to stop.
type stopKey struct{}

// Steady returns a context for an evaluation that goes on when ctx ends. [StopContext] returns ctx
// for it.
func Steady(ctx context.Context) context.Context {
	return context.WithValue(context.WithoutCancel(ctx), stopKey{}, ctx)
}

// StopContext returns the context that ends when the operation shall stop. ctx must come from
// [Steady] or [Run].
func StopContext(ctx context.Context) context.Context {
	return ctx.Value(stopKey{}).(context.Context)
}

// Run runs f as the main task of an operation, in a context made by [Steady]. panics are those of
// all operations on the same objects.
func Run[T any](ctx context.Context, panics *Panics, f func(ctx context.Context) (T, hcl.Diagnostics)) (T, hcl.Diagnostics) {
	var diags hcl.Diagnostics
	value, err := run(ctx, panics, func(ctx context.Context) (T, error) {
		var value T
		value, diags = f(ctx)
		return value, nil
	})
	if err != nil && !panics.Any() {
		diags = diags.Append(diagnostics.Bug("Internal evaluation error", "The operation ended early: %s.", err))
	}
	diags = slices.DeleteFunc(diags, isPanic) // reported below
	return value, identity.Sort(diagnostics.Merge(diags.Extend(panics.diagnostics())))
}

// run runs f as a main task, whose panic it notes and returns as an error.
func run[T any](ctx context.Context, panics *Panics, f func(ctx context.Context) (T, error)) (value T, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			panicked := &promising.UnresolvedError{Panic: cause, Stack: debug.Stack()}
			panics.note(panicked)
			err = panicked
		}
	}()
	return promising.MainTask(promising.WithPanicHandler(Steady(ctx), panics.note), f)
}
