// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statechange

import (
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// checkDeclared fails if no block of the configuration declares a component instance, or removes
// it, so that its state would be left over. Whether for_each has a key takes values, and is not
// looked at.
func (s *State) checkDeclared(addr stackaddrs.AbsComponentInstance) error {
	config, diags := s.Sources.Config()
	if config == nil {
		return diags
	}
	component, names := findComponent(config, addr)
	switch {
	case component == nil && (diags.HasErrors() || isRemoved(config, addr)):
		return failure.AsError(diags) // with mistakes it may be declared all the same
	case component == nil:
		return failure.Error("Component not declared", "The configuration has no %s, so its state would be left over, and planning would be an "+
			"error.%s Declare it first.",
			addr, nearest.DidYouMean(stackaddrs.ConfigComponentOf(addr).String(), names))
	case component.ForEach == nil && addr.Item.Key != stackaddrs.NoKey:
		return failure.Error("Component not declared", "%s has no for_each, and so no instance %s. Leave out the key.",
			stackaddrs.ConfigComponentOf(addr), addr.Item.Key)
	case component.ForEach != nil && addr.Item.Key == stackaddrs.NoKey:
		return failure.Error("Component not declared", "%s has for_each: give the key of one instance, like '%s[\"key\"]'.",
			stackaddrs.ConfigComponentOf(addr), addr)
	}
	return nil
}

// findComponent returns the block of a component instance, or nil, and the addresses of all
// component blocks.
func findComponent(config *stackconfig.Config, addr stackaddrs.AbsComponentInstance) (found *stackconfig.Component, names []string) {
	config.Walk(func(stack *stackconfig.Stack) {
		for name, component := range stack.Components {
			at := stackaddrs.ConfigComponent{Stack: stack.Addr, Item: stackaddrs.Component{Name: name}}
			names = append(names, at.String())
			if at == stackaddrs.ConfigComponentOf(addr) {
				found = component
			}
		}
	})
	return found, names
}

// isRemoved reports whether a removed block names a component, or a stack that it is in.
func isRemoved(config *stackconfig.Config, addr stackaddrs.AbsComponentInstance) bool {
	removed := false
	config.Walk(func(stack *stackconfig.Stack) {
		for _, block := range stack.Removed {
			target := stack.Addr
			for _, step := range block.From.Stacks {
				target = target.Child(step.Name)
			}
			if block.From.Component == nil {
				removed = removed || target.Contains(addr.Stack.Config())
				continue
			}
			removed = removed || target == addr.Stack.Config() && block.From.Component.Name == addr.Item.Component.Name
		}
	})
	return removed
}
