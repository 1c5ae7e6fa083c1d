// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package layout

// Graph is the input of a layout. Nodes are numbered from 0.
type Graph struct {
	Columns [][]int // all nodes, each once
	Widths  []int   // of the contents of nodes
	Edges   []Edge

	// Groups are drawn around nodes. Of any two, one holds all of the other, or they have nothing in
	// common.
	Groups [][]int
}

// Edge leads from a node to another one in a column further right.
type Edge struct{ From, To int }

// Rect is a rectangle. The zero value is at the left top.
type Rect struct{ X, Y, Width, Height int }

// Middle is the height of the middle line.
func (r Rect) Middle() int { return r.Y + r.Height/2 }

// Right is the right end of the rectangle.
func (r Rect) Right() int { return r.X + r.Width }

// Bottom is the lower end of the rectangle.
func (r Rect) Bottom() int { return r.Y + r.Height }

// Drawing is a graph with places.
type Drawing struct {
	Width, Height int
	Columns       []Rect // over the whole height
	Nodes         []Rect
	Groups        []Rect // each after those that hold it, see Nesting; with room for a line of text at the top
	Nesting       []int  // the groups in the order in which they have to be drawn

	// Lanes are by edge: where it is between the columns of its ends. The zero value stands for a
	// direct way.
	Lanes []Lane
}

// Lane is a way to the right at one height.
type Lane struct{ From, To, Y int }

// Sizes, in units of the drawing.
const (
	nodeHeight  = 26
	nodeMargin  = 5 // above and below
	laneHeight  = 12
	groupHeader = 22
	groupMargin = 10
	leastGap    = 44 // between columns
	mostGap     = 160
	leastWidth  = 40
)

// mostPasses limits the passes over large graphs, of which one takes longer.
func mostPasses(size int) int {
	switch {
	case size < 5_000:
		return 24
	case size < 50_000:
		return 8
	}
	return 2
}

// New lays out a graph.
func New(g Graph) *Drawing {
	if len(g.Widths) == 0 {
		return &Drawing{}
	}
	p := newPlacing(g)
	p.arrange(mostPasses(len(g.Widths) + len(g.Edges)))
	return p.draw()
}
