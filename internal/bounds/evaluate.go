// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package bounds

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/failure"
)

const (
	maxRounds = 4 << 20 // of all loops of one evaluation
	shown     = 8       // the limits of one evaluation are divided by this where there is an allowance
	between   = 64      // rounds between two looks at the clock and the context
)

// Allowance limits many evaluations together, for callers that evaluate untrusted files. Nil stands
// for no such limit. It is safe for concurrent use.
type Allowance struct {
	time     atomic.Int64 // nanoseconds of evaluation
	text     atomic.Int64
	parts    atomic.Int64
	reported atomic.Bool
}

// NewAllowance returns an allowance of some time, in which all values together have the limits of
// one value elsewhere, and each evaluation has an eighth of its limits elsewhere.
func NewAllowance(period time.Duration) *Allowance {
	a := &Allowance{}
	a.time.Store(int64(period))
	a.text.Store(MaxText)
	a.parts.Store(MaxParts)
	return a
}

// limits returns those of one evaluation.
func (a *Allowance) limits() limits {
	if a == nil {
		return limits{remaining{text: MaxText, parts: MaxParts}, maxRounds}
	}
	return limits{remaining{text: MaxText / shown, parts: MaxParts / shown}, maxRounds / shown}
}

// limits are those of a value, and of the rounds of loops that lead to it.
type limits struct {
	value  remaining
	rounds int64
}

// spent reports whether nothing is left.
func (a *Allowance) spent() bool {
	return a != nil && (a.time.Load() < 0 || a.text.Load() < 0 || a.parts.Load() < 0)
}

// take subtracts the use of one evaluation.
func (a *Allowance) take(b *budget, value remaining) {
	if a != nil {
		b.clock()
		a.text.Add(-value.text)
		a.parts.Add(-value.parts)
	}
}

// budget limits the loops of one evaluation. One goroutine has it.
type budget struct {
	variables map[string]cty.Value // with the budget alone, to be found from within loops
	allowance *Allowance
	done      <-chan struct{} // of the context of the evaluation

	looked time.Time // at the clock; for the allowance only
	rounds int64
	made   remaining
	over   *hcl.Diagnostic // once there is nothing left
	silent bool            // over is not to be reported
}

// budgetName is that of the variable in which loops find the budget. No expression can have it.
const budgetName = "\x00 budget of the evaluation"

var budgetType = cty.Capsule("budget", reflectBudget)

var budgets = sync.Pool{New: func() any {
	b := &budget{}
	b.variables = map[string]cty.Value{budgetName: cty.CapsuleVal(budgetType, b)}
	return b
}}

// Evaluate returns the value of an expression in a scope, within the limits of this package and of
// the allowance.
//
// With error diagnostics the value is unknown, or incomplete. Their contexts are the scope, or
// below it.
func Evaluate(ctx context.Context, expr hcl.Expression, scope *hcl.EvalContext, allowance *Allowance) (cty.Value, hcl.Diagnostics) {
	if scope == nil || cannotGrow(expr) {
		return expr.Value(scope)
	}
	return Within(ctx, expr.Range(), scope, allowance, expr.Value)
}

// Within is [Evaluate] for callers that evaluate several expressions, such as those of a body, in a
// scope. The limits are for all of them. At is the place to report.
func Within(ctx context.Context, at hcl.Range, scope *hcl.EvalContext, allowance *Allowance,
	evaluate func(*hcl.EvalContext) (cty.Value, hcl.Diagnostics),
) (cty.Value, hcl.Diagnostics) {
	if allowance.spent() {
		b := budget{allowance: allowance}
		b.end(at, "")
		return cty.DynamicVal, b.diagnostics()
	}
	limits := allowance.limits()
	b := budgets.Get().(*budget) //nolint:forcetypeassert // there is nothing else in the pool
	*b = budget{
		variables: b.variables, allowance: allowance, done: ctx.Done(),
		rounds: limits.rounds, made: remaining{text: 2 * limits.value.text, parts: 2 * limits.value.parts},
	}
	if allowance != nil {
		b.looked = time.Now()
	}
	inner := scope.NewChild()
	inner.Variables = b.variables
	inner.Functions = scope.Functions // HCL proposes names from the innermost context alone
	value, diags := evaluate(inner)
	for _, diag := range diags {
		if diag.EvalContext == inner {
			diag.EvalContext = scope
		}
		suggestFunction(diag)
	}
	if b.over != nil {
		allowance.take(b, remaining{})
		return cty.DynamicVal, b.diagnostics() // alone: others may come of the parts that were left out
	}
	left := limits.value
	if !diags.HasErrors() && !left.take(value) {
		value, diags = cty.DynamicVal, append(diags, tooLarge(left, limits.value, at))
	}
	allowance.take(b, remaining{limits.value.text - left.text, limits.value.parts - left.parts})
	if len(diags) == 0 { // else their contexts lead to it
		budgets.Put(b)
	}
	return value, diags
}

// diagnostics says that nothing is left.
func (b *budget) diagnostics() hcl.Diagnostics {
	if b.silent {
		return nil
	}
	return hcl.Diagnostics{b.over}
}

// round takes one round of a loop, and reports whether there is anything left.
func (b *budget) round(at hcl.Range) bool {
	if b.over != nil {
		return false
	}
	b.rounds--
	switch {
	case b.rounds < 0:
		b.end(at, fmt.Sprintf("The loops of this expression go round more than %d times, the most that "+
			"one may have.", b.allowance.limits().rounds))
	case b.rounds%between != 0:
	case b.interrupted():
		b.end(at, "The operation was interrupted.")
	case b.allowance != nil:
		if b.clock(); b.allowance.spent() {
			b.end(at, "")
		}
	}
	return b.over == nil
}

// clock takes the time since it was called before from the allowance.
func (b *budget) clock() {
	now := time.Now()
	b.allowance.time.Add(-int64(now.Sub(b.looked)))
	b.looked = now
}

func (b *budget) interrupted() bool {
	select {
	case <-b.done:
		return true
	default:
		return false
	}
}

// take subtracts the result of a round.
func (b *budget) take(value cty.Value, expr hcl.Expression) {
	if b.over != nil {
		return
	}
	b.made.parts--
	if !cannotGrow(expr) && !b.made.take(value) || b.made.parts < 0 {
		b.over = tooLarge(b.made, b.allowance.limits().value, expr.Range())
		b.over.Detail = "The results of the loops of this expression are too large. " + b.over.Detail
	}
}

// end says that nothing is left. Without a detail, that is so for the allowance, of which only one
// evaluation reports it.
func (b *budget) end(at hcl.Range, detail string) {
	if detail == "" {
		b.silent = b.allowance.reported.Swap(true)
		detail = "Evaluating the files up to here took more time or memory than there is for that while they are edited. Values after " +
			"this are not known."
	} else {
		detail += " Make lists of fewer elements, or nest fewer loops."
	}
	b.over = failure.At(at, "Evaluation takes too long", "%s", detail)
}

// budgetOf finds the budget of the evaluation that a loop is part of, and returns how many contexts
// there are up to it.
func budgetOf(ctx *hcl.EvalContext) (b *budget, depth int, constant bool) {
	constant = true
	for ; ctx != nil; ctx = ctx.Parent() {
		depth++
		constant = constant && ctx.Functions == nil
		if capsule, ok := ctx.Variables[budgetName]; ok {
			capsule, _ = capsule.Unmark()                                 // the variables of loops may have been marked
			return capsule.EncapsulatedValue().(*budget), depth, constant //nolint:forcetypeassert // nothing else has the name
		}
	}
	return nil, depth, constant
}

// Exceeded reports whether the evaluation that a context belongs to has nothing left, which its
// caller reports.
func Exceeded(ctx *hcl.EvalContext) bool {
	b, _, _ := budgetOf(ctx)
	return b != nil && b.over != nil
}

// maxConstantLoops is how deep loops are nested in constants, which are evaluated without a budget.
// They go over literals.
const maxConstantLoops = 2

// round is an expression that a loop evaluates in each round. HCL walks its parts.
type round struct {
	*hclsyntax.ParenthesesExpr
	first bool // of those of the loop
}

// Value implements [hcl.Expression].
func (r *round) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	b, depth, constant := budgetOf(ctx)
	if b == nil {
		if constant && depth > maxConstantLoops {
			return cty.DynamicVal, hcl.Diagnostics{failure.At(r.SrcRange, "Loops nested too deep",
				"Loops in constants are nested at most %d deep. Write their result.", maxConstantLoops)}
		}
		return r.Expression.Value(ctx)
	}
	if r.first && !b.round(r.SrcRange) || b.over != nil {
		return cty.DynamicVal, nil //nolint:nilerr // Evaluate returns the error, even if the expression hides errors as try does
	}
	value, diags := r.Expression.Value(ctx)
	b.take(value, r.Expression)
	if b.over != nil {
		return cty.DynamicVal, nil //nolint:nilerr // likewise
	}
	return value, diags
}
