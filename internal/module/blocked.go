// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// Place is a block in a tree.
type Place struct {
	Node  *Node
	Block *Block
}

// Path returns the module calls that lead to the place, the root's first.
func (p Place) Path() []*Node {
	var path []*Node
	for node := p.Node; node.Parent != nil; node = node.Parent {
		path = append(path, node)
	}
	slices.Reverse(path)
	return path
}

// Links are the references between the blocks of a tree. They are as terraform sees them, except
// that a module which is referred to as a whole stands for all of its outputs.
type Links struct {
	tree     *Tree
	contents map[*Directory]*contents

	marked map[string]bool
}

// NewLinks follows the references in a tree.
func NewLinks(tree *Tree) *Links {
	l := &Links{tree: tree, contents: map[*Directory]*contents{}, marked: map[string]bool{}}
	for _, dir := range tree.Directories() {
		l.contents[dir] = dir.contents()
	}
	return l
}

// Places returns all blocks of the tree: the root's first, then those of the called modules, each
// sorted by address.
func (l *Links) Places() []Place {
	var places []Place
	for _, node := range l.nodes() {
		blocks := l.contents[node.Directory].blocks
		for _, address := range slices.Sorted(maps.Keys(blocks)) {
			places = append(places, Place{node, blocks[address]})
		}
	}
	return places
}

// At returns the blocks whose instances depend on the expression at a position.
func (l *Links) At(pos hcl.Range) []Place {
	return slices.DeleteFunc(l.Places(), func(place Place) bool { return !place.Block.decidesAt(pos) })
}

// Call returns the block of a node's call.
func (l *Links) Call(node *Node) Place {
	return Place{node.Parent, l.contents[node.Parent.Directory].blocks["module."+node.Call.Name]}
}

// Block marks the places, and all that depends on them.
func (l *Links) Block(places []Place) {
	for _, place := range places {
		l.marked[key(place.Node, place.Block.Address())] = true
	}
	for before := -1; before != len(l.marked); {
		before = len(l.marked)
		for _, node := range l.nodes() {
			l.spread(node)
		}
	}
}

// Blocked reports whether a place was marked.
func (l *Links) Blocked(place Place) bool { return l.marked[key(place.Node, place.Block.Address())] }

func (l *Links) nodes() []*Node { return append([]*Node{l.tree.Root}, l.tree.Nodes...) }

func key(node *Node, name string) string { return node.Key + "/" + name }

// insideOf is marked for a module call if something in the module is.
const insideOf = " inside"

// spread marks the dependents of marked objects in one module.
func (l *Links) spread(node *Node) {
	here := l.contents[node.Directory]
	all := node.Parent != nil && l.marked[key(node.Parent, "module."+node.Call.Name)]
	mark := func(name string, references []hcl.Traversal) {
		if all || l.anyMarked(node, references) {
			l.marked[key(node, name)] = true
		}
	}
	for name, references := range here.locals {
		mark("local."+name, references)
	}
	for name, references := range here.outputs {
		mark("output."+name, references)
	}
	for address, block := range here.blocks {
		mark(address, block.references)
		if l.anyRequired(node, block.dependsOn) {
			l.marked[key(node, address)] = true
		}
		if block.Kind != "module" && l.marked[key(node, address)] {
			for inner := node; inner.Parent != nil; inner = inner.Parent {
				l.marked[key(inner.Parent, "module."+inner.Call.Name+insideOf)] = true
			}
		}
		if child := node.Children[block.Name]; block.Kind == "module" && child != nil {
			for name, references := range block.arguments {
				if l.anyMarked(node, references) {
					l.marked[key(child, "var."+name)] = true
				}
			}
		}
	}
}

func (l *Links) anyMarked(node *Node, references []hcl.Traversal) bool {
	return slices.ContainsFunc(references, func(reference hcl.Traversal) bool {
		name, output := target(reference)
		switch {
		case name == "":
			return false
		case l.marked[key(node, name)]:
			return true
		case !strings.HasPrefix(name, "module."):
			return false
		}
		child := node.Children[strings.TrimPrefix(name, "module.")]
		if child == nil {
			return false
		}
		if output != "" {
			return l.marked[key(child, "output."+output)]
		}
		for name := range l.contents[child.Directory].outputs {
			if l.marked[key(child, "output."+name)] {
				return true
			}
		}
		return false
	})
}

// anyRequired is anyMarked for depends_on, which waits for everything in a module.
func (l *Links) anyRequired(node *Node, references []hcl.Traversal) bool {
	return l.anyMarked(node, references) || slices.ContainsFunc(references, func(reference hcl.Traversal) bool {
		name, _ := target(reference)
		return l.marked[key(node, name+insideOf)]
	})
}

// target returns the target of a reference: its name in the module, and the output if it is one of
// a called module. The name is empty if it is nothing with dependencies.
func target(reference hcl.Traversal) (name, output string) {
	var names []string
	for _, step := range reference[1:] {
		if attr, ok := step.(hcl.TraverseAttr); ok {
			names = append(names, attr.Name)
		}
	}
	root := reference.RootName()
	switch {
	case len(names) == 0:
		return "", ""
	case root == "data" || root == "ephemeral":
		if len(names) == 1 {
			return "", ""
		}
		return root + "." + names[0] + "." + names[1], ""
	case root == "module" && len(names) > 1:
		return root + "." + names[0], names[1]
	default:
		return root + "." + names[0], ""
	}
}
