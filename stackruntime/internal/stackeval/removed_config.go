// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/inputs"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// RemovedConfig is a removed block.
type RemovedConfig struct {
	stack *StackConfig
	decl  *stackconfig.Removed
	addr  string // as in "<main> -> component.x (removed)"

	targetStack stackaddrs.Stack // that has the component, or embeds the stack, that goes

	moduleUse // of component targets
}

func newRemovedConfig(stack *StackConfig, decl *stackconfig.Removed) *RemovedConfig {
	target := removedTarget(stack.addr, decl.From)
	stacks, _ := splitFrom(decl.From)
	return &RemovedConfig{
		stack:       stack,
		decl:        decl,
		addr:        stack.addr.String() + " -> " + target + " (removed)",
		targetStack: descend(stack.addr, stacks),
		moduleUse: moduleUse{
			stack: stack, user: target, source: decl.Source,
			providers: decl.Providers, forEach: decl.ForEach, place: decl.Range,
		},
	}
}

// removedTarget is the configuration address of what a block removes.
func removedTarget(stack stackaddrs.Stack, from *stackconfig.RemovedFrom) string {
	stack = descend(stack, from.Stacks)
	if from.Component == nil {
		return stack.String()
	}
	return stackaddrs.ConfigComponent{Stack: stack, Item: stackaddrs.Component{Name: from.Component.Name}}.String()
}

// splitFrom takes the last step from the stacks it is in.
func splitFrom(from *stackconfig.RemovedFrom) (stacks []stackconfig.RemovedStep, last stackconfig.RemovedStep) {
	if from.Component != nil {
		return from.Stacks, *from.Component
	}
	n := len(from.Stacks) - 1
	return from.Stacks[:n], from.Stacks[n]
}

func descend(stack stackaddrs.Stack, steps []stackconfig.RemovedStep) stackaddrs.Stack {
	for _, step := range steps {
		stack = stack.Child(step.Name)
	}
	return stack
}

// Validate reports what is wrong in any instance.
func (r *RemovedConfig) Validate(ctx context.Context) hcl.Diagnostics {
	scope, diags := staticInstanceScope(ctx, r.stack, r.decl.ForEach, "removed")
	stacks, last := splitFrom(r.decl.From)
	for _, step := range append(slices.Clone(stacks), last) {
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
	set := inputs.OfStack(child.decl)
	_, diags := evalStackInputs(ctx, r.decl.Inputs, r.decl.Range, set, expr.ValidatePhase, scope)
	if r.decl.Inputs != nil {
		diags = diags.Extend(set.Undeclared(r.decl.Inputs))
	}
	return diags
}

// child is the stack that the block removes; nil for a component, and if it could not be loaded.
func (r *RemovedConfig) child() *StackConfig {
	if r.decl.From.Component != nil {
		return nil
	}
	return r.stack.main.config.descendant(descend(r.stack.addr, r.decl.From.Stacks))
}
