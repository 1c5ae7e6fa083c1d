// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"maps"
	"slices"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// Walk calls visit for all stacks of the tree: callers before the stacks they
// embed, and those in the order of their names.
func (c *Config) Walk(visit func(*Stack)) { c.Root.walk(visit) }

func (s *Stack) walk(visit func(*Stack)) {
	visit(s)
	for _, name := range slices.Sorted(maps.Keys(s.Children)) {
		s.Children[name].walk(visit)
	}
}

// Descendant returns the stack at an address, or nil if there is none.
func (c *Config) Descendant(addr stackaddrs.Stack) *Stack {
	caller, name, ok := addr.Parent()
	if !ok {
		return c.Root
	}
	parent := c.Descendant(caller)
	if parent == nil {
		return nil
	}
	return parent.Children[name]
}
