// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package show

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/safetext"
)

// DOT shows the graph in the language of Graphviz. Arrows lead from a node to those that come after
// it.
func (v View) DOT() string {
	var b strings.Builder
	b.WriteString("digraph order {\n  rankdir = \"LR\"\n  node [shape = box, fontname = \"sans-serif\"]\n")
	kinds := v.severalKinds()
	v.frameTree().write(frameWriter{
		begin: func(indent string, frame int, name string) {
			fmt.Fprintf(&b, "%ssubgraph cluster_%d {\n%[1]s  label = %[3]s\n", indent, frame, dotQuote(safetext.Name(name)))
		},
		node: func(indent string, n int) {
			attributes := ""
			if kinds {
				attributes = dotKinds[v.Kind(n)]
			}
			fmt.Fprintf(&b, "%s%s%s\n", indent, dotQuote(v.label(n)), attributes)
		},
		end: func(indent string) { fmt.Fprintf(&b, "%s}\n", indent) },
	})
	for _, edge := range v.edges() {
		style := ""
		if edge.Soft {
			style = ", style = dashed"
		}
		fmt.Fprintf(&b, "  %s -> %s [tooltip = %s%s]\n", dotQuote(v.label(edge.From)), dotQuote(v.label(edge.To)), dotQuote(v.Why(edge)), style)
	}
	b.WriteString("}\n")
	return b.String()
}

var dotKinds = map[Kind]string{
	TaskKind:  ` [style = "rounded,filled", fillcolor = "thistle"]`,
	PlanKind:  ` [style = "dashed,filled", fillcolor = "lightcyan"]`,
	ApplyKind: ` [style = "filled", fillcolor = "palegreen"]`,
}

func dotQuote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// Mermaid shows the graph in the language of Mermaid.
func (v View) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	ids := map[int]string{}
	for i, n := range v.Graph.Sequence(v.Rule, v.Selected) {
		ids[n] = fmt.Sprintf("n%d", i)
	}
	kinds := v.severalKinds()
	v.frameTree().write(frameWriter{
		begin: func(indent string, frame int, name string) {
			fmt.Fprintf(&b, "%ssubgraph g%d[\"%s\"]\n", indent, frame, mermaidText.Replace(safetext.Name(name)))
		},
		node: func(indent string, n int) {
			left, right, class := "[", "]", ""
			if kinds {
				class = mermaidClasses[v.Kind(n)]
				if v.Kind(n) == TaskKind {
					left, right = "([", "])"
				}
			}
			fmt.Fprintf(&b, "%s%s%s\"%s\"%s%s\n", indent, ids[n], left, mermaidText.Replace(v.label(n)), right, class)
		},
		end: func(indent string) { fmt.Fprintf(&b, "%send\n", indent) },
	})
	for _, edge := range v.edges() {
		arrow := "-->"
		if edge.Soft {
			arrow = "-.->"
		}
		fmt.Fprintf(&b, "  %s %s %s\n", ids[edge.From], arrow, ids[edge.To])
	}
	if kinds {
		b.WriteString(mermaidStyle)
	}
	return b.String()
}

var mermaidClasses = map[Kind]string{TaskKind: ":::task", PlanKind: ":::plan", ApplyKind: ":::apply"}

const mermaidStyle = `  classDef task fill:#fbefff,stroke:#8250df,color:#1f2328
  classDef plan fill:#ddf4ff,stroke:#0969da,color:#1f2328,stroke-dasharray:4 2
  classDef apply fill:#dafbe1,stroke:#1a7f37,color:#1f2328
`

// mermaidText writes characters as entities that would end a string, begin an entity, or be markup
// of HTML or Markdown.
var mermaidText = strings.NewReplacer(`"`, "#quot;", "#", "#35;", "<", "#lt;", ">", "#gt;", "&", "#amp;", "`", "#96;")

func (v View) severalKinds() bool {
	kinds := map[Kind]bool{}
	for _, n := range v.Graph.Sequence(v.Rule, v.Selected) {
		if v.Kind != nil {
			kinds[v.Kind(n)] = true
		}
	}
	return len(kinds) > 1
}

// frameTree is nodes with frames around them.
type frameTree struct {
	groups []Group
	inner  map[int][]int // frames by the frame that holds them directly, -1 for none
	nodes  map[int][]int // the same for nodes, in the order of the sequence
}

func (v View) frameTree() frameTree {
	t := frameTree{groups: v.frames(), inner: map[int][]int{}, nodes: map[int][]int{}}
	holders := map[int][]int{} // frames by node
	for frame, group := range t.groups {
		for _, n := range group.Nodes {
			holders[n] = append(holders[n], frame)
		}
	}
	// Of frames with the same nodes, the first is outside.
	outside := func(a, b int) int {
		if d := len(t.groups[b].Nodes) - len(t.groups[a].Nodes); d != 0 {
			return d
		}
		return a - b
	}
	seen := map[int]bool{}
	for _, n := range v.Graph.Sequence(v.Rule, v.Selected) {
		in := -1
		slices.SortFunc(holders[n], outside)
		for _, frame := range holders[n] {
			if !seen[frame] {
				seen[frame] = true
				t.inner[in] = append(t.inner[in], frame)
			}
			in = frame
		}
		t.nodes[in] = append(t.nodes[in], n)
	}
	return t
}

type frameWriter struct {
	begin func(indent string, frame int, name string)
	node  func(indent string, n int)
	end   func(indent string)
}

func (t frameTree) write(w frameWriter) { t.writeFrame(w, -1, "  ") }

func (t frameTree) writeFrame(w frameWriter, frame int, indent string) {
	for _, inner := range t.inner[frame] {
		w.begin(indent, inner, t.groups[inner].Name)
		t.writeFrame(w, inner, indent+"  ")
		w.end(indent)
	}
	for _, n := range t.nodes[frame] {
		w.node(indent, n)
	}
}
