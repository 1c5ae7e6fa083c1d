// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcheck

import (
	"slices"
	"sync"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// watch records when component instances begin and end in an apply.
type watch struct {
	mu struct {
		sync.Mutex
		clock      int
		begun, end map[stackaddrs.AbsComponentInstance]int
	}
}

func (w *watch) hooks() hooks.Hooks {
	w.mu.begun = map[stackaddrs.AbsComponentInstance]int{}
	w.mu.end = map[stackaddrs.AbsComponentInstance]int{}
	return hooks.Hooks{ComponentStatus: func(addr stackaddrs.AbsComponentInstance, status hooks.Status) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.mu.clock++
		switch status {
		case hooks.Applying:
			w.mu.begun[addr] = w.mu.clock
		case hooks.Applied:
			w.mu.end[addr] = w.mu.clock
		}
	}}
}

// check checks rule C5.
func (w *watch) check(c *check, plan *stackplan.Plan) {
	c.Helper()
	byConfig := map[string][]*stackplan.Component{}
	for _, planned := range plan.Components {
		addr := configAddress(planned.Addr)
		byConfig[addr] = append(byConfig[addr], planned)
	}
	for _, user := range plan.Components {
		requirements := c.now.Requires
		if removes(user) {
			requirements = c.order
		}
		for _, name := range requirements[configAddress(user.Addr)] {
			for _, used := range byConfig[name] {
				if !related(user.Addr, used.Addr) || removes(user) != removes(used) {
					continue
				}
				first, second := used.Addr, user.Addr
				if removes(user) {
					first, second = second, first
				}
				if end, begun := w.mu.end[first], w.mu.begun[second]; begun != 0 && (end == 0 || end > begun) {
					c.Errorf("rule C5: %s began at %d, before %s, which ended at %d", second, begun, first, end)
				}
			}
		}
	}
}

// checkDependents checks that the state names the dependents of all components, so that those can
// be destroyed first.
func (c *check) checkDependents() {
	c.Helper()
	instances := map[stackaddrs.AbsComponent][]*stackstate.Component{}
	for addr, component := range c.state.Components {
		of := stackaddrs.ComponentOf(addr)
		instances[of] = append(instances[of], component)
	}
	for addr, component := range c.state.Components {
		for _, required := range component.Dependencies {
			for _, instance := range instances[required] {
				if !slices.Contains(instance.Dependents, stackaddrs.ComponentOf(addr)) {
					c.Errorf("rule C5: %s depends on %s, whose dependents are recorded as %s", addr, required, instance.Dependents)
				}
			}
		}
	}
}

func removes(planned *stackplan.Component) bool {
	return planned.Action == stackplan.Delete || planned.Action == stackplan.Forget
}

// configAddress returns the address of a component without instance keys.
func configAddress(addr stackaddrs.AbsComponentInstance) string {
	return stackaddrs.ConfigOf(stackaddrs.ComponentOf(addr)).String()
}

// related reports whether an instance can use another one: in the stacks that
// both are in, they are in the same instance.
func related(a, b stackaddrs.AbsComponentInstance) bool {
	one, two := a.Stack.Path(), b.Stack.Path()
	for i := range min(len(one), len(two)) {
		if one[i].Call != two[i].Call {
			break
		}
		if one[i].Key != two[i].Key {
			return false
		}
	}
	return true
}
