// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacktest

import (
	"sync/atomic"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Evaluations are counts of how often expressions are evaluated, by names of them.
type Evaluations map[string]*countedExpression

type countedExpression struct {
	hcl.Expression

	count atomic.Int64
}

// Count wraps an expression in one that counts. There may be none.
func (e Evaluations) Count(name string, expr *hcl.Expression) {
	if *expr != nil {
		e[name] = &countedExpression{Expression: *expr}
		*expr = e[name]
	}
}

// Take returns how often each expression was evaluated since it was asked for last.
func (e Evaluations) Take() map[string]int {
	counts := make(map[string]int, len(e))
	for name, expr := range e {
		counts[name] = int(expr.count.Swap(0))
	}
	return counts
}

// Value implements [hcl.Expression].
func (e *countedExpression) Value(scope *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if scope != nil { // else the text is asked for of an expression that may be JSON
		e.count.Add(1)
	}
	return e.Expression.Value(scope)
}
