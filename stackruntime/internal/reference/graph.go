// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package reference

import (
	"cmp"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Graph has the references between the declarations of a configuration. It is safe for concurrent
// use.
type Graph struct {
	items map[key]*item
	all   []*item // by name
	raise func()  // makes the requirements of all items
}

// key identifies an item: two stacks of one directory share their declarations.
type key struct {
	stack *stackconfig.Stack
	decl  any // a pointer to a declaration of package stackconfig
	part  part
}

// part is the part of a stack call that an item stands for; other declarations have one item each.
type part int

const (
	whole part = iota
	callForEach
	callInputs
	callOutputs
)

// item is something whose value depends on other items.
type item struct {
	key
	name  string
	place hcl.Range
	uses  []*item

	variables bool          // whether it refers to a variable of its stack
	required  *Requirements // nil until raised
}

// New derives the graph of a stack and all below it.
func New(root *stackconfig.Stack) *Graph {
	g := &Graph{items: make(map[key]*item)}
	g.addStack(root, nil)
	slices.SortFunc(g.all, compareItems)
	g.raise = sync.OnceFunc(g.raiseAll)
	return g
}

func compareItems(a, b *item) int { return cmp.Compare(a.name, b.name) }

// of returns the item of a key, which may not have been filled in yet.
func (g *Graph) of(k key) *item {
	i, ok := g.items[k]
	if !ok {
		i = &item{key: k}
		g.items[k] = i
		g.all = append(g.all, i)
	}
	return i
}

// stackItems adds the items of one stack.
type stackItems struct {
	*Graph
	stack *stackconfig.Stack
	by    *call // nil for the root, and for a stack that only removed blocks name
}

// call is a stack call, in the stack that has it.
type call struct {
	stack *stackconfig.Stack
	decl  *stackconfig.StackCall
}

func (g *Graph) addStack(stack *stackconfig.Stack, by *call) {
	s := stackItems{g, stack, by}
	for _, d := range stack.Locals {
		s.add(d, stackaddrs.ConfigLocalValue{Stack: stack.Addr, Item: stackaddrs.LocalValue{Name: d.Name}}.String(), d.Range).refersTo(s, d.Value)
	}
	for _, d := range stack.Outputs {
		s.add(d, stackaddrs.ConfigOutputValue{
			Stack: stack.Addr,
			Item:  stackaddrs.OutputValue{Name: d.Name},
		}.String(), d.Range).refersTo(s, d.Value)
	}
	for _, d := range stack.Providers {
		i := s.add(d, stackaddrs.ConfigProviderConfig{
			Stack: stack.Addr,
			Item:  stackaddrs.ProviderConfig{Provider: d.Provider, Name: d.Ref.Name},
		}.String(), d.Range)
		i.refersTo(s, d.ForEach)
		i.refersTo(s, d.Expressions()...)
	}
	for _, d := range stack.Components {
		i := s.add(d, stackaddrs.ConfigComponent{Stack: stack.Addr, Item: stackaddrs.Component{Name: d.Name}}.String(), d.Range)
		i.refersTo(s, d.ForEach, d.Inputs)
		for _, assignment := range d.Providers {
			i.refersTo(s, assignment.Value)
		}
		i.names(s, d.DependsOn)
	}
	for _, d := range stack.Removed {
		s.add(d, "removed", d.Range).refersTo(s, d.ForEach, d.Inputs) // nothing refers to it, so that no message names it
	}
	for _, d := range stack.Calls {
		s.addCall(d)
	}
	for name, child := range stack.Children {
		if stack.Calls[name] == nil {
			g.addStack(child, nil)
		}
	}
}

func (s stackItems) addCall(d *stackconfig.StackCall) {
	name := stackaddrs.ConfigStackCall{Stack: s.stack.Addr, Item: stackaddrs.StackCall{Name: d.Name}}.String()
	instances := s.addPart(d, callForEach, name+" for_each", d.Range)
	instances.refersTo(s, d.ForEach)
	inputs := s.addPart(d, callInputs, name+" inputs", d.Range)
	inputs.refersTo(s, d.Inputs)
	inputs.names(s, d.DependsOn)
	inputs.uses = append(inputs.uses, instances)
	outputs := s.addPart(d, callOutputs, name+" collected outputs", d.Range)
	outputs.uses = append(outputs.uses, instances)
	if child := s.stack.Children[d.Name]; child != nil {
		s.Graph.addStack(child, &call{s.stack, d})
		for _, o := range child.Outputs {
			outputs.uses = append(outputs.uses, s.of(key{child, o, whole}))
		}
		// Whoever refers to a stack is applied after all components in it.
		outputs.uses = append(outputs.uses, s.componentsIn(child)...)
	}
}

func (g *Graph) componentsIn(stack *stackconfig.Stack) []*item {
	var items []*item
	for _, d := range stack.Components {
		items = append(items, g.of(key{stack, d, whole}))
	}
	for name := range stack.Calls {
		if child := stack.Children[name]; child != nil {
			items = append(items, g.componentsIn(child)...)
		}
	}
	return items
}

func (s stackItems) add(decl any, name string, place hcl.Range) *item {
	return s.addPart(decl, whole, name, place)
}

func (s stackItems) addPart(decl any, p part, name string, place hcl.Range) *item {
	i := s.of(key{s.stack, decl, p})
	i.name, i.place = name, place
	return i
}

// refersTo adds the targets of the references in expressions of a stack. Nil expressions have none.
func (i *item) refersTo(s stackItems, exprs ...hcl.Expression) {
	for _, e := range exprs {
		if e != nil {
			i.names(s, e.Variables())
		}
	}
}

func (i *item) names(s stackItems, traversals []hcl.Traversal) {
	for _, target := range Targets(traversals) {
		if _, ok := target.(stackaddrs.InputVariable); ok {
			i.variables = true
		}
		if k, ok := s.keyOf(target); ok {
			i.uses = append(i.uses, s.of(k))
		}
	}
}

// keyOf finds the item that a reference uses, if it uses one.
func (s stackItems) keyOf(target stackaddrs.Referenceable) (key, bool) {
	switch target := target.(type) {
	case stackaddrs.InputVariable:
		if s.by != nil && s.stack.Variables[target.Name] != nil {
			return key{s.by.stack, s.by.decl, callInputs}, true
		}
	case stackaddrs.StackCall:
		if d := s.stack.Calls[target.Name]; d != nil {
			return key{s.stack, d, callOutputs}, true
		}
	case stackaddrs.LocalValue:
		if d := s.stack.Locals[target.Name]; d != nil {
			return key{s.stack, d, whole}, true
		}
	case stackaddrs.Component:
		if d := s.stack.Components[target.Name]; d != nil {
			return key{s.stack, d, whole}, true
		}
	case stackaddrs.ProviderConfigRef:
		if d := s.stack.Providers[target]; d != nil {
			return key{s.stack, d, whole}, true
		}
	}
	return key{}, false
}

// Targets are the targets of traversals. Malformed ones are left out: evaluating reports them.
func Targets(traversals []hcl.Traversal) []stackaddrs.Referenceable {
	targets := make([]stackaddrs.Referenceable, 0, len(traversals))
	for _, traversal := range traversals {
		if ref, _, diags := stackaddrs.ParseReference(traversal); !diags.HasErrors() {
			targets = append(targets, ref.Target)
		}
	}
	return targets
}
