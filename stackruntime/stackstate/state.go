// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package stackstate is the model of a stack's state: the record of the infrastructure after the
// last apply.
//
// A state is kept as a flat map from keys to values, one entry for each component instance,
// resource instance object, root variable and root output, so that an apply writes only the changed
// ones (docs/language.md, section 6).
package stackstate

import (
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// State is the state of one deployment of a stack. Treat it as immutable while
// an operation uses it; make another with [State.With].
type State struct {
	Components map[stackaddrs.AbsComponentInstance]*Component
	Inputs     map[string]cty.Value // root variables as last applied; ephemeral ones are null
	Outputs    map[string]cty.Value // root outputs as last applied, marked sensitive where they are

	// Preserved are records of kinds that this version does not know but must keep.
	Preserved map[string][]byte

	// Discarded are the keys of records that this version does not know and that
	// the next apply drops.
	Discarded []string
}

// Component is one component instance in the state.
type Component struct {
	Addr stackaddrs.AbsComponentInstance

	Dependencies []stackaddrs.AbsComponent // sorted
	Dependents   []stackaddrs.AbsComponent // sorted

	// Inputs are the values of the last apply. May be unknown; ephemeral ones are
	// null. Marks: sensitive.
	Inputs map[string]cty.Value

	// Outputs are the values of the last apply. May be unknown after a failure.
	// Marks: sensitive.
	Outputs map[string]cty.Value

	// Module is the state of the component's module. Empty when it has none.
	Module engine.State
}

// New returns an empty state.
func New() *State {
	return &State{
		Components: map[stackaddrs.AbsComponentInstance]*Component{},
		Inputs:     map[string]cty.Value{},
		Outputs:    map[string]cty.Value{},
	}
}

// With returns a copy of the state to which change was applied. The maps are copied, their elements
// are not: change replaces components and never modifies them.
func (s *State) With(change func(*State)) *State {
	result := &State{
		Components: maps.Clone(s.Components),
		Inputs:     maps.Clone(s.Inputs),
		Outputs:    maps.Clone(s.Outputs),
		Preserved:  maps.Clone(s.Preserved),
		Discarded:  slices.Clone(s.Discarded),
	}
	change(result)
	return result
}

// SortedComponents returns the component instances in the order of their addresses.
func (s *State) SortedComponents() []*Component {
	return slices.SortedFunc(maps.Values(s.Components), func(a, b *Component) int {
		return a.Addr.Compare(b.Addr)
	})
}
