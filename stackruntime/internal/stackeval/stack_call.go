// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"iter"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/claims"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/components"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/foreach"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/inputs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/memo"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// StackCall is a stack block in one stack instance, before its for_each is applied.
type StackCall struct {
	stack  *Stack
	addr   stackaddrs.AbsStackCall
	config *StackCallConfig

	instances[*StackCallInstance]
	required memo.Memo[components.Set]
	inside   memo.Memo[components.Set]
}

func newStackCall(stack *Stack, config *StackCallConfig) *StackCall {
	c := &StackCall{
		stack:  stack,
		addr:   stackaddrs.AbsStackCall{Stack: stack.addr, Item: config.addr.Item},
		config: config,
	}
	c.instances = newInstances(stack, c.addr.String(), config.decl.ForEach, "stack", c.existingKeys,
		func(key stackaddrs.InstanceKey, repetition foreach.Repetition) *StackCallInstance {
			return newStackCallInstance(c, key, repetition)
		})
	return c
}

// ExprReferenceValue implements [expr.Referenceable]: the outputs of the
// embedded stack, or a map of them.
func (c *StackCall) ExprReferenceValue(ctx context.Context) cty.Value {
	if !c.config.hasAllOutputs() {
		return expr.Placeholder(cty.DynamicPseudoType)
	}
	return instancesValue(c.Instances(ctx), c.config.child.outputsType(), func(inst *StackCallInstance) cty.Value {
		return inst.outputs(ctx)
	})
}

// existingKeys are the instances of which something is there already.
func (c *StackCall) existingKeys() []stackaddrs.InstanceKey {
	return c.stack.main.existing().StackKeys(claims.StackCall{Caller: c.stack.addr, Name: c.addr.Item.Name})
}

// Present is like [Component.Present].
func (c *StackCall) Present(ctx context.Context) iter.Seq2[stackaddrs.InstanceKey, *StackCallInstance] {
	instances := c.Instances(ctx)
	removals := c.stack.stackRemovals[c.addr.Item.Name]
	if instances.Known() || removals == nil {
		return instances.WithStandIns()
	}
	claims := removals.Claims(ctx)
	return instances.StandInsExcept(func(key stackaddrs.InstanceKey) bool { return claims.instances[key] != nil })
}

// RequiredComponents are the components that the block itself depends on.
func (c *StackCall) RequiredComponents(ctx context.Context) components.Set {
	return c.required.Value(ctx, func() memo.Aspect[components.Set] {
		return memo.Aspect[components.Set]{
			Name: c.addr.String() + " requirements",
			Compute: func(ctx context.Context) (components.Set, hcl.Diagnostics) {
				return c.stack.requiredBy(ctx, c.config.decl), nil
			},
		}
	})
}

// componentsInside are the components of all instances of the embedded stack.
func (c *StackCall) componentsInside(ctx context.Context) components.Set {
	return c.inside.Value(ctx, func() memo.Aspect[components.Set] {
		return memo.Aspect[components.Set]{
			Name: c.addr.String() + " components",
			Compute: func(ctx context.Context) (components.Set, hcl.Diagnostics) {
				inside := make(components.Set)
				for _, inst := range c.Instances(ctx).WithStandIns() {
					if inst.stack != nil {
						inside.AddAll(inst.stack.allComponents(ctx))
					}
				}
				return inside, nil
			},
		}
	})
}

// requiredByResult are the components that whoever refers to the call depends on.
func (c *StackCall) requiredByResult(ctx context.Context) components.Set {
	required := make(components.Set)
	required.AddAll(c.componentsInside(ctx))
	required.AddAll(c.RequiredComponents(ctx))
	return required
}

// StackCallInstance is one instance of a stack call. It manages the stack
// instance that it embeds.
type StackCallInstance struct {
	call       *StackCall
	repetition foreach.Repetition
	stack      *Stack // nil when the embedded stack could not be loaded
	addr       stackaddrs.AbsStackCallInstance

	inputs memo.Memo[map[string]cty.Value]
}

func newStackCallInstance(call *StackCall, key stackaddrs.InstanceKey, repetition foreach.Repetition) *StackCallInstance {
	c := &StackCallInstance{
		call:       call,
		repetition: repetition,
		addr: stackaddrs.AbsStackCallInstance{
			Stack: call.stack.addr,
			Item:  stackaddrs.StackCallInstance{Call: call.addr.Item, Key: key},
		},
	}
	if child := call.config.child; child != nil {
		c.stack = newStack(Stack{
			parent: call.stack, addr: call.stack.addr.Child(call.addr.Item.Name, key), config: child, call: c,
			disposition: call.stack.disposition, standIn: call.stack.standsIn(key, repetition),
		})
	}
	return c
}

// InputValues are the values of the embedded stack's variables, of their
// types but without the marks of their declarations.
func (c *StackCallInstance) InputValues(ctx context.Context) map[string]cty.Value {
	return c.inputs.Value(ctx, c.inputsAspect)
}

// Check implements [Checkable]: it reports mistakes in the inputs.
func (c *StackCallInstance) Check(ctx context.Context) hcl.Diagnostics {
	if c.stack == nil {
		return nil
	}
	_, diags := c.inputs.Check(ctx, c.inputsAspect)
	return diags
}

func (c *StackCallInstance) inputsAspect() memo.Aspect[map[string]cty.Value] {
	set := inputs.OfStack(c.stack.decl())
	return memo.Aspect[map[string]cty.Value]{
		Name:        c.addr.String() + " inputs",
		Placeholder: set.Placeholders(),
		Compute: func(ctx context.Context) (map[string]cty.Value, hcl.Diagnostics) {
			caller := c.call.stack
			return evalStackInputs(ctx, c.call.config.decl.Inputs, c.call.config.decl.Range, set,
				caller.main.phase, repetitionScope{caller, c.repetition})
		},
	}
}

// outputs are the results of the embedded stack.
//
// Shape: an object with all declared outputs.
func (c *StackCallInstance) outputs(ctx context.Context) cty.Value {
	if c.stack == nil {
		return expr.Placeholder(cty.DynamicPseudoType)
	}
	attrs := make(map[string]cty.Value, len(c.stack.outputs))
	for _, name := range sortedKeys(c.stack.outputs) {
		attrs[name] = c.stack.outputs[name].Value(ctx)
	}
	return cty.ObjectVal(attrs)
}

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

// hasAllOutputs reports whether an output that the embedded stack does not have is a mistake of
// whoever refers to it: it may be declared in a file that could not be decoded, which has been
// reported.
func (c *StackCallConfig) hasAllOutputs() bool { return c.child != nil && !c.child.decl.Incomplete }

// InputValues are the values of the embedded stack's variables, as far as they
// are the same in all instances. Without marks of the variables' declarations.
func (c *StackCallConfig) InputValues(ctx context.Context) map[string]cty.Value {
	return c.inputs.Value(ctx, c.inputsAspect)
}

// Validate reports the mistakes that any instance would have.
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

// evalStackInputs is [evalInputs] for the inputs of a stack.
func evalStackInputs(
	ctx context.Context, argument hcl.Expression, block hcl.Range, set inputs.Set, phase expr.EvalPhase, scope expr.EvaluationScope,
) (map[string]cty.Value, hcl.Diagnostics) {
	return evalInputs(ctx, argument, block, set, phase, scopeWithoutProviders{scope, "The inputs of an embedded stack"})
}

// evalInputs evaluates the inputs argument of a block in the scope of an instance. argument is nil
// when there is none.
func evalInputs(
	ctx context.Context, argument hcl.Expression, block hcl.Range, set inputs.Set, phase expr.EvalPhase, scope expr.EvaluationScope,
) (map[string]cty.Value, hcl.Diagnostics) {
	if argument == nil {
		return set.WithoutArgument(block)
	}
	result, diags := expr.EvalExprAndEvalContext(ctx, argument, phase, scope)
	take := set.FromArgument
	if diags.HasErrors() {
		take = set.FromFailed
	}
	values, moreDiags := take(result)
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
