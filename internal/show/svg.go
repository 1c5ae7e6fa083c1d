// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package show

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/safetext"
	"github.com/cairnstacks/cairn/internal/show/picture"
)

// SVG draws the graph as a picture: the waves in columns from left to right, with frames around
// groups. Pointing at something shows where it is written, and why.
func (v View) SVG() string {
	p := picture.Picture{Numbered: true}
	position := map[int]int{} // of each node
	members := v.groupsOf()
	for _, wave := range v.Graph.Waves(v.Selected) {
		var column []int
		for _, n := range wave {
			position[n] = len(p.Nodes)
			column = append(column, len(p.Nodes))
			p.Nodes = append(p.Nodes, picture.Node{Label: v.label(n), Tooltip: v.about(n, members[n]), Class: v.class(n)})
		}
		p.Columns = append(p.Columns, column)
	}
	p.Title = fmt.Sprintf("Order of %d in %d steps", len(p.Nodes), len(p.Columns))
	for _, group := range v.frames() {
		var nodes []int
		for _, n := range group.Nodes {
			nodes = append(nodes, position[n])
		}
		p.Groups = append(p.Groups, picture.Group{Name: group.Name, Nodes: nodes})
	}
	for _, edge := range v.edges() {
		p.Edges = append(p.Edges, picture.Edge{From: position[edge.From], To: position[edge.To], Soft: edge.Soft, Tooltip: v.Why(edge)})
	}
	p.Legend = legend(p.Nodes)
	return p.SVG()
}

// class is the look of a node.
func (v View) class(n int) picture.Class {
	if v.Kind == nil {
		return ""
	}
	return picture.Class(v.Kind(n))
}

// about is the tooltip of a node, which is in these groups.
func (v View) about(n int, groups []string) string {
	lines := []string{v.label(n)}
	if len(groups) > 0 {
		lines = append(lines, "in "+strings.Join(groups, ", "))
	}
	if place := v.Graph.Node(n).Place; place.File != "" {
		lines = append(lines, safetext.Name(place.String()))
	}
	return strings.Join(lines, "\n")
}

// legend returns an entry for each kind of node, if there are several.
func legend(nodes []picture.Node) []picture.Entry {
	var kinds []picture.Entry
	for _, kind := range []Kind{StackKind, PlanKind, ApplyKind, TaskKind} {
		if slices.ContainsFunc(nodes, func(n picture.Node) bool { return n.Class == picture.Class(kind) }) {
			kinds = append(kinds, picture.Entry{Class: picture.Class(kind), Text: string(kind)})
		}
	}
	if len(kinds) < 2 {
		return nil
	}
	return kinds
}
