// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"iter"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/internal/reference"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/components"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/foreach"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/inputs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/memo"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/steps"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Component is a component in one stack instance, before its for_each is applied.
type Component struct {
	stack  *Stack
	addr   stackaddrs.AbsComponent
	config *ComponentConfig

	instances[*ComponentInstance]
	required memo.Memo[components.Set]
	planned  memo.Memo[planState]
}

func newComponent(stack *Stack, config *ComponentConfig) *Component {
	c := &Component{
		stack:  stack,
		addr:   stackaddrs.AbsComponent{Stack: stack.addr, Item: config.addr.Item},
		config: config,
	}
	c.instances = newInstances(stack, c.addr.String(), config.decl.ForEach, "component", c.existingKeys,
		func(key stackaddrs.InstanceKey, repetition foreach.Repetition) *ComponentInstance {
			return newComponentInstance(c, key, repetition)
		})
	return c
}

// ExprReferenceValue implements [expr.Referenceable]: the outputs of the
// component, or an object with those of each instance. Not a map, because
// instances may have different types.
func (c *Component) ExprReferenceValue(ctx context.Context) cty.Value {
	instances := c.Instances(ctx)
	switch instances.Kind {
	case foreach.Single:
		return instances.Instances[stackaddrs.NoKey].ResultValue(ctx)
	case foreach.Keyed:
		results := make(map[string]cty.Value, len(instances.Instances))
		for key, inst := range instances.InOrder() {
			name, _ := key.AsString()
			results[name] = inst.ResultValue(ctx)
		}
		return cty.ObjectVal(results)
	case foreach.Unknown:
		return cty.DynamicVal
	default:
		return expr.Placeholder(cty.DynamicPseudoType)
	}
}

// Check implements [Checkable].
func (c *Component) Check(ctx context.Context) hcl.Diagnostics {
	instances, diags := c.CheckInstances(ctx)
	c.announce(ctx, instances)
	return diags
}

// existingKeys are the instances that there are already.
func (c *Component) existingKeys() []stackaddrs.InstanceKey {
	return c.stack.main.existing().ComponentKeys(c.addr)
}

// Present are the instances that there are for all we know: of a set that is not known, stand-ins
// for those that no removed block claims.
func (c *Component) Present(ctx context.Context) iter.Seq2[stackaddrs.InstanceKey, *ComponentInstance] {
	instances := c.Instances(ctx)
	removals := c.stack.componentRemovals[c.addr.Item.Name]
	if instances.Known() || removals == nil {
		return instances.WithStandIns()
	}
	claims := removals.Claims(ctx)
	return instances.StandInsExcept(func(key stackaddrs.InstanceKey) bool { return claims.instances[key] != nil })
}

func (c *Component) announce(ctx context.Context, instances foreach.Expansion[*ComponentInstance]) {
	hook := c.stack.main.hooks.ComponentExpanded
	if hook == nil || instances.Kind == foreach.Failed {
		return
	}
	addrs := make([]stackaddrs.AbsComponentInstance, 0, len(instances.Instances))
	for _, inst := range c.Present(ctx) {
		addrs = append(addrs, inst.addr)
	}
	hook(c.addr, addrs)
}

// RequiredComponents are the components that this one depends on: those whose
// results its arguments refer to, however indirectly, and those in depends_on.
func (c *Component) RequiredComponents(ctx context.Context) components.Set {
	return c.required.Value(ctx, func() memo.Aspect[components.Set] {
		return memo.Aspect[components.Set]{
			Name: c.addr.String() + " requirements",
			Compute: func(ctx context.Context) (components.Set, hcl.Diagnostics) {
				return c.stack.requiredBy(ctx, c.config.decl), nil
			},
		}
	})
}

func (c *Component) module(ctx context.Context) *engine.Module { return c.config.Module(ctx) }

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
	if !c.isKnownSound() { // else it is on no cycle
		c.checks.Value(ctx, c.checksAspect)
	}
	return cty.DynamicVal
}

// isKnownSound reports whether checking the component is known to find nothing.
func (c *ComponentConfig) isKnownSound() bool { return c.stack.main.sound[c.addr] }

// Validate reports the mistakes that any instance would have.
func (c *ComponentConfig) Validate(ctx context.Context) hcl.Diagnostics {
	_, diags := c.checks.Check(ctx, c.checksAspect)
	return diags.Extend(c.checkModule(ctx))
}

// checksAspect evaluates everything that can refer to other objects.
func (c *ComponentConfig) checksAspect() memo.Aspect[struct{}] {
	return memo.Aspect[struct{}]{
		Name: c.addr.String(),
		Compute: func(ctx context.Context) (struct{}, hcl.Diagnostics) {
			scope, diags := c.instanceScope(ctx)
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
// Shape: an attribute for each variable of the module, of its type. Null: where the module has no
// default. Marks: kept.
func (c *ComponentConfig) evalInputs(
	ctx context.Context, module *engine.Module, phase expr.EvalPhase, scope expr.EvaluationScope,
) (map[string]cty.Value, hcl.Diagnostics) {
	if module == nil {
		if c.decl.Inputs == nil {
			return nil, nil
		}
		_, diags := expr.EvalExpr(ctx, c.decl.Inputs, phase, scope)
		return nil, diags
	}
	return evalInputs(ctx, c.decl.Inputs, c.decl.Range, inputs.OfModule(module), phase, scope)
}

// visitDependsOn evaluates the objects that depends_on names, to find cycles.
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

// staticSet is the set of for_each as far as it is known without values.
func (c *ComponentConfig) staticSet(ctx context.Context) foreach.Set {
	return c.set.Value(ctx, c.setAspect)
}

// setAspect evaluates for_each, once for all that ask.
func (c *ComponentConfig) setAspect() memo.Aspect[foreach.Set] {
	return memo.Aspect[foreach.Set]{
		Name:        c.addr.String() + " for_each",
		Placeholder: foreach.FailedSet,
		Compute: func(ctx context.Context) (foreach.Set, hcl.Diagnostics) {
			return staticForEach(ctx, c.stack, c.decl.ForEach, "component")
		},
	}
}

// instanceScope is that of the arguments of any instance. It reports mistakes in for_each.
func (c *ComponentConfig) instanceScope(ctx context.Context) (expr.EvaluationScope, hcl.Diagnostics) {
	if c.decl.ForEach == nil {
		return c.stack, nil
	}
	_, diags := c.set.Check(ctx, c.setAspect)
	return repetitionScope{c.stack, foreach.StaticRepetition}, diags
}
