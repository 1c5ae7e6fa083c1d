// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deps

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
)

// Cycles reports objects that depend on themselves, all of a cycle in one diagnostic. Evaluation
// might not notice: two local values can use different attributes of each other.
func (g *Graph) Cycles() hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, members := range g.components() {
		if len(members) > 1 || g.pointsAtItself(members[0]) {
			diags = append(diags, g.cycle(members))
		}
	}
	slices.SortFunc(diags, func(a, b *hcl.Diagnostic) int { return compareRanges(*a.Subject, *b.Subject) })
	return diags
}

func (g *Graph) pointsAtItself(id int32) bool {
	n := &g.nodes[id]
	return slices.Contains(g.edges[n.first:n.end], id)
}

// components returns the sets of nodes that all reach each other, by Tarjan's algorithm with a
// stack of its own, for chains may be long.
func (g *Graph) components() [][]int32 {
	t := &tarjan{graph: g, index: make([]int32, len(g.nodes)), low: make([]int32, len(g.nodes))}
	for id := range g.nodes {
		if t.index[id] == 0 {
			t.walk(int32(id))
		}
	}
	return t.found
}

type tarjan struct {
	graph      *Graph
	index, low []int32 // by node, from 1; low is 0 once the component of the node is found
	next       int32
	open       []int32 // nodes whose components are not found yet
	path       []step
	found      [][]int32
}

// step is a node on the path of the walk, with the edge that is followed next.
type step struct{ id, edge int32 }

func (t *tarjan) enter(id int32) {
	t.next++
	t.index[id], t.low[id] = t.next, t.next
	t.open = append(t.open, id)
	t.path = append(t.path, step{id, t.graph.nodes[id].first})
}

func (t *tarjan) walk(root int32) {
	t.enter(root)
	for len(t.path) > 0 {
		at := &t.path[len(t.path)-1]
		id := at.id
		if at.edge == t.graph.nodes[id].end {
			t.leave(id)
			continue
		}
		to := t.graph.edges[at.edge]
		at.edge++
		switch {
		case t.index[to] == 0:
			t.enter(to)
		case t.low[to] != 0:
			t.low[id] = min(t.low[id], t.index[to])
		}
	}
}

func (t *tarjan) leave(id int32) {
	t.path = t.path[:len(t.path)-1]
	if len(t.path) > 0 {
		above := t.path[len(t.path)-1].id
		t.low[above] = min(t.low[above], t.low[id])
	}
	if t.low[id] != t.index[id] {
		return
	}
	start := len(t.open) - 1
	for t.open[start] != id {
		start--
	}
	members := slices.Clone(t.open[start:])
	t.open = t.open[:start]
	for _, member := range members {
		t.low[member] = 0
	}
	t.found = append(t.found, members)
}

// cycle describes the members of a cycle.
func (g *Graph) cycle(members []int32) *hcl.Diagnostic {
	type named struct {
		text string
		at   hcl.Range
	}
	var objects []named
	for _, id := range members {
		n := &g.nodes[id]
		objects = append(objects, named{n.describe(), n.rangeOf()})
	}
	slices.SortFunc(objects, func(a, b named) int { return cmp.Or(compareRanges(a.at, b.at), cmp.Compare(a.text, b.text)) })
	var lines strings.Builder
	for _, object := range objects {
		fmt.Fprintf(&lines, "\n  %s, at %s:%d", object.text, object.at.Filename, object.at.Start.Line)
	}
	return failure.At(objects[0].at, "Circular dependency",
		"Each of these objects depends on all of them, itself included, so that there is none to begin with:%s", lines.String())
}

func compareRanges(a, b hcl.Range) int {
	return cmp.Or(cmp.Compare(a.Filename, b.Filename), cmp.Compare(a.Start.Byte, b.Start.Byte))
}

func (n *node) describe() string {
	text := n.name
	for tree := n.tree; tree.Parent != nil; tree = tree.Parent {
		if tree == n.tree && n.kind != valueNode && n.kind != resourceNode {
			continue
		}
		text = "module." + tree.Call.Name + "." + text
	}
	switch n.kind {
	case openNode:
		text += " (its instances)"
	case closeNode:
		text += " (all of it)"
	}
	return text
}

// rangeOf returns where the object is declared.
func (n *node) rangeOf() hcl.Range {
	name := n.name[strings.IndexByte(n.name, '.')+1:]
	switch {
	case n.resource != nil:
		return n.resource.Config.Range
	case n.kind != valueNode:
		if n.tree.Call != nil {
			return n.tree.Call.Range
		}
		return hcl.Range{}
	case strings.HasPrefix(n.name, "var."):
		return n.tree.Variables[name].Range
	case strings.HasPrefix(n.name, "local."):
		return n.tree.Locals[name].Range
	case strings.HasPrefix(n.name, "action."):
		return n.tree.Actions[name].Range
	default:
		return n.tree.Outputs[name].Range
	}
}
