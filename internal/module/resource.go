// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"github.com/hashicorp/hcl/v2"

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
	slot, ok := node.resourceSlot(resource)
	if !ok {
		return Declared{}, false
	}
	provider, declared := node.Provider(slot.LocalName)
	if provider.IsBuiltin() && !declared {
		return Declared{Provider: provider}, true
	}
	root, ok := node.rootSlot(slot, provider)
	if _, inRoot := t.Root.Required[root.LocalName]; ok && inRoot {
		provider, _ = t.Root.Provider(root.LocalName)
	}
	return Declared{Provider: provider, Slot: root, HasSlot: ok}, true
}

// resourceSlot returns the provider configuration that the block of a resource names, or the one
// that its type stands for.
func (d *Directory) resourceSlot(resource stackaddrs.Resource) (slot engine.ProviderSlot, found bool) {
	for _, file := range d.Files { // overriding ones last
		content, _, _ := file.File.Body.PartialContent(readRoot) //nolint:errcheck // loading has reported its mistakes
		blocks := content.Blocks
		for _, check := range content.Blocks.OfType("check") {
			nested, _, _ := check.Body.PartialContent(readCheck) //nolint:errcheck // likewise
			blocks = append(blocks, nested.Blocks...)
		}
		for _, block := range blocks {
			if !isResource(block, resource) {
				continue
			}
			if used, at, _ := usedSlot(block); !found || at != block.DefRange { //nolint:errcheck // likewise
				slot = used
			}
			found = true
		}
	}
	return slot, found
}

func isResource(block *hcl.Block, resource stackaddrs.Resource) bool {
	keyword := "resource"
	if resource.Mode == stackaddrs.DataResource {
		keyword = "data"
	}
	return block.Type == keyword && block.Labels[0] == resource.Type && block.Labels[1] == resource.Name
}
