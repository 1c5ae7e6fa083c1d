// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/foreach"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/memo"
)

// Component is a component in one stack instance, before its for_each is applied.
type Component struct {
	stack  *Stack
	addr   stackaddrs.AbsComponent
	config *ComponentConfig

	instances[*ComponentInstance]
	required memo.Memo[componentSet]
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
func (c *Component) ExprReferenceValue(ctx context.Context, _ expr.EvalPhase) cty.Value {
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
	c.announce(instances)
	return nil, diags
}

// CheckApply implements [Applyable].
func (c *Component) CheckApply(ctx context.Context) hcl.Diagnostics {
	instances, diags := c.CheckInstances(ctx)
	c.announce(instances)
	return diags
}

// existingKeys are the instances that there are already, in the prior state or,
// while applying, in the plan. Those that removed blocks claim do not count.
func (c *Component) existingKeys(ctx context.Context) []stackaddrs.InstanceKey {
	var keys []stackaddrs.InstanceKey
	removed := c.stack.main.removedBlocks(ctx).components
	for addr := range c.stack.main.existing() {
		if stackaddrs.ComponentOf(addr) == c.addr && removed[addr] == nil && !addr.Item.Key.IsWildcard() {
			keys = append(keys, addr.Item.Key)
		}
	}
	return keys
}

func (c *Component) announce(instances foreach.Expansion[*ComponentInstance]) {
	hook := c.stack.main.hooks.ComponentExpanded
	if hook == nil || instances.Kind == foreach.Failed {
		return
	}
	addrs := make([]stackaddrs.AbsComponentInstance, 0, len(instances.Instances))
	for _, inst := range instances.WithStandIns() {
		addrs = append(addrs, inst.addr)
	}
	hook(c.addr, addrs)
}

// RequiredComponents are the components that this one depends on: those whose
// results its arguments refer to, however indirectly, and those in depends_on.
func (c *Component) RequiredComponents(ctx context.Context) componentSet {
	return c.required.Value(ctx, func() memo.Aspect[componentSet] {
		return memo.Aspect[componentSet]{
			Name: c.addr.String() + " requirements",
			Compute: func(ctx context.Context) (componentSet, hcl.Diagnostics) {
				decl := c.config.decl
				required := c.stack.requiredBy(ctx, decl.ForEach, decl.Inputs)
				for _, assignment := range decl.Providers {
					required.addAll(c.stack.requiredBy(ctx, assignment.Value))
				}
				required.addAll(c.stack.requiredByTraversals(ctx, decl.DependsOn))
				return required, nil
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
				worst := planComplete
				switch instances.Kind {
				case foreach.Failed:
					return planFailed, nil
				case foreach.Unknown:
					worst = planDeferred
				case foreach.Single, foreach.Keyed:
				}
				for _, inst := range instances.WithStandIns() {
					worst = max(worst, inst.planState(ctx))
				}
				return worst, nil
			},
		}
	})
}

func (c *ComponentInstance) planState(ctx context.Context) planState {
	switch plan := c.Plan(ctx); {
	case plan == nil:
		return planFailed
	case !plan.Complete:
		return planDeferred
	default:
		return planComplete
	}
}

func (c *Component) module(ctx context.Context) *engine.Module { return c.config.Module(ctx) }
