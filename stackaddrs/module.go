// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackaddrs

import (
	"cmp"
	"strings"
)

// ModuleInstance is the address of one instance of a module inside a component.
// The zero value is the component's root module.
type ModuleInstance struct{ path path[ModuleCallInstance] }

// ModuleCallInstance is one instance of a module call.
type ModuleCallInstance struct {
	Name string
	Key  InstanceKey
}

// Compare orders as rule A4 says.
func (c ModuleCallInstance) Compare(other ModuleCallInstance) int {
	return cmp.Or(cmp.Compare(c.Name, other.Name), c.Key.Compare(other.Key))
}

// RootModuleInstance is the only instance of a component's root module.
var RootModuleInstance = ModuleInstance{}

// Child returns the address of the module instance which one instance of a call
// in m includes.
func (m ModuleInstance) Child(name string, key InstanceKey) ModuleInstance {
	return ModuleInstance{m.path.child(ModuleCallInstance{name, key})}
}

// IsRoot reports whether m is the component's root module.
func (m ModuleInstance) IsRoot() bool { return m.path.isRoot() }

// Parent returns the calling module instance and the instance of the call in it. The root
// module has no caller: ok is false.
func (m ModuleInstance) Parent() (caller ModuleInstance, call ModuleCallInstance, ok bool) {
	parent, call, ok := m.path.split()
	return ModuleInstance{parent}, call, ok
}

// HasWildcard reports whether a step of m stands for instances not known yet.
func (m ModuleInstance) HasWildcard() bool {
	for parent, call, ok := m.path.split(); ok; parent, call, ok = parent.split() {
		if call.Key.IsWildcard() {
			return true
		}
	}
	return false
}

// Path returns the call instances from the root down to m.
func (m ModuleInstance) Path() []ModuleCallInstance { return m.path.steps() }

// Compare orders as rule A4 says.
func (m ModuleInstance) Compare(other ModuleInstance) int {
	return m.path.compare(other.path, ModuleCallInstance.Compare)
}

// String returns the address as terraform writes it, "" for the root module.
func (m ModuleInstance) String() string { return strings.TrimSuffix(m.prefix(), ".") }

func (m ModuleInstance) prefix() string {
	const before, after = "module.", "."
	size := 0
	for parent, call, ok := m.path.split(); ok; parent, call, ok = parent.split() {
		size += len(before) + len(call.Name) + len(call.Key.String()) + len(after)
	}
	// Written from its end, the address of a deep module needs no list of its steps.
	text := make([]byte, size)
	for parent, call, ok := m.path.split(); ok; parent, call, ok = parent.split() {
		for _, part := range []string{after, call.Key.String(), call.Name, before} {
			size -= len(part)
			copy(text[size:], part)
		}
	}
	return string(text)
}
