// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package stackpicture draws the components of a stack: what each requires on its left, frames
// around embedded stacks, and in colours its planned actions, or how far it has come.
package stackpicture

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/operation/graph"
	"github.com/cairnstacks/cairn/internal/show/picture"
	"github.com/cairnstacks/cairn/internal/views/eventtext"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// classes are the ways in which components are drawn, with the symbols of plans, in the
// order of a legend.
var classes = []struct {
	class  picture.Class
	symbol string
}{
	{picture.Create, "+"},
	{picture.Update, "~"},
	{picture.Delete, "-"},
	{picture.Read, "<="},
	{picture.Forget, "."},
	{picture.Several, "*"},
	{picture.Deferred, "?"},
	{picture.Failed, "!"},
	{picture.Working, "…"},
	{picture.Done, "✓"},
}

func symbolOf(class picture.Class) string {
	for _, c := range classes {
		if c.class == class {
			return c.symbol
		}
	}
	return ""
}

// ClassOf returns the look of a component.
func ClassOf(c graph.Component) picture.Class {
	if c.Planned == nil {
		return ""
	}
	actions := slices.DeleteFunc(slices.Clone(c.Planned.Actions), func(action stackplan.Action) bool { return action == stackplan.NoOp })
	switch {
	case c.Planned.Failed:
		return picture.Failed
	case c.Planned.Deferred:
		return picture.Deferred
	case len(actions) > 1:
		return picture.Several
	case len(actions) == 1:
		return picture.Class(actions[0])
	}
	return ""
}

// Planned names the planned actions of a component, "" where there is no plan.
func Planned(c graph.Component) string {
	if c.Planned == nil {
		return ""
	}
	texts := make([]string, len(c.Planned.Actions))
	for i, action := range c.Planned.Actions {
		texts[i] = string(action)
	}
	text := strings.Join(texts, ", ")
	if c.Planned.Deferred {
		text += " (deferred)"
	}
	return text
}

// Of draws a graph. A function for the looks, which may be nil, takes the place of [ClassOf].
func Of(g graph.Graph, class func(graph.Component) picture.Class) *picture.Picture {
	if class == nil {
		class = ClassOf
	}
	p := &picture.Picture{Title: fmt.Sprintf("%d components", len(g.Components))}
	nodes := withAllEnds(g)
	column := columnsOf(nodes)
	index := map[stackaddrs.AbsComponent]int{}
	framed := map[stackaddrs.StackInstance][]int{}
	for i, node := range nodes {
		index[node.Addr] = i
		for len(p.Columns) <= column[node.Addr] {
			p.Columns = append(p.Columns, nil)
		}
		p.Columns[column[node.Addr]] = append(p.Columns[column[node.Addr]], i)
		p.Nodes = append(p.Nodes, box(node, class(node)))
		for stack := node.Addr.Stack; !stack.IsRoot(); stack, _, _ = stack.Parent() {
			framed[stack] = append(framed[stack], i)
		}
	}
	for _, stack := range slices.SortedFunc(maps.Keys(framed), stackaddrs.StackInstance.Compare) {
		p.Groups = append(p.Groups, picture.Group{Name: stack.String(), Nodes: framed[stack]})
	}
	for _, node := range nodes {
		for _, required := range node.Requires {
			drawn := picture.Edge{
				From: index[required], To: index[node.Addr], Tooltip: node.Addr.String() + " requires " + required.String(),
			}
			if column[required] > column[node.Addr] { // it closes a cycle of old and new requirements
				drawn.From, drawn.To, drawn.Backward = drawn.To, drawn.From, true
			}
			p.Edges = append(p.Edges, drawn)
		}
	}
	for _, c := range classes {
		if slices.ContainsFunc(p.Nodes, func(n picture.Node) bool { return n.Class == c.class }) {
			p.Legend = append(p.Legend, picture.Entry{Class: c.class, Text: c.symbol + " " + string(c.class)})
		}
	}
	return p
}

func box(c graph.Component, class picture.Class) picture.Node {
	box := picture.Node{Class: class, Label: c.Addr.Item.String(), Tooltip: c.Addr.String()}
	if symbol := symbolOf(class); symbol != "" {
		box.Label = symbol + " " + box.Label
	}
	if text := Planned(c); text != "" {
		box.Tooltip += "\n" + text
		if c.Planned.Counts.Total() > 0 {
			box.Tooltip += ": " + eventtext.PlanCounts(c.Planned.Counts)
		}
	}
	return box
}

// withAllEnds returns the components with those that are required, but are not part of a plan.
func withAllEnds(g graph.Graph) []graph.Component {
	nodes := slices.Clone(g.Components)
	there := map[stackaddrs.AbsComponent]bool{}
	for _, node := range nodes {
		there[node.Addr] = true
	}
	for _, node := range g.Components {
		for _, required := range node.Requires {
			if !there[required] {
				there[required] = true
				nodes = append(nodes, graph.Component{Addr: required})
			}
		}
	}
	return nodes
}

// columnsOf returns the column of each component: right of all that it requires. Where a plan's new
// and former requirements make a cycle together, one of them is not heeded.
func columnsOf(nodes []graph.Component) map[stackaddrs.AbsComponent]int {
	requires := map[stackaddrs.AbsComponent][]stackaddrs.AbsComponent{}
	for _, node := range nodes {
		requires[node.Addr] = node.Requires
	}
	columns := map[stackaddrs.AbsComponent]int{}
	begun := map[stackaddrs.AbsComponent]bool{}
	var visit func(addr stackaddrs.AbsComponent) int
	visit = func(addr stackaddrs.AbsComponent) int {
		if begun[addr] {
			return columns[addr]
		}
		begun[addr] = true
		column := 0
		for _, other := range requires[addr] {
			if _, done := columns[other]; done || !begun[other] {
				column = max(column, visit(other)+1)
			}
		}
		columns[addr] = column
		return column
	}
	for _, node := range nodes {
		visit(node.Addr)
	}
	return columns
}
