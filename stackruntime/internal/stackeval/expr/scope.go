// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package expr evaluates the expressions of component configurations: it finds
// the references in them, asks the objects they refer to for values, and hands
// both to HCL.
//
// An [EvaluationScope] gives symbols their meaning in one place of the configuration; a
// [Referenceable] supplies the value. Values that could not be computed are placeholders carrying
// the [Failed] mark, so that evaluation goes on, no second error is made of the first, and code
// that must not act on such a value can tell.
package expr

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/ctymarks"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// EvalPhase is the phase of an operation that an evaluation is for.
type EvalPhase int

// The phases.
const (
	ValidatePhase EvalPhase = iota
	PlanPhase
	ApplyPhase
	InspectPhase
)

// String returns the phase's name.
func (p EvalPhase) String() string {
	return [...]string{"validate", "plan", "apply", "inspect"}[p]
}

// EvaluationScope gives symbols their meaning in one place of the configuration.
type EvaluationScope interface {
	// ResolveExpressionReference finds the object that is referred to, or says
	// why there is none.
	ResolveExpressionReference(ctx context.Context, ref stackaddrs.Reference) (Referenceable, hcl.Diagnostics)

	FunctionScope
}

// FunctionScope says which functions can be called in one place of the configuration.
type FunctionScope interface {
	// Functions is the table of built-in functions. Not to be changed.
	Functions() map[string]function.Function

	// FunctionOptions are those that the table was made with.
	FunctionOptions() lang.Options

	// ProviderFunction finds a function of a provider, or says why there is none.
	ProviderFunction(ctx context.Context, call lang.ProviderCall) (function.Function, hcl.Diagnostics)
}

// Referenceable is an object that expressions can refer to.
type Referenceable interface {
	// ExprReferenceValue returns the value of the object in expressions. It is a placeholder if the
	// value cannot be computed; the object itself reports why.
	ExprReferenceValue(ctx context.Context) cty.Value
}

// JustValue is a [Referenceable] with a value known beforehand.
type JustValue struct{ cty.Value }

// ExprReferenceValue implements [Referenceable].
func (v JustValue) ExprReferenceValue(context.Context) cty.Value { return v.Value }

// failedMark marks placeholders. See [Failed].
type failedMark struct{}

func (failedMark) GoString() string { return "expr.failedMark" }

// Failed is the mark of placeholders for values that could not be computed, for
// a reason which somebody else reports.
var Failed any = failedMark{}

// Placeholder returns an unknown value of the type, marked as failed.
func Placeholder(ty cty.Type) cty.Value { return cty.UnknownVal(ty).Mark(Failed) }

// IsFailed reports whether any part of v is a placeholder.
func IsFailed(v cty.Value) bool { return v.HasMarkDeep(Failed) }

// WithoutFailed takes the mark of placeholders off, for values that leave the evaluator.
func WithoutFailed(v cty.Value) cty.Value {
	if !IsFailed(v) {
		return v
	}
	bare, err := v.WrangleMarksDeep(func(mark any, _ cty.Path) (ctymarks.WrangleAction, error) {
		if mark == Failed {
			return ctymarks.WrangleDrop, nil
		}
		return nil, nil
	})
	if err != nil {
		panic(err) // the function above never returns one
	}
	return bare
}
