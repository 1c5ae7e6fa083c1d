// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package render

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/views/layout"
	"github.com/cairnstacks/cairn/internal/views/textstyle"
)

// Sizes in the picture.
const (
	letterWidth = 8 // of the font at its size, rounded up
	nodePadding = 14
	mostLetters = 44 // of a name; all of it is in the tooltip
	border      = 20
	waveHeader  = 30
	legendRow   = 34

	mostHits = 2000 // edges up to which there is more to point at than their lines
)

// SVG draws the graph as a picture: the waves in columns from left to right, with frames around groups. It is for light and dark
// backgrounds, and needs nothing else. Pointing at something shows where it is written, and why.
func (v View) SVG() string {
	p := v.picture()
	width := max(p.drawing.Width+2*border, p.legendWidth()+2*border)
	height := p.drawing.Height + 2*border + waveHeader
	if len(p.legend()) > 0 {
		height += legendRow
	}
	p.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img">`+"\n", width, height)
	p.printf("<title>%s</title>\n", escape(p.title()))
	p.printf("<style>%s</style>\n", style)
	p.printf(`<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path class="head" d="M0 0 8 4 0 8z"/></marker></defs>` + "\n")
	p.printf(`<rect class="paper" width="%d" height="%d"/>`+"\n", width, height)
	p.printf(`<g transform="translate(%d %d)">`+"\n", border, border+waveHeader)
	p.waves()
	p.frames()
	p.edges()
	p.boxes()
	p.printf("</g>\n")
	p.writeLegend(height)
	p.printf("</svg>\n")
	return p.String()
}

const style = `
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#1f2328}
.paper{fill:#fff}
.wave{fill:#818b98;text-anchor:middle}
.band{fill:#f6f8fa}
.frame{fill:#818b98;fill-opacity:.08;stroke:#818b98;stroke-opacity:.6}
.name{font-weight:600;fill:#59636e}
.node rect{fill:#fff;stroke:#59636e}
.node:hover rect{stroke-width:2}
.node.task rect{fill:#fbefff;stroke:#8250df}
.node.plan rect{fill:#ddf4ff;stroke:#0969da;stroke-dasharray:4 2}
.node.apply rect{fill:#dafbe1;stroke:#1a7f37}
.edge path{fill:none;stroke:#818b98;stroke-width:1.3}
.edge .hit{stroke:transparent;stroke-width:9}
.edge:hover path.line{stroke:#cf222e;stroke-width:2.2}
.edge.soft .line{stroke-dasharray:3 3}
.head{fill:#818b98}
@media(prefers-color-scheme:dark){
text{fill:#e6edf3}
.paper{fill:#0d1117}
.wave{fill:#7d8590}
.band{fill:#151b23}
.frame{fill:#7d8590;stroke:#7d8590}
.name{fill:#9198a1}
.node rect{fill:#161b22;stroke:#9198a1}
.node.task rect{fill:#271b3d;stroke:#a371f7}
.node.plan rect{fill:#0f2540;stroke:#4493f8}
.node.apply rect{fill:#0f2a18;stroke:#3fb950}
.edge path.line{stroke:#7d8590}
.edge:hover path.line{stroke:#f85149}
.head{fill:#7d8590}
}
`

// picture is an SVG document that is being written.
type picture struct {
	strings.Builder
	view     View
	nodes    []int       // in waves
	position map[int]int // of each in nodes
	groups   []Group
	members  map[int][]string // names of groups, by node
	order    []order.Edge
	drawing  *layout.Drawing
}

func (v View) picture() *picture {
	p := &picture{view: v, position: map[int]int{}, groups: v.frames(), members: v.groupsOf(), order: v.edges()}
	var graph layout.Graph
	for _, wave := range v.Graph.Waves(v.Selected) {
		var column []int
		for _, n := range wave {
			p.position[n] = len(p.nodes)
			column = append(column, len(p.nodes))
			p.nodes = append(p.nodes, n)
			graph.Widths = append(graph.Widths, ansi.StringWidth(p.label(n))*letterWidth+2*nodePadding)
		}
		graph.Columns = append(graph.Columns, column)
	}
	for _, group := range p.groups {
		var nodes []int
		for _, n := range group.Nodes {
			nodes = append(nodes, p.position[n])
		}
		graph.Groups = append(graph.Groups, nodes)
	}
	for _, edge := range p.order {
		graph.Edges = append(graph.Edges, layout.Edge{From: p.position[edge.From], To: p.position[edge.To]})
	}
	p.drawing = layout.New(graph)
	return p
}

func (p *picture) printf(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// label is the name of a node, as far as there is room.
func (p *picture) label(n int) string {
	return ansi.Truncate(p.view.label(n), mostLetters, "…")
}

// escape makes text fit for XML.
func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) //nolint:errcheck // a strings.Builder takes everything
	return b.String()
}

func (p *picture) title() string {
	return fmt.Sprintf("Order of %d in %d steps", len(p.nodes), len(p.drawing.Columns))
}

// waves draws a band for each second column, and the number of each above.
func (p *picture) waves() {
	for i, column := range p.drawing.Columns {
		if i%2 == 0 {
			p.printf(`<rect class="band" x="%d" y="%d" width="%d" height="%d" rx="6"/>`+"\n",
				column.X-8, -waveHeader, column.Width+16, p.drawing.Height+waveHeader)
		}
		p.printf(`<text class="wave" x="%d" y="-10">%d</text>`+"\n", column.X+column.Width/2, i+1)
	}
}

func (p *picture) frames() {
	for _, g := range p.drawing.Nesting {
		r := p.drawing.Groups[g]
		name := ansi.Truncate(textstyle.Name(p.groups[g].Name), max(r.Width-2*8, letterWidth)/letterWidth, "…")
		p.printf(`<g><title>%s</title><rect class="frame" x="%d" y="%d" width="%d" height="%d" rx="8"/>`+
			`<text class="name" x="%d" y="%d">%s</text></g>`+"\n",
			escape(textstyle.Name(p.groups[g].Name)), r.X, r.Y, r.Width, r.Height, r.X+10, r.Y+17, escape(name))
	}
}

func (p *picture) edges() {
	for i, edge := range p.order {
		from, to := p.drawing.Nodes[p.position[edge.From]], p.drawing.Nodes[p.position[edge.To]]
		class := "edge"
		if edge.Soft {
			class += " soft"
		}
		path := way(from, to, p.drawing.Lanes[i])
		p.printf(`<g class="%s"><title>%s</title>`, class, escape(p.view.Why(edge)))
		if len(p.order) <= mostHits {
			p.printf(`<path class="hit" d="%s"/>`, path)
		}
		p.printf(`<path class="line" d="%s" marker-end="url(#arrow)"/></g>`+"\n", path)
	}
}

// way leads from the right of one node to the left of another.
func way(from, to layout.Rect, lane layout.Lane) string {
	curve := func(x, y, toX, toY int) string {
		return fmt.Sprintf("C%d %d %d %d %d %d", (x+toX)/2, y, (x+toX)/2, toY, toX, toY)
	}
	x, y := from.Right(), from.Middle()
	path := fmt.Sprintf("M%d %d", x, y)
	if lane != (layout.Lane{}) {
		path += curve(x, y, lane.From, lane.Y) + fmt.Sprintf("H%d", lane.To)
		x, y = lane.To, lane.Y
	}
	return path + curve(x, y, to.X, to.Middle())
}

func (p *picture) boxes() {
	for i, n := range p.nodes {
		r := p.drawing.Nodes[i]
		kind := p.kind(n)
		round := 4
		if kind == TaskKind {
			round = r.Height / 2
		}
		p.printf(`<g class="%s"><title>%s</title><rect x="%d" y="%d" width="%d" height="%d" rx="%d"/>`+
			`<text x="%d" y="%d">%s</text></g>`+"\n", strings.TrimSpace("node "+string(kind)), escape(p.about(n)),
			r.X, r.Y, r.Width, r.Height, round, r.X+nodePadding, r.Y+r.Height/2+5, escape(p.label(n)))
	}
}

func (p *picture) kind(n int) Kind {
	if p.view.Kind == nil {
		return ""
	}
	return p.view.Kind(n)
}

// about is the tooltip of a node.
func (p *picture) about(n int) string {
	lines := []string{p.view.label(n)}
	if groups := p.members[n]; len(groups) > 0 {
		lines = append(lines, "in "+strings.Join(groups, ", "))
	}
	if place := p.view.Graph.Node(n).Place; place.File != "" {
		lines = append(lines, textstyle.Name(place.String()))
	}
	return strings.Join(lines, "\n")
}

// legend returns what tells kinds apart, if there are several.
func (p *picture) legend() []Kind {
	var kinds []Kind
	for _, kind := range []Kind{StackKind, PlanKind, ApplyKind, TaskKind} {
		if slices.ContainsFunc(p.nodes, func(n int) bool { return p.kind(n) == kind }) {
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) < 2 {
		return nil
	}
	return kinds
}

const legendWidth = 90

func (p *picture) legendWidth() int { return len(p.legend()) * legendWidth }

func (p *picture) writeLegend(height int) {
	for i, kind := range p.legend() {
		x, y := border+i*legendWidth, height-legendRow
		round := 4
		if kind == TaskKind {
			round = 9
		}
		p.printf(`<g class="node %s"><rect x="%d" y="%d" width="26" height="18" rx="%d"/><text x="%d" y="%d">%[1]s</text></g>`+"\n",
			kind, x, y, round, x+34, y+14)
	}
}
