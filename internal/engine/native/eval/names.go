// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package eval

import "strings"

// prefixed returns the address of something in the module instance.
func (m *Module) prefixed(name string) string {
	if m.Addr.IsRoot() {
		return name
	}
	return m.Addr.String() + "." + name
}

// staticPrefixed returns the address of something in the module, without the keys of instances.
func (m *Module) staticPrefixed(name string) string {
	if m.Addr.IsRoot() {
		return name
	}
	var b strings.Builder
	for _, step := range m.Addr.Path() {
		b.WriteString("module." + step.Name + ".")
	}
	return b.String() + name
}
