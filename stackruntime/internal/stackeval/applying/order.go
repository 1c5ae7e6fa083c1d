// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"slices"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// order knows which instances of the plan have to wait for which.
type order struct {
	instances  map[stackaddrs.AbsComponent][]*stackplan.Component
	dependents map[stackaddrs.AbsComponent][]stackaddrs.AbsComponent // what requires a component, sorted
}

// newOrder returns the order of the changes of a plan.
func newOrder(plan *stackplan.Plan) *order {
	o := &order{
		instances:  make(map[stackaddrs.AbsComponent][]*stackplan.Component),
		dependents: make(map[stackaddrs.AbsComponent][]stackaddrs.AbsComponent),
	}
	for _, c := range plan.Components {
		component := stackaddrs.ComponentOf(c.Addr)
		o.instances[component] = append(o.instances[component], c)
		for _, required := range c.Requires {
			// Instances of one component come one after the other.
			if known := o.dependents[required]; len(known) == 0 || known[len(known)-1] != component {
				o.dependents[required] = append(known, component)
			}
		}
	}
	return o
}

// predecessors are the instances that have to be done before one can be applied: those of what it requires, or if
// it is removed, those that require it.
//
// What stays does not wait for what is removed: that has to wait for it. Of two that are removed and require each other, as
// they did at different times, only one waits.
func (o *order) predecessors(plan *stackplan.Component) []stackaddrs.AbsComponentInstance {
	var found []stackaddrs.AbsComponentInstance
	if !ends(plan) {
		for _, required := range plan.Requires {
			for _, other := range o.instances[required] {
				if !ends(other) {
					found = append(found, other.Addr)
				}
			}
		}
		return found
	}
	component := stackaddrs.ComponentOf(plan.Addr)
	for _, dependent := range o.dependents[component] {
		mutual := slices.Contains(plan.Requires, dependent) && component.Compare(dependent) < 0
		for _, other := range o.instances[dependent] {
			if slices.Contains(other.Requires, component) && (!mutual || !ends(other)) {
				found = append(found, other.Addr)
			}
		}
	}
	return found
}

// ends reports whether a plan is the end of an instance.
func ends(plan *stackplan.Component) bool {
	return plan.Action == stackplan.Delete || plan.Action == stackplan.Forget
}
