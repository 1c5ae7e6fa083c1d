// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployment

import (
	"slices"

	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Instance returns the part of a state that has a component instance, exclusive for an operation
// that changes it. Instances that are not known yet stand for their component.
func Instance(addr stackaddrs.AbsComponentInstance, exclusive bool) statestore.Part {
	if stackaddrs.HasWildcard(addr) {
		part := Component(stackaddrs.ComponentOf(addr))
		part.Exclusive = exclusive
		return part
	}
	return statestore.Part{Path: []string{stackaddrs.ComponentOf(addr).String(), addr.Item.Key.String()}, Exclusive: exclusive}
}

// Component returns the part of a state that has all instances of a component, for an operation
// that reads it.
func Component(addr stackaddrs.AbsComponent) statestore.Part {
	return statestore.Part{Path: []string{addr.String()}}
}

// Variable returns the part of a state that has the value of a root variable, exclusive for an
// operation that gives it another one.
func Variable(name string, exclusive bool) statestore.Part {
	return statestore.Part{Path: []string{stackaddrs.InputVariable{Name: name}.String()}, Exclusive: exclusive}
}

// Everything is the whole of a state, for operations that read it.
var Everything = statestore.Part{}

// hasWhole reports whether somebody with a lock of these parts is the only one who changes the
// state: it is locked as a whole, by one who changes it, or by readers.
func hasWhole(parts []statestore.Part) bool {
	return len(parts) == 0 || slices.ContainsFunc(parts, func(part statestore.Part) bool { return len(part.Path) == 0 })
}

// conflict reports whether two locks of these parts exclude each other.
func conflict(a, b []statestore.Part) bool {
	_, found := (&statestore.LockInfo{Parts: a}).Conflict(&statestore.LockInfo{Parts: b})
	return found
}
