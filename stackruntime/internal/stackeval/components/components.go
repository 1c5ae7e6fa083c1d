// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package components has sets of components, and graphs of the components that each of them leads
// to.
package components

import (
	"iter"
	"maps"
	"slices"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/reference"
)

// Set is a set of components. Sets are shared: never change one that
// somebody else has made.
type Set map[stackaddrs.AbsComponent]struct{}

// AddAll adds those of another set.
func (s Set) AddAll(other Set) {
	maps.Copy(s, other)
}

// Has reports whether a component is in the set.
func (s Set) Has(component stackaddrs.AbsComponent) bool {
	_, ok := s[component]
	return ok
}

// Sorted returns the components in order.
func (s Set) Sorted() []stackaddrs.AbsComponent {
	return slices.SortedFunc(maps.Keys(s), stackaddrs.AbsComponent.Compare)
}

// Graph has the components that each component leads to: its requirements, or its dependents.
type Graph map[stackaddrs.AbsComponent]Set

// Add adds an edge.
func (g Graph) Add(from, to stackaddrs.AbsComponent) {
	if g[from] == nil {
		g[from] = make(Set)
	}
	g[from][to] = struct{}{}
}

// Reversed is the graph with its edges turned round.
func (g Graph) Reversed() Graph {
	r := make(Graph, len(g))
	for from, others := range g {
		for to := range others {
			r.Add(to, from)
		}
	}
	return r
}

// Reach returns all that the components of some instances lead to; see [reference.Reach].
func (g Graph) Reach(from []stackaddrs.AbsComponentInstance) Set {
	components := func(yield func(stackaddrs.AbsComponent) bool) {
		for _, addr := range from {
			if !yield(stackaddrs.ComponentOf(addr)) {
				return
			}
		}
	}
	return reference.Reach(components, func(c stackaddrs.AbsComponent) iter.Seq[stackaddrs.AbsComponent] { return maps.Keys(g[c]) })
}

// Sorted has the same in order.
func (g Graph) Sorted() map[stackaddrs.AbsComponent][]stackaddrs.AbsComponent {
	sorted := make(map[stackaddrs.AbsComponent][]stackaddrs.AbsComponent, len(g))
	for from, others := range g {
		sorted[from] = others.Sorted()
	}
	return sorted
}
