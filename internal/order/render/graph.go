// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/order"
)

// View is a part of a graph to be shown.
type View struct {
	Graph    *order.Graph
	Selected order.Selection
	Rule     order.Rule
	Name     func(node int) string

	// Transitive leaves out edges that others imply.
	Transitive bool
}

func (v View) edges() []order.Edge { return v.Graph.Reduced(v.Selected, v.Transitive) }

// before returns what each node comes after directly, in order.
func (v View) before() map[int][]string {
	names := map[int][]string{}
	for _, edge := range v.edges() {
		names[edge.To] = append(names[edge.To], v.Name(edge.From))
	}
	return names
}

// Text shows in groups what can run at the same time.
func (v View) Text() string {
	var b strings.Builder
	before := v.before()
	for i, wave := range v.Graph.Waves(v.Selected) {
		fmt.Fprintf(&b, "%d.\n", i+1)
		for _, n := range wave {
			fmt.Fprintf(&b, "  %s", v.Name(n))
			if names := before[n]; len(names) > 0 {
				fmt.Fprintf(&b, "  (after %s)", strings.Join(names, ", "))
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// Document is the JSON form.
type Document struct {
	Nodes    []string   `json:"nodes"`
	Edges    []Edge     `json:"edges"`
	Sequence []string   `json:"sequence"`
	Waves    [][]string `json:"waves"`
}

// Edge says that one node comes before another.
type Edge struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Reason string `json:"reason,omitempty"`
	Place  *Place `json:"place,omitempty"`
}

// Place is where that is written.
type Place struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// NewEdge returns the JSON form of an edge.
func (v View) NewEdge(e order.Edge) Edge {
	edge := Edge{From: v.Name(e.From), To: v.Name(e.To), Reason: e.Reason}
	if e.Place.File != "" {
		edge.Place = &Place{e.Place.File, e.Place.Line, e.Place.Column}
	}
	return edge
}

// Document returns the JSON form. Nodes are sorted by name.
func (v View) Document() Document {
	d := Document{Nodes: []string{}, Edges: []Edge{}, Waves: [][]string{}}
	d.Sequence = v.names(v.Graph.Sequence(v.Rule, v.Selected))
	d.Nodes = append(d.Nodes, d.Sequence...)
	slices.Sort(d.Nodes)
	for _, edge := range v.edges() {
		d.Edges = append(d.Edges, v.NewEdge(edge))
	}
	for _, wave := range v.Graph.Waves(v.Selected) {
		d.Waves = append(d.Waves, v.names(wave))
	}
	return d
}

func (v View) names(nodes []int) []string {
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = v.Name(n)
	}
	return names
}

// DOT shows the graph in the language of Graphviz. Arrows lead from what comes first.
func (v View) DOT() string {
	var b strings.Builder
	b.WriteString("digraph order {\n  rankdir = \"LR\"\n  node [shape = box, fontname = \"sans-serif\"]\n")
	for _, n := range v.Graph.Sequence(v.Rule, v.Selected) {
		fmt.Fprintf(&b, "  %s\n", dotQuote(v.Name(n)))
	}
	for _, edge := range v.edges() {
		fmt.Fprintf(&b, "  %s -> %s\n", dotQuote(v.Name(edge.From)), dotQuote(v.Name(edge.To)))
	}
	b.WriteString("}\n")
	return b.String()
}

func dotQuote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text) + `"`
}

// Mermaid shows the graph in the language of Mermaid.
func (v View) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	ids := map[int]string{}
	for i, n := range v.Graph.Sequence(v.Rule, v.Selected) {
		ids[n] = fmt.Sprintf("n%d", i)
		fmt.Fprintf(&b, "  %s[\"%s\"]\n", ids[n], strings.NewReplacer(`"`, "#quot;", "#", "#35;").Replace(v.Name(n)))
	}
	for _, edge := range v.edges() {
		fmt.Fprintf(&b, "  %s --> %s\n", ids[edge.From], ids[edge.To])
	}
	return b.String()
}

// Explanation says in words why one node comes before another.
func (v View) Explanation(e order.Explanation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s runs before %s", v.Name(e.First), v.Name(e.Second))
	if len(e.Chain) == 0 {
		fmt.Fprintf(&b, ": %s.\n", e.Rule)
		return b.String()
	}
	b.WriteString(":\n")
	for _, edge := range e.Chain {
		fmt.Fprintf(&b, "  %s before %s: %s", v.Name(edge.From), v.Name(edge.To), edge.Reason)
		if edge.Place.File != "" {
			fmt.Fprintf(&b, " (%s)", edge.Place)
		}
		b.WriteString("\n")
	}
	return b.String()
}
