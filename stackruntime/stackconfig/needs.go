// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// ModuleDirs returns the directories of the modules of all components, sorted.
func (c *Config) ModuleDirs() []string {
	dirs := map[string]bool{}
	add := func(source Source) {
		if source.Dir != "" {
			dirs[source.Dir] = true
		}
	}
	c.Walk(func(stack *Stack) {
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
func (c *Config) Requirements() map[stackaddrs.Provider][]string {
	constraints := map[stackaddrs.Provider][]string{}
	c.walkRequirements(func(required *ProviderRequirement) {
		list := constraints[required.Provider]
		if required.Version != "" {
			list = append(list, required.Version)
		}
		constraints[required.Provider] = list
	})
	return constraints
}

// RequirementRanges returns where the stacks require providers: the first place of each.
func (c *Config) RequirementRanges() map[stackaddrs.Provider]hcl.Range {
	ranges := map[stackaddrs.Provider]hcl.Range{}
	c.walkRequirements(func(required *ProviderRequirement) {
		if _, known := ranges[required.Provider]; !known {
			ranges[required.Provider] = required.Range
		}
	})
	return ranges
}

// walkRequirements visits the requirements of all stacks, those of one stack in the order of their
// names.
func (c *Config) walkRequirements(visit func(*ProviderRequirement)) {
	c.Walk(func(stack *Stack) {
		if stack.RequiredProviders == nil {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(stack.RequiredProviders.Providers)) {
			visit(stack.RequiredProviders.Providers[name])
		}
	})
}
