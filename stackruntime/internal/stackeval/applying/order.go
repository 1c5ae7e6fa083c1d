// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"slices"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Order knows which instances of the plan have to wait for which.
type Order struct {
	instances  map[stackaddrs.AbsComponent][]*stackplan.Component
	dependents map[stackaddrs.AbsComponent][]stackaddrs.AbsComponent // sorted
}

// NewOrder returns the order of the changes of a plan.
func NewOrder(plan *stackplan.Plan) *Order {
	o := &Order{
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

// Dependents are the components that require one, sorted. The caller must not change them.
func (o *Order) Dependents(component stackaddrs.AbsComponent) []stackaddrs.AbsComponent {
	return o.dependents[component]
}

// Predecessors are the instances that have to be done before one can be applied: those of what it requires, or if
// it goes away, those that require it.
//
// What stays does not wait for what goes: that has to wait for it. Of two that go and require each other, as
// they did at different times, only one waits.
func (o *Order) Predecessors(plan *stackplan.Component) []stackaddrs.AbsComponentInstance {
	var found []stackaddrs.AbsComponentInstance
	if !Ends(plan) {
		for _, required := range plan.Requires {
			for _, other := range o.instances[required] {
				if !Ends(other) {
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
			if slices.Contains(other.Requires, component) && (!mutual || !Ends(other)) {
				found = append(found, other.Addr)
			}
		}
	}
	return found
}

// Ends reports whether a plan is the end of an instance.
func Ends(plan *stackplan.Component) bool {
	return plan.Action == stackplan.Delete || plan.Action == stackplan.Forget
}
