// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package validate

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/native/eval"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// requirements checks that no provider has two local names in a module.
func (c *checker) requirements(m *eval.Module) {
	required := m.Config.Required
	names := slices.SortedFunc(maps.Keys(required), func(a, b string) int { return compare(&required[a].Range, &required[b].Range) })
	first := map[stackaddrs.Provider]string{}
	for _, name := range names {
		provider := required[name].Provider
		if earlier, ok := first[provider]; ok {
			c.warn(required[name].Range, "Duplicate required provider", fmt.Sprintf("Provider %s already has the local name %q in this module. "+
				"Configurations of one provider differ by alias.", provider, earlier))
			continue
		}
		first[provider] = name
	}
}

// passed checks the provider configurations that a call passes.
func (c *checker) passed(tree *module.Node, call *module.Call, child *module.Node) {
	given, places := tree.Calls[call.Name].Providers, tree.Calls[call.Name].ProviderRanges
	for slot := range given {
		c.takes(child, slot, places[slot])
		inChild, _ := child.Provider(slot.LocalName)
		here, declared := tree.Provider(given[slot].LocalName)
		if !declared && tree.Parent != nil && given[slot].Alias == "" { // of the root module, the stack says which provider it is
			c.undeclared(places[slot], "This module", given[slot], here)
		}
		if inChild != here {
			c.problem(places[slot], "Provider of another type", fmt.Sprintf("The call passes a configuration of %s as %s, which in the module "+
				"stands for %s.", here, slot, inChild))
		}
	}
	for name := range child.Required {
		for _, alias := range child.Required[name].Aliases {
			slot := engine.ProviderSlot{LocalName: name, Alias: alias}
			if _, ok := given[slot]; !ok && alias != "" {
				c.problem(call.Range, "Provider configuration missing", fmt.Sprintf("The module needs a provider configuration as %s, which the call "+
					"does not pass.", slot))
			}
		}
	}
}

// takes checks that a called module declares a configuration that it is passed. One with the name
// of the provider alone has no need to be declared.
func (c *checker) takes(child *module.Node, slot engine.ProviderSlot, at hcl.Range) {
	required := child.Required[slot.LocalName]
	byBlock := slices.ContainsFunc(child.Providers, func(block module.ProviderBlock) bool { return block.Slot == slot })
	switch {
	case byBlock, required != nil && (slot.Alias == "" || slices.Contains(required.Aliases, slot.Alias)):
	case slot.Alias != "":
		c.problem(at, "Undeclared provider slot", fmt.Sprintf("The module declares no provider configuration %s. Add it to "+
			"configuration_aliases in its required_providers, or pass none.", slot))
	default:
		provider, _ := child.Provider(slot.LocalName)
		c.undeclared(at, "The called module", slot, provider)
	}
}

func (c *checker) undeclared(at hcl.Range, who string, slot engine.ProviderSlot, assumed stackaddrs.Provider) {
	c.warn(at, "Undeclared provider slot", fmt.Sprintf("%s does not declare its provider %s, so that %s is assumed from the name. Add it to "+
		"its required_providers.", who, slot, assumed))
}

// providerMeta checks the provider_meta block of a module, unless no resource of the module is of
// that provider.
func (c *checker) providerMeta(ctx context.Context, m *eval.Module, meta *module.ProviderMeta) {
	p := c.Schemas.Schema(meta.Provider)
	used := false
	for _, r := range m.Config.Resources {
		used = used || r.ProviderAddr == meta.Provider
	}
	switch {
	case p == nil:
	case p.Meta != nil:
		_, diags := c.Options.Types.Decoder(p.Meta).Decode(ctx, meta.Body, nil)
		c.Eval.Diagnostics.Add(diags...)
	case used:
		c.problem(meta.Range, "Provider without metadata",
			fmt.Sprintf("The provider %s has no arguments for provider_meta blocks. Remove the block.", meta.Provider))
	}
}
