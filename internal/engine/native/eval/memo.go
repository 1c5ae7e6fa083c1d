// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package eval

import (
	"context"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/promising"
)

// memo is a result that is computed once.
type memo[T any] struct {
	once promising.Once[outcome[T]]
}

type outcome[T any] struct {
	value T
	ok    bool
}

// get returns the result of f, which is called for the first caller. Cycles are reported at a
// place, unless the phase leaves them to others (rule V7).
func (m *memo[T]) get(ctx context.Context, e *Evaluation, name string, at *hcl.Range, f func(ctx context.Context) (T, bool)) (T, bool) {
	result, err := m.once.Do(ctx, name, func(ctx context.Context) (outcome[T], error) {
		value, ok := f(ctx)
		return outcome[T]{value, ok}, nil
	})
	if err != nil {
		if e.opts.Phase != Validate {
			e.Diagnostics.Failed(err, at)
		}
		return result.value, false
	}
	return result.value, result.ok
}
