// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package changeexec

import (
	"context"
	"fmt"

	"github.com/cairnstacks/cairn/promising"
)

// Change is one change to be made.
type Change[A comparable, R any] struct {
	Addr A
	Run  func(ctx context.Context) (R, error)
}

// Results are the results of changes, by the addresses of the changed objects.
type Results[A comparable, R any] struct {
	promises map[A]promising.PromiseGet[R]
}

// UnregisteredError says that a result was asked for which no change will supply.
type UnregisteredError[A comparable] struct{ Addr A }

func (e *UnregisteredError[A]) Error() string {
	return fmt.Sprintf("no change is planned for %v", e.Addr)
}

// Await waits for the change of addr and returns its result.
//
// Errors: [*UnregisteredError] at once when there is no such change; otherwise
// those of the change, or of the promise.
func (r *Results[A, R]) Await(ctx context.Context, addr A) (R, error) {
	promise, ok := r.promises[addr]
	if !ok {
		var none R
		return none, &UnregisteredError[A]{addr}
	}
	return promise.Await(ctx)
}

// Has reports whether there is a change for addr.
func (r *Results[A, R]) Has(addr A) bool {
	_, ok := r.promises[addr]
	return ok
}

// ChangeExec registers the changes that setup adds, and then lets all of them
// begin. It returns without waiting for them. ctx must be that of a task.
//
// setup gets the results before they exist so that the functions of the changes
// and others they set going can refer to them; asking in setup itself is an error.
func ChangeExec[A comparable, R any](ctx context.Context, setup func(results *Results[A, R], add func(Change[A, R]))) *Results[A, R] {
	results := &Results[A, R]{promises: make(map[A]promising.PromiseGet[R])}
	beginner, begin := promising.NewPromise[struct{}](ctx, "begin of changes")

	setup(results, func(change Change[A, R]) {
		resolver, promise := promising.NewPromise[R](ctx, fmt.Sprintf("%v change", change.Addr))
		results.promises[change.Addr] = promise
		promising.AsyncTask(ctx, resolver, func(ctx context.Context, resolver promising.PromiseResolver[R]) {
			if _, err := begin.Await(ctx); err != nil {
				var none R
				resolver.Resolve(ctx, none, err)
				return
			}
			result, err := change.Run(ctx)
			resolver.Resolve(ctx, result, err)
		})
	})

	beginner.Resolve(ctx, struct{}{}, nil)
	return results
}
