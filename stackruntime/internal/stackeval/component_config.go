// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/internal/reference"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/foreach"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/inputs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/memo"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/steps"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// ComponentConfig is a component block.
type ComponentConfig struct {
	stack *StackConfig
	addr  stackaddrs.ConfigComponent
	decl  *stackconfig.Component

	moduleUse
	checks memo.Memo[struct{}]
	set    memo.Memo[foreach.Set] // of its for_each, as far as it is known without values
}

func newComponentConfig(stack *StackConfig, decl *stackconfig.Component) *ComponentConfig {
	addr := stackaddrs.ConfigComponent{Stack: stack.addr, Item: stackaddrs.Component{Name: decl.Name}}
	return &ComponentConfig{
		stack: stack,
		addr:  addr,
		decl:  decl,
		moduleUse: moduleUse{
			stack: stack, user: addr.String(), source: decl.Source,
			providers: decl.Providers, forEach: decl.ForEach, place: decl.Range,
		},
	}
}

// ExprReferenceValue implements [expr.Referenceable].
//
// Results of components are not known before planning. Asking for one checks
// the component all the same, to find cycles.
func (c *ComponentConfig) ExprReferenceValue(ctx context.Context) cty.Value {
	c.checks.Value(ctx, c.checksAspect)
	return cty.DynamicVal
}

// Validate reports what is wrong in any instance.
func (c *ComponentConfig) Validate(ctx context.Context) hcl.Diagnostics {
	_, diags := c.checks.Check(ctx, c.checksAspect)
	return diags.Extend(c.checkModule(ctx))
}

// checksAspect evaluates everything that can refer to other objects.
func (c *ComponentConfig) checksAspect() memo.Aspect[struct{}] {
	return memo.Aspect[struct{}]{
		Name: c.addr.String(),
		Compute: func(ctx context.Context) (struct{}, hcl.Diagnostics) {
			scope, diags := staticInstanceScope(ctx, c.stack, c.decl.ForEach, "component")
			diags = diags.Extend(c.checkInputs(ctx, scope))
			diags = diags.Extend(c.checkAssignments(ctx, scope))
			diags = diags.Extend(c.stack.checkDependsOn(c.decl.DependsOn))
			c.visitDependsOn(ctx)
			return struct{}{}, diags
		},
	}
}

func (c *ComponentConfig) checkInputs(ctx context.Context, scope expr.EvaluationScope) hcl.Diagnostics {
	module := c.Module(ctx)
	_, diags := c.evalInputs(ctx, module, expr.ValidatePhase, scope)
	if module != nil && c.decl.Inputs != nil && c.isSound(ctx) {
		diags = diags.Extend(inputs.OfModule(module).Undeclared(c.decl.Inputs))
	}
	return diags
}

// evalInputs evaluates the inputs argument in the scope of an instance.
//
// Shape: an attribute for each variable of the module, of its type. Null: what
// the module has no default for. Marks: kept.
func (c *ComponentConfig) evalInputs(ctx context.Context, module *engine.Module, phase expr.EvalPhase, scope expr.EvaluationScope) (map[string]cty.Value, hcl.Diagnostics) {
	if module == nil {
		if c.decl.Inputs == nil {
			return nil, nil
		}
		_, diags := expr.EvalExpr(ctx, c.decl.Inputs, phase, scope)
		return nil, diags
	}
	set := inputs.OfModule(module)
	if c.decl.Inputs == nil {
		return set.WithoutArgument(c.decl.Range)
	}
	result, diags := expr.EvalExprAndEvalContext(ctx, c.decl.Inputs, phase, scope)
	if diags.HasErrors() {
		return set.Placeholders(), diags
	}
	values, moreDiags := set.FromArgument(result)
	return values, diags.Extend(moreDiags)
}

// visitDependsOn evaluates what depends_on names, to find cycles.
func (c *ComponentConfig) visitDependsOn(ctx context.Context) {
	for _, target := range reference.Targets(c.decl.DependsOn) {
		if object := c.stack.lookUp(target); object != nil && c.stack.canDependOn(target) {
			object.ExprReferenceValue(ctx)
		}
	}
}

var _ expr.StepChecker = (*ComponentConfig)(nil)

// CheckSteps implements [expr.StepChecker].
func (c *ComponentConfig) CheckSteps(ctx context.Context, traversal hcl.Traversal) hcl.Diagnostics {
	module := c.Module(ctx)
	if module == nil || !c.isSound(ctx) {
		return nil
	}
	component := steps.Component{Addr: c.addr.String(), Module: module}
	if c.decl.ForEach != nil {
		component.Instances = func() foreach.Set { return c.staticSet(ctx) }
	}
	return component.Check(traversal)
}

// staticSet is what is known of for_each without values.
func (c *ComponentConfig) staticSet(ctx context.Context) foreach.Set {
	return c.set.Value(ctx, func() memo.Aspect[foreach.Set] {
		return memo.Aspect[foreach.Set]{
			Name:        c.addr.String() + " for_each",
			Placeholder: foreach.FailedSet,
			Compute: func(ctx context.Context) (foreach.Set, hcl.Diagnostics) {
				result, diags := expr.EvalExprAndEvalContext(ctx, c.decl.ForEach, expr.ValidatePhase, c.stack)
				if diags.HasErrors() {
					return foreach.FailedSet, nil // reported with the other checks
				}
				set, diags := foreach.FromValue(result, "component")
				if diags.HasErrors() {
					return foreach.FailedSet, nil
				}
				return set, nil
			},
		}
	})
}
