// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"maps"
	"slices"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// ModuleDirs returns the directories of the modules of all components, sorted.
func ModuleDirs(config *stackconfig.Config) []string {
	dirs := map[string]bool{}
	add := func(source stackconfig.Source) {
		if source.Dir != "" {
			dirs[source.Dir] = true
		}
	}
	config.Walk(func(stack *stackconfig.Stack) {
		for _, component := range stack.Components {
			add(component.Source)
		}
		for _, removed := range stack.Removed {
			if removed.From != nil && removed.From.Component != nil {
				add(removed.Source)
			}
		}
	})
	return slices.Sorted(maps.Keys(dirs))
}

// Requirements returns the version constraints of all stacks.
func Requirements(config *stackconfig.Config) map[stackaddrs.Provider][]string {
	constraints := map[stackaddrs.Provider][]string{}
	config.Walk(func(stack *stackconfig.Stack) {
		if stack.RequiredProviders == nil {
			return
		}
		for _, required := range stack.RequiredProviders.Providers {
			list := constraints[required.Provider]
			if required.Version != "" {
				list = append(list, required.Version)
			}
			constraints[required.Provider] = list
		}
	})
	return constraints
}
