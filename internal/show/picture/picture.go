// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package picture

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/cairnstacks/cairn/internal/safetext"
	"github.com/cairnstacks/cairn/internal/show/picture/layout"
)

// Picture is a graph in columns. Nodes are numbered from 0.
type Picture struct {
	Title   string
	Columns [][]int // nodes, each once
	Nodes   []Node
	Edges   []Edge  // in the order in which they are drawn
	Groups  []Group // are drawn around nodes; see [layout.Graph]
	Legend  []Entry

	// Numbered writes the number of each column above it.
	Numbered bool
}

// Node is a box. A label is cut to the room there is.
type Node struct {
	Label, Tooltip string
	Class          Class
}

// Edge is an arrow between a node and another one in a column further right.
type Edge struct {
	From, To int
	Soft     bool // dashed
	Backward bool // the arrow points to the left
	Tooltip  string
}

// Entry is one of a legend: a class and its meaning.
type Entry struct {
	Class Class
	Text  string
}

// Group is a frame around nodes.
type Group struct {
	Name  string
	Nodes []int
}

// Class is the look of a node. The zero value is the usual one.
type Class string

// The classes that have a look of their own. Of plans:
const (
	Create   Class = "create"
	Update   Class = "update"
	Delete   Class = "delete"
	Read     Class = "read"
	Forget   Class = "forget"
	Several  Class = "several" // of these
	Deferred Class = "deferred"
	Failed   Class = "failed"
)

// Of progress:
const (
	Working Class = "working"
	Done    Class = "done"
)

// Of orders:
const (
	Task  Class = "task"
	Plan  Class = "plan"
	Apply Class = "apply"
)

// Sizes in the picture.
const (
	letterWidth = 8 // of the font at its size, rounded up
	nodePadding = 14
	mostLetters = 44 // of a label
	border      = 20
	waveHeader  = 30 // above columns with numbers
	legendRow   = 34
	legendWidth = 90

	mostHits = 2000 // edges up to which there is more to point at than their lines
)

// SVG returns the picture as a document, or as an element of one of HTML.
func (p *Picture) SVG() string {
	d := drawing{Picture: p, Drawing: layout.New(p.graph())}
	width := max(d.Width+2*border, len(p.Legend)*legendWidth+2*border)
	height := d.Height + 2*border + p.header()
	if len(p.Legend) > 0 {
		height += legendRow
	}
	d.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img">`+"\n", width, height)
	d.printf("<title>%s</title>\n", Escape(p.Title))
	d.printf("<style>%s</style>\n", p.style())
	d.printf(`<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" ` +
		`markerUnits="userSpaceOnUse" orient="auto"><path class="head" d="M0 0 8 4 0 8z"/></marker></defs>` + "\n")
	d.printf(`<rect class="paper" width="%d" height="%d"/>`+"\n", width, height)
	d.printf(`<g transform="translate(%d %d)">`+"\n", border, border+p.header())
	d.columns()
	d.frames()
	d.edges()
	d.boxes()
	d.printf("</g>\n")
	d.legend(height)
	d.printf("</svg>\n")
	return d.String()
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

// planStyle is for the classes of plans.
const planStyle = `.node.create rect{fill:#dafbe1;stroke:#1a7f37}
.node.update rect{fill:#fff8c5;stroke:#9a6700}
.node.delete rect{fill:#ffebe9;stroke:#cf222e}
.node.read rect{fill:#ddf4ff;stroke:#0969da}
.node.forget rect{fill:#eaeef2;stroke:#59636e}
.node.several rect{fill:#fbefff;stroke:#8250df}
.node.deferred rect{fill:#fff;stroke:#9a6700;stroke-dasharray:4 2}
.node.failed rect{fill:#fff;stroke:#cf222e;stroke-dasharray:4 2}
@media(prefers-color-scheme:dark){
.node.create rect{fill:#0f2a18;stroke:#3fb950}
.node.update rect{fill:#2e2407;stroke:#d29922}
.node.delete rect{fill:#3a1519;stroke:#f85149}
.node.read rect{fill:#0f2540;stroke:#4493f8}
.node.forget rect{fill:#262c36;stroke:#9198a1}
.node.several rect{fill:#271b3d;stroke:#a371f7}
.node.deferred rect{fill:#0d1117;stroke:#d29922}
.node.failed rect{fill:#0d1117;stroke:#f85149}
}
`

var planClasses = []Class{Create, Update, Delete, Read, Forget, Several, Deferred, Failed}

// progressStyle is for the classes of progress.
const progressStyle = `.node.working rect{fill:#ddf4ff;stroke:#0969da;stroke-width:2}
.node.done rect{fill:#dafbe1;stroke:#1a7f37}
@media(prefers-color-scheme:dark){
.node.working rect{fill:#0f2540;stroke:#4493f8}
.node.done rect{fill:#0f2a18;stroke:#3fb950}
}
`

func (p *Picture) style() string {
	has := func(classes ...Class) bool {
		return slices.ContainsFunc(p.Nodes, func(n Node) bool { return slices.Contains(classes, n.Class) })
	}
	all := style
	if has(planClasses...) {
		all += planStyle
	}
	if has(Working, Done) {
		all += progressStyle
	}
	return all
}

// graph returns the input of the layout.
func (p *Picture) graph() layout.Graph {
	g := layout.Graph{Columns: p.Columns}
	for _, n := range p.Nodes {
		g.Widths = append(g.Widths, ansi.StringWidth(n.label())*letterWidth+2*nodePadding)
	}
	for _, group := range p.Groups {
		g.Groups = append(g.Groups, group.Nodes)
	}
	for _, edge := range p.Edges {
		g.Edges = append(g.Edges, layout.Edge{From: edge.From, To: edge.To})
	}
	return g
}

// header is the room above columns.
func (p *Picture) header() int {
	if p.Numbered {
		return waveHeader
	}
	return 0
}

// label returns the label, cut to the room there is.
func (n Node) label() string { return ansi.Truncate(safetext.Name(n.Label), mostLetters, "…") }

// round is the radius of the corners of a box.
func (c Class) round(height int) int {
	if c == Task {
		return height / 2
	}
	return 4
}

// drawing is a document that is being written.
type drawing struct {
	strings.Builder
	*Picture
	*layout.Drawing
}

func (d *drawing) printf(format string, args ...any) { fmt.Fprintf(&d.Builder, format, args...) }

// Escape makes text fit for XML. Line ends are wanted in tooltips.
func Escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(safetext.Clean(text))) //nolint:errcheck // a strings.Builder takes everything
	return b.String()
}

// columns draws a band for each second column, and the number of each above.
func (d *drawing) columns() {
	for i, column := range d.Drawing.Columns {
		if i%2 == 0 {
			d.printf(`<rect class="band" x="%d" y="%d" width="%d" height="%d" rx="6"/>`+"\n",
				column.X-8, -d.header(), column.Width+16, d.Height+d.header())
		}
		if d.Numbered {
			d.printf(`<text class="wave" x="%d" y="-10">%d</text>`+"\n", column.X+column.Width/2, i+1)
		}
	}
}

func (d *drawing) frames() {
	for _, g := range d.Nesting {
		r := d.Drawing.Groups[g]
		name := safetext.Name(d.Picture.Groups[g].Name)
		short := ansi.Truncate(name, max(r.Width-2*8, letterWidth)/letterWidth, "…")
		d.printf(`<g><title>%s</title><rect class="frame" x="%d" y="%d" width="%d" height="%d" rx="8"/>`+
			`<text class="name" x="%d" y="%d">%s</text></g>`+"\n",
			Escape(name), r.X, r.Y, r.Width, r.Height, r.X+10, r.Y+17, Escape(short))
	}
}

func (d *drawing) edges() {
	for i, edge := range d.Edges {
		from, to := d.Drawing.Nodes[edge.From], d.Drawing.Nodes[edge.To]
		class := "edge"
		if edge.Soft {
			class += " soft"
		}
		path := way(from, to, d.Lanes[i], edge.Backward)
		d.printf(`<g class="%s"><title>%s</title>`, class, Escape(edge.Tooltip))
		if len(d.Edges) <= mostHits {
			d.printf(`<path class="hit" d="%s"/>`, path)
		}
		d.printf(`<path class="line" d="%s" marker-end="url(#arrow)"/></g>`+"\n", path)
	}
}

// way leads from the right of one node to the left of another, or back.
func way(from, to layout.Rect, lane layout.Lane, backward bool) string {
	points := [][2]int{{from.Right(), from.Middle()}, {to.X, to.Middle()}}
	if lane != (layout.Lane{}) {
		points = slices.Insert(points, 1, [2]int{lane.From, lane.Y}, [2]int{lane.To, lane.Y})
	}
	if backward {
		slices.Reverse(points)
	}
	path := fmt.Sprintf("M%d %d", points[0][0], points[0][1])
	for i, to := range points[1:] {
		from := points[i]
		if len(points) == 4 && i == 1 { // the lane
			path += fmt.Sprintf("H%d", to[0])
			continue
		}
		path += fmt.Sprintf("C%d %d %d %d %d %d", (from[0]+to[0])/2, from[1], (from[0]+to[0])/2, to[1], to[0], to[1])
	}
	return path
}

func (d *drawing) boxes() {
	for i, n := range d.Picture.Nodes {
		r := d.Drawing.Nodes[i]
		d.printf(`<g class="%s"><title>%s</title><rect x="%d" y="%d" width="%d" height="%d" rx="%d"/>`+
			`<text x="%d" y="%d">%s</text></g>`+"\n", strings.TrimSpace("node "+string(n.Class)), Escape(n.Tooltip),
			r.X, r.Y, r.Width, r.Height, n.Class.round(r.Height), r.X+nodePadding, r.Y+r.Height/2+5, Escape(n.label()))
	}
}

func (d *drawing) legend(height int) {
	for i, entry := range d.Legend {
		x, y := border+i*legendWidth, height-legendRow
		d.printf(`<g class="node %s"><rect x="%d" y="%d" width="26" height="18" rx="%d"/><text x="%d" y="%d">%s</text></g>`+"\n",
			entry.Class, x, y, entry.Class.round(18), x+34, y+14, Escape(entry.Text))
	}
}
