// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning

import (
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/components"
)

// Selection is the part of a stack that a plan is limited to.
type Selection struct {
	targets, excluded instanceSet

	along    components.Set // components that have to be planned with the targets
	excludes components.Set // components that cannot be planned without the excluded
}

// instanceSet has component instances, and components, as instances without a key, for all
// instances of theirs.
type instanceSet map[stackaddrs.AbsComponentInstance]bool

func newInstanceSet(addrs []stackaddrs.AbsComponentInstance) instanceSet {
	set := make(instanceSet, len(addrs))
	for _, addr := range addrs {
		set[addr] = true
	}
	return set
}

func (s instanceSet) has(addr stackaddrs.AbsComponentInstance) bool {
	return s[addr] || s[stackaddrs.InstanceOf(stackaddrs.ComponentOf(addr), stackaddrs.NoKey)]
}

// Limits are the instances that a plan is limited to, and those that it leaves out. Without a key,
// all instances of a component are meant.
type Limits struct {
	Targets, Excludes []stackaddrs.AbsComponentInstance

	Alone bool // the targets are planned without those that they require
}

// Any reports whether there are some.
func (l Limits) Any() bool { return len(l.Targets)+len(l.Excludes) > 0 }

// NewSelection follows the requirements of components. Creating a component needs its requirements;
// destroying it, its dependents.
func NewSelection(limits Limits, requires components.Graph, destroying bool) *Selection {
	requiredBy := requires.Reversed()
	if destroying {
		requires, requiredBy = requiredBy, requires
	}
	s := &Selection{
		targets: newInstanceSet(limits.Targets), excluded: newInstanceSet(limits.Excludes),
		excludes: requiredBy.Reach(limits.Excludes),
	}
	if !limits.Alone {
		s.along = requires.Reach(limits.Targets)
	}
	return s
}

// Has reports whether a component instance is to be planned.
func (s *Selection) Has(addr stackaddrs.AbsComponentInstance) bool {
	component := stackaddrs.ComponentOf(addr)
	if s.excluded.has(addr) || s.excludes.Has(component) {
		return false
	}
	return len(s.targets) == 0 || s.targets.has(addr) || s.along.Has(component)
}
