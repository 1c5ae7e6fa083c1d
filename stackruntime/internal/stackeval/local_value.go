// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/memo"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// LocalValue is a local value in one stack instance.
type LocalValue struct {
	stack  *Stack
	addr   stackaddrs.AbsLocalValue
	config *LocalValueConfig

	value memo.Memo[cty.Value]
}

func newLocalValue(stack *Stack, config *LocalValueConfig) *LocalValue {
	return &LocalValue{
		stack:  stack,
		addr:   stackaddrs.AbsLocalValue{Stack: stack.addr, Item: config.addr.Item},
		config: config,
	}
}

// ExprReferenceValue implements [expr.Referenceable].
func (l *LocalValue) ExprReferenceValue(ctx context.Context) cty.Value {
	return l.value.Value(ctx, l.valueAspect)
}

// Check implements [Checkable]: it reports mistakes in the value.
func (l *LocalValue) Check(ctx context.Context) hcl.Diagnostics {
	_, diags := l.value.Check(ctx, l.valueAspect)
	return diags
}

func (l *LocalValue) valueAspect() memo.Aspect[cty.Value] {
	return memo.Aspect[cty.Value]{
		Name:        l.addr.String(),
		Placeholder: expr.Placeholder(cty.DynamicPseudoType),
		Compute: func(ctx context.Context) (cty.Value, hcl.Diagnostics) {
			return expr.EvalExpr(ctx, l.config.decl.Value, l.stack.main.phase, l.stack)
		},
	}
}

// LocalValueConfig is one entry of a locals block.
type LocalValueConfig struct {
	stack *StackConfig
	addr  stackaddrs.ConfigLocalValue
	decl  *stackconfig.LocalValue

	value memo.Memo[cty.Value]
}

func newLocalValueConfig(stack *StackConfig, decl *stackconfig.LocalValue) *LocalValueConfig {
	return &LocalValueConfig{
		stack: stack,
		addr:  stackaddrs.ConfigLocalValue{Stack: stack.addr, Item: stackaddrs.LocalValue{Name: decl.Name}},
		decl:  decl,
	}
}

// ExprReferenceValue implements [expr.Referenceable].
func (l *LocalValueConfig) ExprReferenceValue(ctx context.Context) cty.Value {
	return l.value.Value(ctx, l.valueAspect)
}

// Validate reports the mistakes that the expression would have in any instance.
func (l *LocalValueConfig) Validate(ctx context.Context) hcl.Diagnostics {
	_, diags := l.value.Check(ctx, l.valueAspect)
	return diags
}

func (l *LocalValueConfig) valueAspect() memo.Aspect[cty.Value] {
	return memo.Aspect[cty.Value]{
		Name:        l.addr.String(),
		Placeholder: expr.Placeholder(cty.DynamicPseudoType),
		Compute: func(ctx context.Context) (cty.Value, hcl.Diagnostics) {
			return expr.EvalExpr(ctx, l.decl.Value, expr.ValidatePhase, l.stack)
		},
	}
}
