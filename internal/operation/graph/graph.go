// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package graph has the components of a stack and their requirements, from a configuration or a
// plan.
package graph

import (
	"maps"
	"slices"

	"github.com/cairnstacks/cairn/internal/deferral"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// Graph are components, sorted by address. A required component need not be among them: a plan may
// leave it out.
type Graph struct{ Components []Component }

// Component is a component, with all of its instances.
type Component struct {
	Addr     stackaddrs.AbsComponent
	Requires []stackaddrs.AbsComponent // sorted, each once
	Planned  *Planned                  // nil in the graph of a configuration
}

// Planned holds the planned actions for the instances of a component.
type Planned struct {
	Actions  []stackplan.Action // sorted, each once
	Deferred bool               // some of it cannot be planned yet
	Failed   bool               // some of it could not be planned
	Counts   stackplan.Counts
}

// New returns the graph of components, given the requirements of each.
func New(requires map[stackaddrs.AbsComponent][]stackaddrs.AbsComponent) Graph {
	var g Graph
	for _, addr := range slices.SortedFunc(maps.Keys(requires), stackaddrs.AbsComponent.Compare) {
		required := slices.SortedFunc(slices.Values(requires[addr]), stackaddrs.AbsComponent.Compare)
		g.Components = append(g.Components, Component{Addr: addr, Requires: slices.Compact(required)})
	}
	return g
}

// OfState returns the graph of the components in a state, by the requirements of their last apply.
func OfState(state *stackstate.State) Graph {
	requires := map[stackaddrs.AbsComponent][]stackaddrs.AbsComponent{}
	for _, instance := range state.Components {
		addr := stackaddrs.ComponentOf(instance.Addr)
		requires[addr] = append(requires[addr], instance.Dependencies...)
	}
	return New(requires)
}

// OfPlan returns the graph of the components in a plan.
func OfPlan(plan *stackplan.Plan) Graph {
	requires := map[stackaddrs.AbsComponent][]stackaddrs.AbsComponent{}
	all := map[stackaddrs.AbsComponent]*Planned{}
	for _, instance := range plan.Components {
		addr := stackaddrs.ComponentOf(instance.Addr)
		requires[addr] = append(requires[addr], instance.Requires...)
		planned := all[addr]
		if planned == nil {
			planned = &Planned{}
			all[addr] = planned
		}
		planned.Actions = append(planned.Actions, instance.Action)
		planned.Deferred = planned.Deferred || deferral.IsDeferred(plan, instance)
		planned.Failed = planned.Failed || deferral.Failed(plan, instance)
		planned.Counts = planned.Counts.Plus(instance.Counts())
	}
	g := New(requires)
	for i := range g.Components {
		planned := all[g.Components[i].Addr]
		slices.Sort(planned.Actions)
		planned.Actions = slices.Compact(planned.Actions)
		g.Components[i].Planned = planned
	}
	return g
}
