// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package components

import (
	"maps"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/reference"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// Users returns the users of each component by a state.
func Users(state *stackstate.State) Graph {
	users := make(Graph)
	for addr, record := range state.Components {
		for _, used := range record.Dependencies {
			users.Add(used, stackaddrs.ComponentOf(addr))
		}
	}
	return users
}

// RecordedCycles numbers the components in a state, such that two have the same number if each
// depends on the other, however indirectly. One apply never leaves such a cycle; but its records
// may contradict those of an earlier one, about components that it did not touch. In a cycle nobody
// waits for another.
func RecordedCycles(state *stackstate.State) map[stackaddrs.AbsComponent]int {
	dependents := make(map[stackaddrs.AbsComponent][]stackaddrs.AbsComponent)
	for addr, record := range state.Components {
		component := stackaddrs.ComponentOf(addr)
		dependents[component] = append(dependents[component], record.Dependents...)
		for _, used := range record.Dependencies {
			dependents[used] = append(dependents[used], component)
		}
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
