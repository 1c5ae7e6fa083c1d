// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package claims

import (
	"iter"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// Existing are the instances that there are already. A stack instance is there if a component
// instance in it is.
type Existing struct {
	components map[stackaddrs.AbsComponent][]stackaddrs.InstanceKey
	stacks     map[StackCall][]stackaddrs.InstanceKey
}

// StackCall is the name of an embedded stack in a stack instance, whether or not a block calls it.
type StackCall struct {
	Caller stackaddrs.StackInstance
	Name   string
}

// ComponentKeys are the keys of a component's instances, in no order.
func (e *Existing) ComponentKeys(addr stackaddrs.AbsComponent) []stackaddrs.InstanceKey {
	return e.components[addr]
}

// StackKeys are the keys of the instances of an embedded stack, in no order.
func (e *Existing) StackKeys(call StackCall) []stackaddrs.InstanceKey { return e.stacks[call] }

// FindExisting gathers component instances. Addresses with wildcards in them, which plans have,
// stand for instances that are not there.
func FindExisting(instances iter.Seq[stackaddrs.AbsComponentInstance]) *Existing {
	found := &Existing{
		components: make(map[stackaddrs.AbsComponent][]stackaddrs.InstanceKey),
		stacks:     make(map[StackCall][]stackaddrs.InstanceKey),
	}
	seen := map[stackaddrs.StackInstance]bool{stackaddrs.RootStackInstance: true}
	for addr := range instances {
		if stackaddrs.HasWildcard(addr) {
			continue
		}
		component := stackaddrs.ComponentOf(addr)
		found.components[component] = append(found.components[component], addr.Item.Key)
		for stack := addr.Stack; !seen[stack]; {
			seen[stack] = true
			caller, step, _ := stack.Parent()
			call := StackCall{caller, step.Call.Name}
			found.stacks[call] = append(found.stacks[call], step.Key)
			stack = caller
		}
	}
	return found
}
