// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

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

// Constant is the argument that a component gives to a variable of its module, as far as it is
// known without evaluating the stack.
type Constant struct {
	Value cty.Value // unknown if it refers to something
	Range hcl.Range

	// Other is where another component of the same module gives another value; nil if none does.
	Other *hcl.Range
}

// Equal reports whether the arguments have the same value, at the same place.
func (c Constant) Equal(other Constant) bool {
	return c.Value.RawEquals(other.Value) && c.Range == other.Range && (c.Other == other.Other || c.Other != nil && other.Other != nil)
}

// Constants returns the arguments of components by the directory of their module, and the name of
// the variable.
func (c *Config) Constants() map[string]map[string]Constant {
	byDir := map[string]map[string]Constant{}
	c.Walk(func(stack *Stack) {
		for _, name := range slices.Sorted(maps.Keys(stack.Components)) {
			component := stack.Components[name]
			if component.Source.Dir == "" || component.Inputs == nil {
				continue
			}
			pairs, diags := hcl.ExprMap(component.Inputs)
			if diags.HasErrors() {
				continue // an expression for all of them together
			}
			known := byDir[component.Source.Dir]
			if known == nil {
				known = make(map[string]Constant, len(pairs))
				byDir[component.Source.Dir] = known
			}
			for _, pair := range pairs {
				addConstant(known, pair)
			}
		}
	})
	return byDir
}

func addConstant(known map[string]Constant, argument hcl.KeyValuePair) {
	key, diags := argument.Key.Value(nil)
	if diags.HasErrors() || key.Type() != cty.String || !key.IsKnown() || key.IsNull() {
		return // evaluating the component reports it
	}
	given := Constant{Value: cty.DynamicVal, Range: argument.Value.Range()}
	if value, diags := argument.Value.Value(nil); !diags.HasErrors() {
		given.Value = value
	}
	if first, found := known[key.AsString()]; found && first.Range != given.Range { // an embedded stack can be there several times
		if !first.Value.RawEquals(given.Value) {
			first.Other = &given.Range
			known[key.AsString()] = first
		}
		return
	}
	known[key.AsString()] = given
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
