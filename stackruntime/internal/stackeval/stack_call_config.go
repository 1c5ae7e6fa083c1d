// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/inputs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/memo"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// StackCallConfig is a stack block. It manages the configuration of the stack
// it embeds.
type StackCallConfig struct {
	stack *StackConfig
	addr  stackaddrs.ConfigStackCall
	decl  *stackconfig.StackCall
	child *StackConfig // nil when it could not be loaded

	inputs  memo.Memo[map[string]cty.Value]
	outputs memo.Memo[cty.Value]
}

func newStackCallConfig(stack *StackConfig, decl *stackconfig.StackCall) *StackCallConfig {
	c := &StackCallConfig{
		stack: stack,
		addr:  stackaddrs.ConfigStackCall{Stack: stack.addr, Item: stackaddrs.StackCall{Name: decl.Name}},
		decl:  decl,
	}
	if child, ok := stack.decl.Children[decl.Name]; ok {
		c.child = newStackConfig(stack.main, child, c)
	}
	return c
}

// ExprReferenceValue implements [expr.Referenceable].
func (c *StackCallConfig) ExprReferenceValue(ctx context.Context) cty.Value {
	outputs := c.outputs.Value(ctx, c.outputsAspect)
	if c.decl.ForEach == nil || !c.hasAllOutputs() {
		return outputs
	}
	return cty.UnknownVal(cty.Map(c.child.outputsType()))
}

// hasAllOutputs reports whether an output that the embedded stack does not have is a mistake of whoever refers to it:
// it may be declared in a file that could not be decoded, which has been reported.
func (c *StackCallConfig) hasAllOutputs() bool { return c.child != nil && !c.child.decl.Incomplete }

// InputValues are the values of the embedded stack's variables, as far as they
// are the same in all instances. Without marks of the variables' declarations.
func (c *StackCallConfig) InputValues(ctx context.Context) map[string]cty.Value {
	return c.inputs.Value(ctx, c.inputsAspect)
}

// Validate reports what is wrong in any instance.
func (c *StackCallConfig) Validate(ctx context.Context) hcl.Diagnostics {
	diags := c.stack.checkDependsOn(c.decl.DependsOn)
	if c.child == nil {
		return diags
	}
	_, moreDiags := c.inputs.Check(ctx, c.inputsAspect)
	diags = diags.Extend(moreDiags)
	_, moreDiags = c.outputs.Check(ctx, c.outputsAspect)
	diags = diags.Extend(moreDiags)
	if c.decl.Inputs != nil {
		diags = diags.Extend(inputs.OfStack(c.child.decl).Undeclared(c.decl.Inputs))
	}
	return diags
}

func (c *StackCallConfig) inputsAspect() memo.Aspect[map[string]cty.Value] {
	set := inputs.OfStack(c.child.decl)
	return memo.Aspect[map[string]cty.Value]{
		Name:        c.addr.String() + " inputs",
		Placeholder: set.Placeholders(),
		Compute: func(ctx context.Context) (map[string]cty.Value, hcl.Diagnostics) {
			scope, diags := staticInstanceScope(ctx, c.stack, c.decl.ForEach, "stack")
			values, moreDiags := evalStackInputs(ctx, c.decl.Inputs, c.decl.Range, set, expr.ValidatePhase, scope)
			return values, diags.Extend(moreDiags)
		},
	}
}

// evalStackInputs evaluates the inputs argument of a block in the scope of an
// instance. argument is nil when there is none.
func evalStackInputs(ctx context.Context, argument hcl.Expression, block hcl.Range, set inputs.Set, phase expr.EvalPhase, scope expr.EvaluationScope) (map[string]cty.Value, hcl.Diagnostics) {
	if argument == nil {
		return set.WithoutArgument(block)
	}
	scope = scopeWithoutProviders{scope, "The inputs of an embedded stack"}
	result, diags := expr.EvalExprAndEvalContext(ctx, argument, phase, scope)
	if diags.HasErrors() {
		return set.Placeholders(), diags
	}
	values, moreDiags := set.FromArgument(result)
	return values, diags.Extend(moreDiags)
}

func (c *StackCallConfig) outputsAspect() memo.Aspect[cty.Value] {
	return memo.Aspect[cty.Value]{
		Name:        c.addr.String() + " collected outputs",
		Placeholder: expr.Placeholder(cty.DynamicPseudoType),
		Compute: func(ctx context.Context) (cty.Value, hcl.Diagnostics) {
			if c.child == nil {
				return expr.Placeholder(cty.DynamicPseudoType), nil
			}
			attrs := make(map[string]cty.Value, len(c.child.outputs))
			for _, name := range sortedKeys(c.child.outputs) {
				attrs[name] = c.child.outputs[name].Value(ctx)
			}
			if !c.hasAllOutputs() {
				return expr.Placeholder(cty.DynamicPseudoType), nil
			}
			return cty.ObjectVal(attrs), nil
		},
	}
}

// outputsType is the type of the object with all outputs of the stack.
func (s *StackConfig) outputsType() cty.Type {
	return cty.Object(mapValues(s.decl.Outputs, func(o *stackconfig.OutputValue) cty.Type {
		return o.Type.WithoutOptional()
	}))
}
