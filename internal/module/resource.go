// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Declared is a resource's provider and slot in a tree.
type Declared struct {
	Provider stackaddrs.Provider

	// Slot is the one of the root that the provider configuration of the resource comes from. HasSlot
	// is false where the root takes none: of the built-in provider, or where a call does not pass the
	// one that is meant, which is a mistake.
	Slot    engine.ProviderSlot
	HasSlot bool
}

// Resource returns the provider and the slot of a resource in the module that some calls lead to,
// from the root down. It reports false if the resource is not declared.
func (t *Tree) Resource(calls []string, resource stackaddrs.Resource) (Declared, bool) {
	node := t.Root
	for _, call := range calls {
		if node = node.Children[call]; node == nil {
			return Declared{}, false
		}
	}
	block := node.Resources[resource]
	if block == nil {
		return Declared{}, false
	}
	provider, declared := node.Provider(block.Provider.LocalName)
	if provider.IsBuiltin() && !declared {
		return Declared{Provider: provider}, true
	}
	root, ok := node.rootSlot(block.Provider, provider)
	if _, inRoot := t.Root.Required[root.LocalName]; ok && inRoot {
		provider, _ = t.Root.Provider(root.LocalName)
	}
	return Declared{Provider: provider, Slot: root, HasSlot: ok}, true
}
