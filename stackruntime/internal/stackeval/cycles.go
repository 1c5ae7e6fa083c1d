// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
)

// The promises of an evaluation find every circular dependency, but which one
// they find first depends on which task ran first. So that the report does not
// (rule V5), the references as written are searched for circles beforehand:
// each group of items that depend on each other is one strongly connected
// component of the graph they make. Algorithm: Tarjan, Depth-first search and
// linear graph algorithms, 1972.

// item is something whose value depends on other items.
type item struct {
	name  string
	place hcl.Range
	uses  []*item

	visited bool
	index   int // in order of discovery
	low     int // smallest index reachable
	onPath  bool
}

// itemGraph has the items of a configuration, keyed by the object they belong to.
type itemGraph struct {
	items map[any]*item
	all   []*item
}

// The parts of a stack call that depend on different things.
type (
	callForEach struct{ call *StackCallConfig }
	callInputs  struct{ call *StackCallConfig }
	callOutputs struct{ call *StackCallConfig }
)

// checkCycles reports each group of items that depend on each other.
func (s *StackConfig) checkCycles() hcl.Diagnostics {
	g := &itemGraph{items: make(map[any]*item)}
	g.addStack(s)
	slices.SortFunc(g.all, func(a, b *item) int { return cmp.Compare(a.name, b.name) })
	var diags hcl.Diagnostics
	for _, group := range g.circles() {
		diags = diags.Append(group.diagnostic())
	}
	return diags
}

// of returns the item of an object, which may not have been filled in yet.
func (g *itemGraph) of(object any) *item {
	i, ok := g.items[object]
	if !ok {
		i = &item{}
		g.items[object] = i
		g.all = append(g.all, i)
	}
	return i
}

func (g *itemGraph) add(object any, name string, place hcl.Range, uses []*item) {
	i := g.of(object)
	i.name, i.place, i.uses = name, place, uses
}

func (g *itemGraph) addStack(s *StackConfig) {
	for _, l := range s.locals {
		g.add(l, l.addr.String(), l.decl.Range, g.usedBy(s, l.decl.Value))
	}
	for _, o := range s.outputs {
		g.add(o, o.addr.String(), o.decl.Range, g.usedBy(s, o.decl.Value))
	}
	for _, p := range s.providers {
		uses := g.usedBy(s, p.decl.ForEach)
		uses = append(uses, g.usedByTraversals(s, bodyVariables(p.decl.Config))...)
		g.add(p, p.addr.String(), p.decl.Range, uses)
	}
	for _, c := range s.components {
		uses := g.usedBy(s, c.decl.ForEach, c.decl.Inputs)
		for _, assignment := range c.decl.Providers {
			uses = append(uses, g.usedBy(s, assignment.Value)...)
		}
		uses = append(uses, g.usedByTraversals(s, c.decl.DependsOn)...)
		g.add(c, c.addr.String(), c.decl.Range, uses)
	}
	for _, c := range s.calls {
		g.addCall(s, c)
	}
	for _, child := range s.leaving {
		g.addStack(child)
	}
}

func (g *itemGraph) addCall(s *StackConfig, c *StackCallConfig) {
	name, place := c.addr.String(), c.decl.Range
	instances := g.of(callForEach{c})
	g.add(callForEach{c}, name+" for_each", place, g.usedBy(s, c.decl.ForEach))
	inputs := append(g.usedBy(s, c.decl.Inputs), g.usedByTraversals(s, c.decl.DependsOn)...)
	g.add(callInputs{c}, name+" inputs", place, append(inputs, instances))
	outputs := []*item{instances}
	if c.child != nil {
		for _, o := range c.child.outputs {
			outputs = append(outputs, g.of(o))
		}
		// Whoever refers to a stack is applied after all components in it.
		outputs = append(outputs, g.componentsInside(c.child)...)
		g.addStack(c.child)
	}
	g.add(callOutputs{c}, name+" collected outputs", place, outputs)
}

func (g *itemGraph) componentsInside(s *StackConfig) []*item {
	var items []*item
	for _, c := range s.components {
		items = append(items, g.of(c))
	}
	for _, c := range s.calls {
		if c.child != nil {
			items = append(items, g.componentsInside(c.child)...)
		}
	}
	return items
}

func (g *itemGraph) usedBy(s *StackConfig, exprs ...hcl.Expression) []*item {
	var uses []*item
	for _, e := range exprs {
		if e != nil {
			uses = append(uses, g.usedByTraversals(s, e.Variables())...)
		}
	}
	return uses
}

func (g *itemGraph) usedByTraversals(s *StackConfig, traversals []hcl.Traversal) []*item {
	var uses []*item
	for _, ref := range expr.References(traversals) {
		if object := s.itemKey(ref.Target); object != nil {
			uses = append(uses, g.of(object))
		}
	}
	return uses
}

// itemKey returns the object of the item that a reference uses; nil for none.
func (s *StackConfig) itemKey(target stackaddrs.Referenceable) any {
	switch target := target.(type) {
	case stackaddrs.InputVariable:
		if s.call != nil && s.variables[target.Name] != nil {
			return callInputs{s.call}
		}
	case stackaddrs.StackCall:
		if call := s.calls[target.Name]; call != nil {
			return callOutputs{call}
		}
	case stackaddrs.LocalValue, stackaddrs.Component, stackaddrs.ProviderConfigRef:
		if object := s.lookUp(target); object != nil {
			return object
		}
	}
	return nil
}

// bodyVariables finds the references in a body whose schema is not known.
func bodyVariables(body hcl.Body) []hcl.Traversal {
	if body, ok := body.(*hclsyntax.Body); ok {
		var found []hcl.Traversal
		for _, attr := range body.Attributes {
			found = append(found, attr.Expr.Variables()...)
		}
		for _, block := range body.Blocks {
			found = append(found, bodyVariables(block.Body)...)
		}
		return found
	}
	attrs, diags := body.JustAttributes()
	if diags.HasErrors() {
		return nil // what is wrong is reported when the body is decoded
	}
	var found []hcl.Traversal
	for _, attr := range attrs {
		found = append(found, attr.Expr.Variables()...)
	}
	return found
}

// circle is a group of items that depend on each other.
type circle []*item

// circles finds the groups, ordered by the name of their first item.
func (g *itemGraph) circles() []circle {
	var found []circle
	var path []*item
	next := 0
	var visit func(i *item)
	visit = func(i *item) {
		i.visited, i.onPath = true, true
		i.index, i.low = next, next
		next++
		path = append(path, i)
		for _, used := range i.uses {
			if !used.visited {
				visit(used)
				i.low = min(i.low, used.low)
			} else if used.onPath {
				i.low = min(i.low, used.index)
			}
		}
		if i.low != i.index {
			return
		}
		start := slices.Index(path, i)
		group := slices.Clone(path[start:])
		path = path[:start]
		for _, member := range group {
			member.onPath = false
		}
		if len(group) > 1 || slices.Contains(i.uses, i) {
			found = append(found, group)
		}
	}
	for _, i := range g.all {
		if !i.visited {
			visit(i)
		}
	}
	for _, group := range found {
		slices.SortFunc(group, func(a, b *item) int { return cmp.Compare(a.name, b.name) })
	}
	slices.SortFunc(found, func(a, b circle) int { return cmp.Compare(a[0].name, b[0].name) })
	return found
}

// inOrder follows the references round from the first item, where the group is
// a single circle; otherwise the order stays that of the names.
func (c circle) inOrder() []*item {
	chain := []*item{c[0]}
	for len(chain) < len(c) {
		next := c.usedInside(chain[len(chain)-1])
		if len(next) != 1 || slices.Contains(chain, next[0]) {
			return c
		}
		chain = append(chain, next[0])
	}
	return chain
}

// usedInside are the members of the group that an item uses, by name.
func (c circle) usedInside(i *item) []*item {
	var used []*item
	for _, other := range i.uses {
		if slices.Contains(c, other) && !slices.Contains(used, other) {
			used = append(used, other)
		}
	}
	slices.SortFunc(used, func(a, b *item) int { return cmp.Compare(a.name, b.name) })
	return used
}

func (c circle) diagnostic() *hcl.Diagnostic {
	diag := &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Items depend on each other in a circle",
		Subject:  c[0].place.Ptr(),
	}
	if len(c) == 1 {
		diag.Summary = "Item depends on itself"
	}
	var list strings.Builder
	for _, i := range c.inOrder() {
		fmt.Fprintf(&list, "\n  - %s, at %s:%d, uses ", i.name, i.place.Filename, i.place.Start.Line)
		for n, used := range c.usedInside(i) {
			if n > 0 {
				list.WriteString(" and ")
			}
			list.WriteString(used.name)
		}
	}
	diag.Detail = "None of these can be computed before the others:" + list.String() + "\nBreak the circle by removing one of the references."
	return diag
}
