// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// RemovedConfig is a removed block.
type RemovedConfig struct {
	stack *StackConfig
	decl  *stackconfig.Removed
	addr  string // as in "<main> -> component.x (removed)"

	moduleUse // of component targets
}

func newRemovedConfig(stack *StackConfig, decl *stackconfig.Removed) *RemovedConfig {
	target := removedTarget(stack.addr, decl.From)
	return &RemovedConfig{
		stack: stack,
		decl:  decl,
		addr:  stack.addr.String() + " -> " + target + " (removed)",
		moduleUse: moduleUse{
			stack: stack, user: target, source: decl.Source,
			providers: decl.Providers, forEach: decl.ForEach, place: decl.Range,
		},
	}
}

// removedTarget is the configuration address of what a block removes.
func removedTarget(stack stackaddrs.Stack, from *stackconfig.RemovedFrom) string {
	for _, step := range from.Stacks {
		stack = stack.Child(step.Name)
	}
	if from.Component == nil {
		return stack.String()
	}
	return stackaddrs.ConfigComponent{Stack: stack, Item: stackaddrs.Component{Name: from.Component.Name}}.String()
}

// Validate reports what is wrong in any instance.
func (r *RemovedConfig) Validate(ctx context.Context) hcl.Diagnostics {
	scope, diags := staticInstanceScope(ctx, r.stack, r.decl.ForEach, "removed")
	steps := r.decl.From.Stacks
	if component := r.decl.From.Component; component != nil {
		steps = append(slices.Clone(steps), *component)
	}
	for _, step := range steps {
		if step.Index != nil {
			_, moreDiags := expr.EvalExpr(ctx, step.Index, expr.ValidatePhase, scope)
			diags = diags.Extend(moreDiags)
		}
	}
	if r.decl.From.Component == nil {
		return diags.Extend(r.checkStackInputs(ctx, scope))
	}
	diags = diags.Extend(r.checkAssignments(ctx, scope))
	return diags.Extend(r.checkModule(ctx))
}

func (r *RemovedConfig) checkStackInputs(ctx context.Context, scope expr.EvaluationScope) hcl.Diagnostics {
	child := r.child()
	if child == nil {
		return nil // the loader has reported why
	}
	set := stackInputs(child.decl)
	_, diags := evalStackInputs(ctx, r.decl.Inputs, r.decl.Range, set, expr.ValidatePhase, scope)
	if r.decl.Inputs != nil {
		diags = diags.Extend(set.undeclaredInputs(r.decl.Inputs))
	}
	return diags
}

// child is the stack that the block removes; nil for a component, and if it could not be loaded.
func (r *RemovedConfig) child() *StackConfig {
	if r.decl.From.Component != nil {
		return nil
	}
	target := r.stack.addr
	for _, step := range r.decl.From.Stacks {
		target = target.Child(step.Name)
	}
	return r.stack.main.config.descendant(target)
}
