// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package moves

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Removals are the removed blocks of a configuration. Made by [FindRemovals]; safe for concurrent
// use.
type Removals struct{ all []removal }

type removal struct {
	*module.Removed
	from pattern
	tree *module.Node // that has the block
}

// FindRemovals returns the removed blocks of a configuration, and the errors about things that it
// still declares.
func FindRemovals(root *module.Node) (*Removals, hcl.Diagnostics) {
	removals := &Removals{}
	var diags hcl.Diagnostics
	collect(root, nil, func(tree *module.Node, path []string) {
		for _, block := range tree.Removed {
			r := removal{block, newPattern(stepsOf(path), block.From, true), tree}
			for i := range r.from.steps {
				r.from.steps[i].key.any = true
			}
			if at := r.declaration(tree); at != nil {
				diags = diags.Append(stillDeclared(block, *at))
			}
			removals.all = append(removals.all, r)
		}
	})
	return removals, diags
}

// declaration returns where the module that has the block declares the removed object, itself or in
// one that it calls, or nil if nowhere.
func (r *removal) declaration(tree *module.Node) *hcl.Range {
	var call *module.Call
	for _, step := range r.From.Module {
		call = tree.Calls[step.Name]
		if tree = tree.Children[step.Name]; tree == nil {
			return nil
		}
	}
	if r.From.Resource == nil {
		return &call.Range
	}
	if block := tree.Resources[*r.From.Resource]; block != nil {
		return &block.Range
	}
	return nil
}

func stillDeclared(block *module.Removed, at hcl.Range) *hcl.Diagnostic {
	return failure.At(at, "Removed object still declared", "%s is said to be removed, at %s, but is still declared here. Remove this block, "+
		"or the removed block.", endString(block.From), block.Range)
}

// Covering returns the removed block that an object is covered by, and the module that has it, or
// nil. Where there are several, one that forgets it counts before those that destroy it, and
// otherwise that of its resource before that of the innermost module that it is in (rule V5).
func (r *Removals) Covering(addr stackaddrs.ResourceInstance) (*module.Removed, *module.Node) {
	path := addr.Module.Path()
	var found *removal
	for i := range r.all {
		candidate := &r.all[i]
		covers := candidate.from.matchesResource(path, addr.Resource) || candidate.from.resource == nil && candidate.from.matchesSteps(path)
		if covers && (found == nil || candidate.comesBefore(found)) {
			found = candidate
		}
	}
	if found == nil {
		return nil, nil
	}
	return found.Removed, found.tree
}

func (r *removal) comesBefore(other *removal) bool {
	if r.Destroy != other.Destroy {
		return !r.Destroy
	}
	if (r.from.resource == nil) != (other.from.resource == nil) {
		return r.from.resource != nil
	}
	return len(r.from.steps) > len(other.from.steps)
}
