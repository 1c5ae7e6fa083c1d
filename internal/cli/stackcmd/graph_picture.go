// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/show/picture"
	"github.com/cairnstacks/cairn/internal/views/eventtext"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// pictureClasses are the ways in which components are drawn, with the symbols of plans, in the
// order of a legend.
var pictureClasses = []struct {
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
}

func symbolOf(class picture.Class) string {
	for _, c := range pictureClasses {
		if c.class == class {
			return c.symbol
		}
	}
	return ""
}

// class is the look of a component.
func (n graphNode) class() picture.Class {
	actions := slices.DeleteFunc(slices.Clone(n.Actions), func(action string) bool { return action == "no-op" })
	switch {
	case n.failed:
		return picture.Failed
	case n.Deferred:
		return picture.Deferred
	case len(actions) > 1:
		return picture.Several
	case len(actions) == 1:
		return picture.Class(actions[0])
	}
	return ""
}

// picture draws required components on the left of their dependents, with frames around embedded
// stacks.
func (g *componentGraph) picture() *picture.Picture {
	p := &picture.Picture{Title: fmt.Sprintf("%d components", len(g.Components))}
	nodes := g.withAllEnds()
	column := columnsOf(nodes, g.Edges)
	index := map[string]int{}
	framed := map[stackaddrs.StackInstance][]int{}
	for i, node := range nodes {
		index[node.Address] = i
		for len(p.Columns) <= column[node.Address] {
			p.Columns = append(p.Columns, nil)
		}
		p.Columns[column[node.Address]] = append(p.Columns[column[node.Address]], i)
		p.Nodes = append(p.Nodes, node.box())
		for stack := node.component.Stack; !stack.IsRoot(); stack, _, _ = stack.Parent() {
			framed[stack] = append(framed[stack], i)
		}
	}
	for _, stack := range slices.SortedFunc(maps.Keys(framed), stackaddrs.StackInstance.Compare) {
		p.Groups = append(p.Groups, picture.Group{Name: stack.String(), Nodes: framed[stack]})
	}
	for _, edge := range g.Edges {
		drawn := picture.Edge{From: index[edge.To], To: index[edge.From], Tooltip: edge.From + " requires " + edge.To}
		if column[edge.To] > column[edge.From] { // it closes a cycle of old and new requirements
			drawn.From, drawn.To, drawn.Backward = drawn.To, drawn.From, true
		}
		p.Edges = append(p.Edges, drawn)
	}
	for _, c := range pictureClasses {
		if slices.ContainsFunc(p.Nodes, func(n picture.Node) bool { return n.Class == c.class }) {
			p.Legend = append(p.Legend, picture.Entry{Class: c.class, Text: c.symbol + " " + string(c.class)})
		}
	}
	return p
}

func (n graphNode) box() picture.Node {
	class := n.class()
	box := picture.Node{Class: class, Label: n.component.Item.String(), Tooltip: n.Address}
	if symbol := symbolOf(class); symbol != "" {
		box.Label = symbol + " " + box.Label
	}
	if len(n.Actions) > 0 {
		box.Tooltip += "\n" + n.planned()
		if n.counts.Total() > 0 {
			box.Tooltip += ": " + eventtext.PlanCounts(n.counts)
		}
	}
	return box
}

// withAllEnds returns the components with those that are required, but are not part of a plan.
func (g *componentGraph) withAllEnds() []graphNode {
	nodes := slices.Clone(g.Components)
	there := map[string]bool{}
	for _, node := range nodes {
		there[node.Address] = true
	}
	for _, edge := range g.Edges {
		if !there[edge.To] {
			there[edge.To] = true
			nodes = append(nodes, graphNode{Address: edge.To, component: edge.to})
		}
	}
	return nodes
}

// requirements returns the requirements of each component.
func requirements(edges []graphEdge) map[string][]string {
	requires := map[string][]string{}
	for _, edge := range edges {
		requires[edge.From] = append(requires[edge.From], edge.To)
	}
	return requires
}

// columnsOf returns the column of each component: right of all that it requires. Where a plan's new
// and former requirements make a cycle together, one of them is not heeded.
func columnsOf(nodes []graphNode, edges []graphEdge) map[string]int {
	requires := requirements(edges)
	columns := map[string]int{}
	begun := map[string]bool{}
	var visit func(address string) int
	visit = func(address string) int {
		if begun[address] {
			return columns[address]
		}
		begun[address] = true
		column := 0
		for _, other := range requires[address] {
			if _, done := columns[other]; done || !begun[other] {
				column = max(column, visit(other)+1)
			}
		}
		columns[address] = column
		return column
	}
	for _, node := range nodes {
		visit(node.Address)
	}
	return columns
}

func writeSVG(s *session.Session, g *componentGraph) error {
	s.Print("%s", g.picture().SVG())
	return nil
}

var graphPage = template.Must(template.New("graph").Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{{.Title}}</title>
<style>
:root{color-scheme:light dark}
body{font:15px system-ui,sans-serif;margin:2em}
.picture{overflow:auto}
table{border-collapse:collapse;margin-top:2em}
th,td{text-align:left;vertical-align:top;padding:.3em 1.5em .3em 0;border-bottom:1px solid #8888}
td{font-family:ui-monospace,monospace;font-size:13px}
</style>
</head>
<body>
<div class="picture">
{{.Picture}}</div>
<table>
<tr><th>Component</th>{{if .Planned}}<th>Planned</th>{{end}}<th>Requires</th></tr>
{{- range .Rows}}
<tr><td>{{.Address}}</td>{{if $.Planned}}<td>{{.Planned}}</td>{{end}}<td>{{range $i, $name := .Requires}}{{if $i}}<br>{{end}}{{$name}}{{end}}</td></tr>
{{- end}}
</table>
</body>
</html>
`))

type graphPageRow struct {
	Address, Planned string
	Requires         []string
}

func writeHTML(s *session.Session, g *componentGraph) error {
	p, requires := g.picture(), requirements(g.Edges)
	page := struct {
		Title   string
		Picture template.HTML
		Planned bool
		Rows    []graphPageRow
	}{Title: p.Title, Picture: template.HTML(p.SVG())} //nolint:gosec // the picture escapes its texts
	for _, node := range g.Components {
		row := graphPageRow{node.Address, node.planned(), requires[node.Address]}
		page.Planned = page.Planned || row.Planned != ""
		page.Rows = append(page.Rows, row)
	}
	var b strings.Builder
	if err := graphPage.Execute(&b, page); err != nil {
		return err
	}
	s.Print("%s", b.String())
	return nil
}
