// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package show

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/safetext"
)

// View is a part of a graph to be shown.
type View struct {
	Graph    *order.Graph
	Selected order.Selection
	Rule     order.Rule
	Name     func(node int) string

	// Transitive leaves out edges that others imply.
	Transitive bool

	Groups []Group             // in the order in which they are written
	Kind   func(node int) Kind // nil if there is only one kind
}

// label is the name of a node for a person.
func (v View) label(n int) string { return safetext.Name(v.Name(n)) }

// Why returns the reason why one node comes before another, and the place where it is written.
func (v View) Why(edge order.Edge) string {
	return fmt.Sprintf("%s before %s", v.label(edge.From), v.label(edge.To)) + v.because(edge)
}

// because is the reason of an edge and its place, in words that follow its ends. Of an edge that
// stands for a way through others, as through a group, it is those of all steps.
func (v View) because(edge order.Edge) string {
	steps := []order.Edge{edge}
	if len(v.Graph.Edges()) <= mostExplained && !v.direct(edge) {
		steps = v.Graph.Explain(v.Rule, edge.From, edge.To).Chain
	}
	var texts []string
	for _, step := range steps {
		if step.Reason == "" {
			continue
		}
		text := safetext.Name(step.Reason)
		if step.Place.File != "" {
			text += " (" + safetext.Name(step.Place.String()) + ")"
		}
		texts = append(texts, text)
	}
	if len(texts) == 0 {
		return ""
	}
	return ": " + strings.Join(slices.Compact(texts), "; ") // one rule can be several steps, as a stage is
}

// direct reports whether an edge is one of the graph, and stands for no way.
func (v View) direct(edge order.Edge) bool {
	for e := range v.Graph.Predecessors(edge.To) {
		if e.From == edge.From {
			return true
		}
	}
	return false
}

// mostExplained is the number of edges up to which the steps of ways are looked for, which takes
// time for each of them.
const mostExplained = 5_000

func (v View) edges() []order.Edge { return v.Graph.Reduced(v.Selected, v.Transitive) }

// before returns the direct predecessors of each node, in order.
func (v View) before() map[int][]string {
	names := map[int][]string{}
	for _, edge := range v.edges() {
		names[edge.To] = append(names[edge.To], v.label(edge.From))
	}
	return names
}

// Text shows the nodes in groups of those that can run at the same time.
func (v View) Text() string {
	before := v.before()
	return v.text(func(b *strings.Builder, n int) {
		if names := before[n]; len(names) > 0 {
			fmt.Fprintf(b, "  (after %s)", strings.Join(names, ", "))
		}
		b.WriteString("\n")
	})
}

// TextWhy is the same with the groups of each node, and a line with the reason for each direct
// predecessor.
func (v View) TextWhy() string {
	edges := map[int][]order.Edge{}
	for _, edge := range v.edges() {
		edges[edge.To] = append(edges[edge.To], edge)
	}
	groups := v.groupsOf()
	return v.text(func(b *strings.Builder, n int) {
		if names := groups[n]; len(names) > 0 {
			fmt.Fprintf(b, "  in %s", strings.Join(names, ", "))
		}
		b.WriteString("\n")
		for _, edge := range edges[n] {
			fmt.Fprintf(b, "    after %s%s\n", v.label(edge.From), v.because(edge))
		}
	})
}

// text shows the waves, each node with the text that finish writes after its name, the end of the
// line included.
func (v View) text(finish func(b *strings.Builder, n int)) string {
	var b strings.Builder
	for i, wave := range v.Graph.Waves(v.Selected) {
		fmt.Fprintf(&b, "%d.\n", i+1)
		for _, n := range wave {
			fmt.Fprintf(&b, "  %s", v.label(n))
			finish(&b, n)
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

// Place is the place in a file where the reason is written.
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

// Explanation says in words why one node comes before another.
func (v View) Explanation(e order.Explanation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s runs before %s", v.label(e.First), v.label(e.Second))
	if len(e.Chain) == 0 {
		fmt.Fprintf(&b, ": %s.\n", safetext.Name(e.Rule))
		return b.String()
	}
	b.WriteString(":\n")
	for _, edge := range e.Chain {
		fmt.Fprintf(&b, "  %s\n", v.Why(edge))
	}
	return b.String()
}
