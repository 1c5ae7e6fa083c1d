// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/reference"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/components"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// order knows which instances of the plan have to wait for which.
//
// A component that stays waits for those that its plan requires, never for removed ones. A removed
// one waits for all its users: by the plan, or by the state, because the objects of a dependent use
// it until the dependent is updated, whatever the configuration says now. A cycle can arise only
// among components whose requirements are those of different applies; some of those don't wait then
// ([acyclic]).
type order struct {
	prior      *stackstate.State
	instances  map[stackaddrs.AbsComponent][]*stackplan.Component
	dependents map[stackaddrs.AbsComponent][]stackaddrs.AbsComponent // those that require a component, by the plan or the state, sorted
	waits      waits
}

// part is those instances of a component that stay, or those that are removed.
type part struct {
	component stackaddrs.AbsComponent
	ends      bool
}

func partOf(plan *stackplan.Component) part {
	return part{stackaddrs.ComponentOf(plan.Addr), ends(plan)}
}

// wait says that the instances of one part wait for those of another one.
type wait struct{ waiting, before part }

// compare sorts the waits of components that come last first.
func (w wait) compare(other wait) int {
	return cmp.Or(other.waiting.component.Compare(w.waiting.component), other.before.component.Compare(w.before.component))
}

type waits map[wait]bool

// newOrder returns the order of the changes of a plan for a state.
func newOrder(plan *stackplan.Plan, prior *stackstate.State) *order {
	o := &order{
		prior:     prior,
		instances: make(map[stackaddrs.AbsComponent][]*stackplan.Component),
	}
	dependents := components.Users(prior)
	for _, c := range plan.Components {
		component := stackaddrs.ComponentOf(c.Addr)
		o.instances[component] = append(o.instances[component], c)
		for _, required := range c.Requires {
			dependents.Add(required, component)
		}
	}
	o.dependents = dependents.Sorted()
	planned, recorded := make(waits), make(waits)
	for _, c := range plan.Components {
		user := partOf(c)
		for _, required := range c.Requires {
			planned[wait{part{required, true}, user}] = true
			if !user.ends {
				planned[wait{user, part{required, false}}] = true
			}
		}
		for _, required := range o.recorded(c) {
			recorded[wait{part{required, true}, user}] = true
		}
	}
	o.waits = acyclic(recorded, planned)
	return o
}

// acyclic returns the waits without those that close a cycle: of the ones on cycles, those by the
// state are kept rather than those by the plan, and then those of components that come last.
func acyclic(recorded, planned waits) waits {
	next := make(map[part][]part)
	kept := make(waits, len(recorded)+len(planned))
	for _, some := range []waits{recorded, planned} {
		for w := range some {
			next[w.waiting] = append(next[w.waiting], w.before)
			kept[w] = true
		}
	}
	group := make(map[part]int)
	for number, members := range reference.Groups(maps.Keys(next), func(p part) []part { return next[p] }) {
		for _, member := range members {
			group[member] = number
		}
	}
	maps.DeleteFunc(kept, func(w wait, _ bool) bool { return group[w.waiting] == group[w.before] })

	inGroup := make(map[part]map[part]bool)
	leadsTo := func(p part) iter.Seq[part] { return maps.Keys(inGroup[p]) }
	for _, some := range []waits{recorded, planned} {
		for _, w := range slices.SortedFunc(maps.Keys(some), wait.compare) {
			if w.waiting == w.before || group[w.waiting] != group[w.before] {
				continue
			}
			if _, closes := reference.Reach(slices.Values([]part{w.before}), leadsTo)[w.waiting]; closes {
				continue
			}
			if inGroup[w.waiting] == nil {
				inGroup[w.waiting] = make(map[part]bool)
			}
			inGroup[w.waiting][w.before], kept[w] = true, true
		}
	}
	return kept
}

// recorded are the components that an instance uses by the state.
func (o *order) recorded(plan *stackplan.Component) []stackaddrs.AbsComponent {
	if record := o.prior.Components[plan.Addr]; record != nil {
		return record.Dependencies
	}
	return nil
}

// predecessors are the instances that have to be done before one can be applied: those of the
// components it requires, or if it is removed, those that use it.
func (o *order) predecessors(plan *stackplan.Component) []stackaddrs.AbsComponentInstance {
	var found []stackaddrs.AbsComponentInstance
	this := partOf(plan)
	if !this.ends {
		for _, required := range plan.Requires {
			for _, other := range o.instances[required] {
				if !ends(other) && o.waits[wait{this, partOf(other)}] {
					found = append(found, other.Addr)
				}
			}
		}
		return found
	}
	for _, dependent := range o.dependents[this.component] {
		for _, other := range o.instances[dependent] {
			uses := slices.Contains(other.Requires, this.component) || slices.Contains(o.recorded(other), this.component)
			if uses && o.waits[wait{this, partOf(other)}] {
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
