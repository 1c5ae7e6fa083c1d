// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package requirements

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Tree holds the requirements of a stack, of the module of a component, or of a called module, with
// those below it.
type Tree struct {
	Name     string                           // as configurations refer to it; empty for the stack itself
	Required map[stackaddrs.Provider][]string // constraints as written, of which there may be none
	Children []*Tree
}

// Tree returns the provider requirements of the stack, the stacks in it, the modules of components
// and of removed blocks, and the modules that these call. It installs nothing, and asks no
// provider.
func (s *Stack) Tree(ctx context.Context) (*Tree, hcl.Diagnostics) {
	config, diags := s.sources.Config()
	if diags.HasErrors() {
		return nil, diags
	}
	t := trees{loader: module.NewLoader(module.OptionsOf(s.engines.Reader(ctx), config.Root.Dir, config.Resolver).Of(config))}
	tree := t.ofStack("", config.Root)
	return tree, diags.Extend(t.diags)
}

// trees makes the parts of a tree, and collects the mistakes in modules.
type trees struct {
	loader *module.Loader
	diags  hcl.Diagnostics
}

func (t *trees) ofStack(name string, stack *stackconfig.Stack) *Tree {
	tree := &Tree{Name: name, Required: map[stackaddrs.Provider][]string{}}
	if stack.RequiredProviders != nil {
		for _, required := range stack.RequiredProviders.Providers {
			if required.Version != "" {
				tree.Required[required.Provider] = []string{required.Version}
			} else if !required.Provider.IsBuiltin() { // which is there without being written
				tree.Required[required.Provider] = nil
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(stack.Components)) {
		t.addModule(tree, "component."+name, stack.Components[name].Source)
	}
	for _, removed := range stack.Removed {
		if removed.From != nil && removed.From.Component != nil {
			t.addModule(tree, "removed "+removedName(removed.From), removed.Source)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(stack.Children)) {
		tree.Children = append(tree.Children, t.ofStack("stack."+name, stack.Children[name]))
	}
	return tree
}

func (t *trees) addModule(tree *Tree, name string, source stackconfig.Source) {
	if source.Dir == "" {
		return // that was reported
	}
	loaded, diags := t.loader.Load(source.Dir)
	t.diags = t.diags.Extend(diags)
	if loaded != nil {
		tree.Children = append(tree.Children, ofModule(name, loaded.Root))
	}
}

// ofModule returns the tree of a module and those that it calls.
func ofModule(name string, node *module.Node) *Tree {
	tree := &Tree{Name: name, Required: node.Requirements()}
	for _, called := range slices.Sorted(maps.Keys(node.Children)) {
		tree.Children = append(tree.Children, ofModule("module."+called, node.Children[called]))
	}
	return tree
}

// removedName returns the target of a removed block, without the keys of instances.
func removedName(from *stackconfig.RemovedFrom) string {
	var steps []string
	for _, step := range from.Stacks {
		steps = append(steps, "stack."+step.Name)
	}
	return strings.Join(append(steps, "component."+from.Component.Name), ".")
}
