// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package memo keeps the result of one aspect of an object of the evaluator:
// computed at most once, by whoever asks first, while the others wait.
//
// A result is a value and the diagnostics of computing it. A caller that only needs the value calls
// [Memo.Value]; the owner of the aspect calls [Memo.Check] and returns the diagnostics to the user.
// A value is always usable: a failed computation supplies a placeholder.
package memo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/promising"
)

// Memo keeps one result. The zero value is ready for use. Must not be copied.
type Memo[T any] struct {
	once    promising.Once[*result[T]]
	settled atomic.Pointer[result[T]] // the way round naming and waiting once there is a result
}

type result[T any] struct {
	value T
	diags hcl.Diagnostics
}

// Aspect says how a result is computed.
type Aspect[T any] struct {
	// Name is the aspect's name in cycle messages, see docs/language.md, section 4.1.
	Name string

	// Compute finds the value. It runs in a task of its own.
	Compute func(ctx context.Context) (T, hcl.Diagnostics)

	// Placeholder stands for the value when Compute depends on itself.
	Placeholder T
}

// Check returns the value and the diagnostics. Only the owner's check may call
// it, once, so that each diagnostic reaches the user once. The aspect is asked
// for only while there is no result.
func (m *Memo[T]) Check(ctx context.Context, aspect func() Aspect[T]) (T, hcl.Diagnostics) {
	r := m.result(ctx, aspect)
	// Appending to a result must not reach the other readers.
	return r.value, slices.Clip(r.diags)
}

// Value returns the value, which is a placeholder if there were errors.
func (m *Memo[T]) Value(ctx context.Context, aspect func() Aspect[T]) T {
	return m.result(ctx, aspect).value
}

func (m *Memo[T]) result(ctx context.Context, aspect func() Aspect[T]) *result[T] {
	if r := m.settled.Load(); r != nil {
		return r
	}
	return m.await(ctx, aspect())
}

func (m *Memo[T]) await(ctx context.Context, aspect Aspect[T]) *result[T] {
	r, err := m.once.Do(ctx, aspect.Name, func(ctx context.Context) (*result[T], error) {
		value, diags := aspect.Compute(ctx)
		return &result[T]{value, diags}, nil
	})
	if err != nil {
		return &result[T]{aspect.Placeholder, failure(err)}
	}
	m.settled.Store(r)
	return r
}

// failure explains why a promise has no result. The diagnostic carries the
// error in Extra, so that reports of one cycle can be merged.
func failure(err error) hcl.Diagnostics {
	diag := &hcl.Diagnostic{Severity: hcl.DiagError, Extra: err}
	if cycle, ok := errors.AsType[*promising.CycleError](err); ok {
		diag.Summary = "Circular dependency"
		diag.Detail = fmt.Sprintf("These depend on each other in a cycle: %v.", cycle.RotatedNames())
		return hcl.Diagnostics{diag}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		diag.Summary = "Operation interrupted"
		diag.Detail = "The operation was stopped before this could be computed."
		return hcl.Diagnostics{diag}
	}
	diag.Summary = "Internal evaluation error"
	if unresolved, ok := errors.AsType[*promising.UnresolvedError](err); ok && unresolved.Panic != nil {
		diag.Detail = "A task panicked." // the handler of the panic says more
		return hcl.Diagnostics{diag}
	}
	diag.Detail = fmt.Sprintf("A result was never supplied: %s. This is a bug in cairn; please report it.", err)
	return hcl.Diagnostics{diag}
}
