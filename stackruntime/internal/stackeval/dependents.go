// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"maps"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/reference"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/foreach"
)

// dependentsState is the worst state of the plans of what the state says depends on the instance. Before that is
// gone, or has let go of the instance, the instance cannot go either.
func (i *managedInstance) dependentsState(ctx context.Context) planState {
	prior := i.prior()
	if prior == nil {
		return planComplete
	}
	worst := planComplete
	cycles := i.main.recordedCycles()
	for _, dependent := range prior.Dependents {
		if cycles[dependent] != cycles[stackaddrs.ComponentOf(i.addr)] {
			worst = max(worst, i.main.dependentState(ctx, dependent))
		}
	}
	return worst
}

// dependentState is the worst state of the plans of a component's instances, whichever block they come from. What no
// block has any more does not count.
func (m *Main) dependentState(ctx context.Context, addr stackaddrs.AbsComponent) planState {
	stack, found := m.findStack(ctx, addr.Stack)
	switch found {
	case certaintyNo, certaintyUnknown: // what nothing exists of is not a stand-in, and needs nothing
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

// stateOfExisting is like planState for something to go: instances that the plan leaves out do not count, and of a
// set that is not known only those that there are.
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

// findRecordedCycles numbers the components in the prior state, such that two have the same number if each depends on
// the other, however indirectly. One apply never leaves such a cycle; but what it records may contradict what an earlier
// one did, of components that it did not touch. In a cycle nobody waits for another.
func (m *Main) findRecordedCycles() map[stackaddrs.AbsComponent]int {
	dependents := make(map[stackaddrs.AbsComponent][]stackaddrs.AbsComponent)
	for addr, prior := range m.prior().Components {
		component := stackaddrs.ComponentOf(addr)
		dependents[component] = append(dependents[component], prior.Dependents...)
	}
	cycles := make(map[stackaddrs.AbsComponent]int)
	groups := reference.Groups(maps.Keys(dependents), func(c stackaddrs.AbsComponent) []stackaddrs.AbsComponent { return dependents[c] })
	for number, group := range groups {
		for _, member := range group {
			cycles[member] = number
		}
	}
	return cycles
}
