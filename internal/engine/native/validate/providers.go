// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package validate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// requirements checks that no provider has two local names in a module.
func (m *moduleChecker) requirements() {
	required := m.tree.Required
	names := slices.SortedFunc(maps.Keys(required), func(a, b string) int { return compare(&required[a].Range, &required[b].Range) })
	first := map[stackaddrs.Provider]string{}
	for _, name := range names {
		provider := required[name].Provider
		if earlier, ok := first[provider]; ok {
			m.warn(required[name].Range, "Duplicate required provider", fmt.Sprintf("Provider %s already has the local name %q in this module. Configurations of one provider differ by alias.", provider, earlier))
			continue
		}
		first[provider] = name
	}
}

// passed checks the provider configurations that a call passes.
func (m *moduleChecker) passed(call *module.Call, child *module.Node) {
	given, places := m.tree.Calls[call.Name].Providers, m.tree.Calls[call.Name].ProviderRanges
	for _, slot := range slices.SortedFunc(maps.Keys(given), compareSlots) {
		m.takes(child, slot, places[slot])
		inChild, _ := child.Provider(slot.LocalName)
		here, declared := m.tree.Provider(given[slot].LocalName)
		if !declared && m.tree.Parent != nil && given[slot].Alias == "" { // of the root module, the stack says which provider it is
			m.undeclared(places[slot], "This module", given[slot], here)
		}
		if inChild != here {
			m.problem(places[slot], "Provider of another type", fmt.Sprintf("The call passes a configuration of %s as %s, which in the module stands for %s.", here, slot, inChild))
		}
	}
	for _, name := range sorted(child.Required) {
		for _, alias := range child.Required[name].Aliases {
			slot := engine.ProviderSlot{LocalName: name, Alias: alias}
			if _, ok := given[slot]; !ok && alias != "" {
				m.problem(call.Range, "Provider configuration missing", fmt.Sprintf("The module needs a provider configuration as %s, which the call does not pass.", slot))
			}
		}
	}
}

// takes checks that a called module declares a configuration that it is passed. One with the name
// of the provider alone has no need to be declared.
func (m *moduleChecker) takes(child *module.Node, slot engine.ProviderSlot, at hcl.Range) {
	required := child.Required[slot.LocalName]
	byBlock := slices.ContainsFunc(child.Providers, func(block module.ProviderBlock) bool { return block.Slot == slot })
	switch {
	case byBlock, required != nil && (slot.Alias == "" || slices.Contains(required.Aliases, slot.Alias)):
	case slot.Alias != "":
		m.problem(at, "Undeclared provider slot", fmt.Sprintf("The module declares no provider configuration %s. Add it to configuration_aliases in its required_providers, or pass none.", slot))
	default:
		provider, _ := child.Provider(slot.LocalName)
		m.undeclared(at, "The called module", slot, provider)
	}
}

func (m *moduleChecker) undeclared(at hcl.Range, who string, slot engine.ProviderSlot, assumed stackaddrs.Provider) {
	m.warn(at, "Undeclared provider slot", fmt.Sprintf("%s does not declare its provider %s, so that %s is assumed from the name. Add it to its required_providers.", who, slot, assumed))
}

func compareSlots(a, b engine.ProviderSlot) int {
	return cmp.Or(cmp.Compare(a.LocalName, b.LocalName), cmp.Compare(a.Alias, b.Alias))
}

// providerMeta checks the provider_meta block of a module, unless no resource of the module is of
// that provider.
func (m *moduleChecker) providerMeta(meta *module.ProviderMeta) {
	p := m.opts.Schemas.Schema(meta.Provider)
	used := false
	for _, r := range m.tree.Resources {
		used = used || r.ProviderAddr == meta.Provider
	}
	switch {
	case p == nil:
	case p.Meta != nil:
		_, diags := m.decoder(p.Meta.Block).Decode(m.ctx, meta.Body, nil)
		m.add(diags)
	case used:
		m.problem(meta.Range, "Provider without metadata", fmt.Sprintf("The provider %s has no arguments for provider_meta blocks. Remove the block.", meta.Provider))
	}
}

// withProviderFunction returns the diagnostic about a function that is not there with the words for
// those of providers, if it is one.
func withProviderFunction(diag *hcl.Diagnostic) *hcl.Diagnostic {
	call, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallUnknownDiagExtra](diag)
	if !ok {
		return diag
	}
	name := call.CalledFunctionNamespace() + call.CalledFunctionName()
	if !strings.HasPrefix(name, "provider::") {
		return diag
	}
	said := *diag
	said.Summary = "Unknown provider function"
	if localName, function, ok := (lang.ProviderCall{Name: name}).Parts(); ok {
		said.Detail = fmt.Sprintf("There is no function %q. Declare %q in the required_providers of the module; its provider must have a function %q.", name, localName, function)
	} else {
		said.Detail = "The name of a function of a provider is written provider::LOCALNAME::FUNCTION, with the name that required_providers has for the provider."
	}
	return &said
}
