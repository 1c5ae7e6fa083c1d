// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"maps"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/components"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/foreach"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/memo"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

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

func (c *ComponentInstance) planState(ctx context.Context) planState {
	if !c.main.isSelected(ctx, c.addr) {
		return planComplete // others take its results from the state
	}
	return stateOfPlan(c.Plan(ctx))
}

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

// requirementsState is the worst state of the plans of all required components.
func (c *ComponentInstance) requirementsState(ctx context.Context) planState {
	worst := planComplete
	for _, addr := range c.component.RequiredComponents(ctx).Sorted() {
		required := c.main.component(ctx, addr)
		if required == nil {
			return planFailed
		}
		worst = max(worst, required.planState(ctx))
	}
	return worst
}

// dependentsState is the worst state of the plans of the instance's dependents in the state. Before
// these are gone, or have let go of the instance, the instance cannot go either.
func (i *managedInstance) dependentsState(ctx context.Context) planState {
	prior := i.prior()
	if prior == nil {
		return planComplete
	}
	worst := planComplete
	cycles := i.main.recordedCycles()
	component := stackaddrs.ComponentOf(i.addr)
	dependents := maps.Clone(i.main.recordedUsers()[component]) // its users record that; its own record may be older
	if dependents == nil {
		dependents = make(components.Set)
	}
	for _, dependent := range prior.Dependents {
		dependents[dependent] = struct{}{}
	}
	for _, dependent := range dependents.Sorted() {
		if cycles[dependent] != cycles[component] {
			worst = max(worst, i.main.dependentState(ctx, dependent))
		}
	}
	return worst
}

// dependentState is the worst state of the plans of a component's instances, whichever block they
// come from. Instances that no block has any more do not count.
func (m *Main) dependentState(ctx context.Context, addr stackaddrs.AbsComponent) planState {
	stack, found := m.findStack(ctx, addr.Stack)
	switch found {
	case certaintyNo, certaintyUnknown: // a component without instances is not a stand-in, and needs nothing
		return planComplete
	case certaintyFailed:
		return planFailed
	case certaintyYes:
	}
	worst := planComplete
	if component := stack.components[addr.Item.Name]; component != nil {
		worst = component.stateOfExisting(ctx)
	}
	if removals := stack.componentRemovals[addr.Item.Name]; removals != nil {
		for _, inst := range removals.Claims(ctx).instances {
			if m.isSelected(ctx, inst.addr) {
				worst = max(worst, stateOfPlan(inst.Plan(ctx)))
			}
		}
	}
	return worst
}

// stateOfExisting is like planState for something to go: instances that the plan leaves out do not
// count, and of a set that is not known only those that there are.
func (c *Component) stateOfExisting(ctx context.Context) planState {
	if c.Instances(ctx).Kind == foreach.Failed {
		return planFailed
	}
	worst := planComplete
	for key, inst := range c.Present(ctx) {
		if !key.IsWildcard() && c.stack.main.isSelected(ctx, inst.addr) {
			worst = max(worst, inst.planState(ctx))
		}
	}
	return worst
}
