// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package moves

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/native/state"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Result is the outcome of moves.
type Result struct {
	State *state.State // with all objects at their new addresses

	// Previous are the addresses in the state before, by the new ones. Those that did not change are
	// missing.
	Previous map[stackaddrs.ResourceInstance]stackaddrs.ResourceInstance

	Blocked []Blocked // sorted, without repetition
}

// Blocked is a move to where something is already (rule V3).
type Blocked struct{ From, To string }

// Apply moves the objects of a state.
//
// Errors: those of [state.Working.State], which are bugs.
func (s *Statements) Apply(prior *state.State) (*Result, error) {
	result := &Result{State: prior, Previous: map[stackaddrs.ResourceInstance]stackaddrs.ResourceInstance{}}
	if len(s.order) == 0 {
		return result, nil
	}
	m := mover{working: prior.Working(), result: result}
	for _, statement := range s.order {
		if statement.from.resource == nil {
			m.moveModules(statement)
		} else {
			m.moveResources(statement)
		}
	}
	if !m.moved {
		return result, nil
	}
	var err error
	result.State, err = m.working.State()
	return result, err
}

// mover is a state with the statements so far applied.
type mover struct {
	working *state.Working
	result  *Result
	moved   bool
}

// moveModules applies a statement about a call of a module.
func (m *mover) moveModules(s *Statement) {
	taken := map[stackaddrs.ModuleInstance]bool{} // whether there was something, by target
	for _, r := range m.working.Resources() {
		path := r.Addr.Module.Path()
		n := len(s.from.steps)
		if !s.from.matchesSteps(path) {
			continue
		}
		from, to := moduleAt(path[:n]), s.target(path[:n])
		blocked, known := taken[to]
		if !known {
			blocked = m.working.HasModule(to)
			taken[to] = blocked
		}
		if blocked {
			m.block(from.String(), to.String())
			continue
		}
		for _, call := range path[n:] {
			to = to.Child(call.Name, call.Key)
		}
		m.moveAll(r, func(key stackaddrs.InstanceKey) stackaddrs.ResourceInstance {
			return stackaddrs.ResourceInstance{Module: to, Resource: r.Addr.Resource, Key: key}
		})
	}
}

// target returns the module instance that a matching one becomes, or in which a matching resource
// is then.
func (s *Statement) target(from []stackaddrs.ModuleCallInstance) stackaddrs.ModuleInstance {
	to := moduleAt(from[:len(s.path)])
	for i, step := range s.To.Module {
		key := step.Key
		if s.whole && s.To.Resource == nil && i == len(s.To.Module)-1 {
			key = from[len(from)-1].Key
		}
		to = to.Child(step.Name, key)
	}
	return to
}

func moduleAt(path []stackaddrs.ModuleCallInstance) stackaddrs.ModuleInstance {
	module := stackaddrs.RootModuleInstance
	for _, call := range path {
		module = module.Child(call.Name, call.Key)
	}
	return module
}

// moveResources applies a statement about a resource or one instance of it.
func (m *mover) moveResources(s *Statement) {
	for _, r := range m.working.Resources() {
		path := r.Addr.Module.Path()
		if !s.from.matchesResource(path, r.Addr.Resource) {
			continue
		}
		to := state.ResourceAddr{Module: s.target(path), Resource: *s.To.Resource}
		if s.whole {
			m.moveResource(r, to)
		} else if r.Instance(s.From.Key) != nil {
			m.moveInstance(r, s.From.Key, to.Instance(s.To.Key))
		}
	}
}

func (m *mover) moveResource(r *state.Resource, to state.ResourceAddr) {
	if m.working.Resource(to.Module, to.Resource) != nil {
		m.block(r.Addr.Instance(stackaddrs.NoKey).String(), to.Instance(stackaddrs.NoKey).String())
		return
	}
	m.moveAll(r, to.Instance)
}

func (m *mover) moveInstance(r *state.Resource, key stackaddrs.InstanceKey, to stackaddrs.ResourceInstance) {
	if m.working.Resource(to.Module, to.Resource).Instance(to.Key) != nil {
		m.block(r.Addr.Instance(key).String(), to.String())
		return
	}
	m.move(r.Addr.Instance(key), to, r.Instance(key))
}

func (m *mover) moveAll(r *state.Resource, to func(stackaddrs.InstanceKey) stackaddrs.ResourceInstance) {
	for _, i := range r.Instances {
		m.move(r.Addr.Instance(i.Key), to(i.Key), i)
	}
}

// move gives an instance another address, with its deposed objects.
func (m *mover) move(from, to stackaddrs.ResourceInstance, instance *state.Instance) {
	m.moved = true
	for _, o := range instance.Objects() {
		m.working.Remove(from, o.Entry.Deposed)
		m.working.Set(o.Entry.WithAddr(to))
	}
	origin, ok := m.result.Previous[from]
	if !ok {
		origin = from
	}
	delete(m.result.Previous, from)
	if origin != to {
		m.result.Previous[to] = origin
	}
}

func (m *mover) block(from, to string) {
	blocked := Blocked{from, to}
	i, found := slices.BinarySearchFunc(m.result.Blocked, blocked, func(a, b Blocked) int {
		return strings.Compare(a.From+"\x00"+a.To, b.From+"\x00"+b.To)
	})
	if !found {
		m.result.Blocked = slices.Insert(m.result.Blocked, i, blocked)
	}
}

// Diagnostics returns the warning about moves that were blocked.
func (r *Result) Diagnostics() hcl.Diagnostics {
	if len(r.Blocked) == 0 {
		return nil
	}
	names := make([]string, len(r.Blocked))
	for i, b := range r.Blocked {
		names[i] = fmt.Sprintf("  - %s could not move to %s", b.From, b.To)
	}
	return hcl.Diagnostics{failure.Warning("Blocked moves", "Some objects were to get the addresses of others that exist, and have stayed "+
		"where they were:\n%s\n\nThe plan treats them as objects with their old addresses. Give the objects that are in the way other "+
		"addresses, or remove them, and plan again.", strings.Join(names, "\n"))}
}
