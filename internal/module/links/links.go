// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package links follows the references between the blocks of a tree of modules: which resources and
// module calls depend on others. They are as terraform sees them, except that a module which is
// referred to as a whole stands for all of its outputs.
package links

import (
	"cmp"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/module/refs"
)

// Place is a block in a tree: a resource, or else a module call. Comparable.
type Place struct {
	Node     *module.Node
	Resource *module.Resource
	Call     *module.Call
}

// CallOf returns the block that calls a node, which is not the root.
func CallOf(node *module.Node) Place { return Place{Node: node.Parent, Call: node.Call} }

// Path returns the module calls that lead to the place, the root's first.
func (p Place) Path() []*module.Node {
	var path []*module.Node
	for node := p.Node; node.Parent != nil; node = node.Parent {
		path = append(path, node)
	}
	slices.Reverse(path)
	return path
}

// Address returns the block's address in its module.
func (p Place) Address() string { return p.object().subject.String() }

// Repeated reports whether there is a count or a for_each argument.
func (p Place) Repeated() bool { return p.repeat().Keyed() }

func (p Place) repeat() module.Repeat {
	if p.Call != nil {
		return p.Call.Repeat
	}
	return p.Resource.Repeat
}

func (p Place) object() object {
	if p.Call != nil {
		return object{p.Node, refs.Subject{Kind: refs.Call, Name: p.Call.Name}}
	}
	return object{p.Node, refs.OfResource(p.Resource.Addr)}
}

// object is something in a module that depends on others, an output of it as of a call without a
// name.
type object struct {
	node    *module.Node
	subject refs.Subject
}

func output(name string) refs.Subject { return refs.Subject{Kind: refs.CallOutput, Attr: name} }

// Links are the references between the blocks of a tree.
type Links struct {
	tree   *module.Tree
	marked map[object]bool
	inside map[*module.Node]bool // modules in which a resource is marked
}

// New returns the links of a tree, in which nothing is marked.
func New(tree *module.Tree) *Links {
	return &Links{tree: tree, marked: map[object]bool{}, inside: map[*module.Node]bool{}}
}

// Places returns all blocks of the tree but those in checks: the root's first, then those of the
// called modules, each sorted by address.
func (l *Links) Places() []Place {
	var places []Place
	for _, node := range l.nodes() {
		first := len(places)
		for _, resource := range node.Resources {
			if resource.Check == nil {
				places = append(places, Place{Node: node, Resource: resource})
			}
		}
		for _, call := range node.Calls {
			places = append(places, Place{Node: node, Call: call})
		}
		slices.SortFunc(places[first:], func(a, b Place) int { return cmp.Compare(a.Address(), b.Address()) })
	}
	return places
}

// At returns the blocks whose instances depend on the expression at a position.
func (l *Links) At(pos hcl.Range) []Place {
	return slices.DeleteFunc(l.Places(), func(place Place) bool {
		repeat := place.repeat()
		return !isIn(pos, repeat.Count, repeat.ForEach, repeat.Enabled)
	})
}

// ImportedAt returns the resources that an import block is for, if the argument at a position
// selects the object of that import.
func (l *Links) ImportedAt(pos hcl.Range) []Place {
	var places []Place
	for _, declaring := range append([]*module.Node{l.tree.Root}, l.tree.Nodes...) {
		for _, imported := range declaring.Imports {
			node := declaring
			for _, call := range imported.Block.Module.Path() {
				if node != nil {
					node = node.Children[call.Name]
				}
			}
			if node != nil && node.Resources[imported.Block.Resource] != nil && isIn(pos, imported.ID, imported.Identity, imported.ForEach) {
				places = append(places, Place{Node: node, Resource: node.Resources[imported.Block.Resource]})
			}
		}
	}
	return places
}

// isIn reports whether a position is in one of some expressions, which may be nil.
func isIn(pos hcl.Range, exprs ...*module.Expr) bool {
	return slices.ContainsFunc(exprs, func(expr *module.Expr) bool {
		if expr == nil {
			return false
		}
		at := expr.Range()
		return at.Filename == pos.Filename && at.Start.Byte <= pos.Start.Byte && pos.Start.Byte < at.End.Byte
	})
}

// Block marks the places, and all that depends on them.
func (l *Links) Block(places []Place) {
	for _, place := range places {
		l.marked[place.object()] = true
	}
	for before := -1; before != len(l.marked)+len(l.inside); {
		before = len(l.marked) + len(l.inside)
		for _, node := range l.nodes() {
			l.spread(node)
		}
	}
}

// Blocked reports whether a place was marked.
func (l *Links) Blocked(place Place) bool { return l.marked[place.object()] }

func (l *Links) nodes() []*module.Node { return append([]*module.Node{l.tree.Root}, l.tree.Nodes...) }

// spread marks the dependents of marked objects in one module.
func (l *Links) spread(node *module.Node) {
	all := node.Parent != nil && l.Blocked(CallOf(node))
	mark := func(object object, depends bool) {
		if all || depends {
			l.marked[object] = true
		}
	}
	for name, local := range node.Locals {
		mark(object{node, refs.Subject{Kind: refs.Local, Name: name}}, l.anyMarked(node, local.Value.Refs))
	}
	for name, out := range node.Outputs {
		mark(object{node, output(name)}, l.anyMarked(node, out.References()) || l.anyMarked(node, out.DependsOn))
	}
	for _, resource := range node.Resources {
		place := Place{Node: node, Resource: resource}
		mark(place.object(), l.anyMarked(node, resource.References()) || l.anyRequired(node, resource.DependsOn))
		// A depends_on on any call around the resource waits for it.
		if l.Blocked(place) {
			for inner := node; inner != nil; inner = inner.Parent {
				l.inside[inner] = true
			}
		}
	}
	for name, call := range node.Calls {
		place := Place{Node: node, Call: call}
		mark(place.object(), l.anyMarked(node, call.Repeat.References()) || l.anyRequired(node, call.DependsOn))
		if child := node.Children[name]; child != nil {
			for variable, value := range call.Inputs {
				if l.anyMarked(node, value.Refs) {
					l.marked[object{child, refs.Subject{Kind: refs.Variable, Name: variable}}] = true
				}
			}
		}
	}
}

func (l *Links) anyMarked(node *module.Node, references []refs.Reference) bool {
	return slices.ContainsFunc(references, func(reference refs.Reference) bool {
		subject := reference.Subject
		if subject.Kind != refs.Call && subject.Kind != refs.CallOutput {
			return l.marked[object{node, subject}]
		}
		if l.marked[object{node, refs.Subject{Kind: refs.Call, Name: subject.Name}}] {
			return true
		}
		child := node.Children[subject.Name]
		if child == nil || subject.Kind == refs.CallOutput {
			return l.marked[object{child, output(subject.Attr)}]
		}
		for name := range child.Outputs {
			if l.marked[object{child, output(name)}] {
				return true
			}
		}
		return false
	})
}

// anyRequired is anyMarked for depends_on, which waits for everything in a module.
func (l *Links) anyRequired(node *module.Node, references []refs.Reference) bool {
	return l.anyMarked(node, references) || slices.ContainsFunc(references, func(reference refs.Reference) bool {
		return reference.Subject.Kind == refs.Call && l.inside[node.Children[reference.Subject.Name]]
	})
}
