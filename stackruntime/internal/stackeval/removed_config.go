// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"

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
	if r.decl.From.Component == nil {
		return hcl.Diagnostics{{
			Severity: hcl.DiagError,
			Summary:  "Removal of whole stacks cannot be run",
			Detail:   "This version of cairn carries out removed blocks for components only, and ignoring this one would leave infrastructure behind. Write a removed block for each component of the stack.",
			Subject:  r.decl.From.Range.Ptr(),
		}}
	}
	scope, diags := staticInstanceScope(ctx, r.stack, r.decl.ForEach, "removed")
	for _, step := range append(r.decl.From.Stacks, *r.decl.From.Component) {
		if step.Index != nil {
			_, moreDiags := expr.EvalExpr(ctx, step.Index, expr.ValidatePhase, scope)
			diags = diags.Extend(moreDiags)
		}
	}
	diags = diags.Extend(r.checkAssignments(ctx, scope))
	return diags.Extend(r.checkModule(ctx))
}
