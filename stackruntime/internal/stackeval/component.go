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
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/components"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/foreach"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/memo"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
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

// PlanChanges implements [Plannable].
func (c *Component) PlanChanges(ctx context.Context) ([]PlannedChange, hcl.Diagnostics) {
	instances, diags := c.CheckInstances(ctx)
	c.announce(ctx, instances)
	return nil, diags
}

// CheckApply implements [Applyable].
func (c *Component) CheckApply(ctx context.Context) hcl.Diagnostics {
	instances, diags := c.CheckInstances(ctx)
	c.announce(ctx, instances)
	return diags
}

// existingKeys are the instances that there are already.
func (c *Component) existingKeys() []stackaddrs.InstanceKey {
	return c.stack.main.existing().ComponentKeys(c.addr)
}

// Present are the instances that there are for all we know: of a set that is not known, stand-ins for those
// that no removed block claims.
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
// It implements [Applyable].
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

// planState says how the plans of a component's instances came out.
type planState int

const (
	planComplete planState = iota
	planDeferred
	planFailed
)

// planState is the worst state of any instance's plan.
func (c *Component) planState(ctx context.Context) planState {
	return c.planned.Value(ctx, func() memo.Aspect[planState] {
		return memo.Aspect[planState]{
			Name:        c.addr.String() + " plans",
			Placeholder: planFailed,
			Compute: func(ctx context.Context) (planState, hcl.Diagnostics) {
				instances := c.Instances(ctx)
				switch instances.Kind {
				case foreach.Failed:
					return planFailed, nil
				case foreach.Unknown:
					return planDeferred, nil
				case foreach.Single, foreach.Keyed:
				}
				worst := planComplete
				for _, inst := range instances.InOrder() {
					worst = max(worst, inst.planState(ctx))
				}
				return worst, nil
			},
		}
	})
}

func (c *ComponentInstance) planState(ctx context.Context) planState { return stateOfPlan(c.Plan(ctx)) }

func stateOfPlan(plan *stackplan.Component) planState {
	switch {
	case plan == nil:
		return planFailed
	case !plan.Complete:
		return planDeferred
	default:
		return planComplete
	}
}

func (c *Component) module(ctx context.Context) *engine.Module { return c.config.Module(ctx) }
