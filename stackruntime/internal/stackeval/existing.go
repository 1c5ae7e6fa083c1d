// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"iter"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// existingInstances says which instances there are already: those in the prior state or, while applying, in the
// plan. A stack instance is there if a component instance in it is.
type existingInstances struct {
	components map[stackaddrs.AbsComponent][]stackaddrs.InstanceKey
	stacks     map[stackCall][]stackaddrs.InstanceKey
}

// stackCall is the name of an embedded stack in a stack instance, whether or not a block calls it.
type stackCall struct {
	caller stackaddrs.StackInstance
	name   string
}

// componentKeys are the keys of a component's instances, in no order.
func (e *existingInstances) componentKeys(addr stackaddrs.AbsComponent) []stackaddrs.InstanceKey {
	return e.components[addr]
}

// stackKeys are the keys of the instances of an embedded stack, in no order.
func (e *existingInstances) stackKeys(caller stackaddrs.StackInstance, name string) []stackaddrs.InstanceKey {
	return e.stacks[stackCall{caller, name}]
}

func (m *Main) findExisting() *existingInstances {
	found := &existingInstances{
		components: make(map[stackaddrs.AbsComponent][]stackaddrs.InstanceKey),
		stacks:     make(map[stackCall][]stackaddrs.InstanceKey),
	}
	seen := map[stackaddrs.StackInstance]bool{stackaddrs.RootStackInstance: true}
	for addr := range m.componentInstances() {
		if stackaddrs.HasWildcard(addr) {
			continue // in a plan: it stands for ones that are not there
		}
		component := stackaddrs.ComponentOf(addr)
		found.components[component] = append(found.components[component], addr.Item.Key)
		for stack := addr.Stack; !seen[stack]; {
			seen[stack] = true
			caller, step, _ := stack.Parent()
			call := stackCall{caller, step.Call.Name}
			found.stacks[call] = append(found.stacks[call], step.Key)
			stack = caller
		}
	}
	return found
}

// componentInstances iterates over the component instances in the prior state or, while applying, in the plan.
func (m *Main) componentInstances() iter.Seq[stackaddrs.AbsComponentInstance] {
	return func(yield func(stackaddrs.AbsComponentInstance) bool) {
		if m.applying == nil {
			for addr := range m.prior().Components {
				if !yield(addr) {
					return
				}
			}
			return
		}
		for _, plan := range m.applying.Plan.Components {
			if !yield(plan.Addr) {
				return
			}
		}
	}
}
