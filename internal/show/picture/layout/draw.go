// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package layout

// draw makes the drawing of the placed items.
func (p *placing) draw() *Drawing {
	d := &Drawing{
		Height: p.root.height, Columns: p.columns(), Nodes: make([]Rect, len(p.nodes)), Groups: make([]Rect, len(p.groups)),
		Lanes: make([]Lane, len(p.Edges)),
	}
	if len(d.Columns) > 0 {
		last := d.Columns[len(d.Columns)-1]
		d.Width = last.Right() + p.depthOf(p.root)*groupMargin
	}
	for n, i := range p.nodes {
		column := d.Columns[i.first]
		d.Nodes[n] = Rect{column.X, i.top + nodeMargin, column.Width, nodeHeight}
	}
	for _, g := range p.largestFirst() {
		i := p.groups[g]
		if i == nil {
			continue
		}
		margin := p.depthOf(i) * groupMargin
		left, right := d.Columns[i.first].X-margin, d.Columns[i.last].Right()+margin
		d.Groups[g] = Rect{left, i.top + groupMargin/2, right - left, i.height - groupMargin}
		d.Nesting = append(d.Nesting, g)
	}
	for e, lane := range p.lanes {
		if lane != nil {
			to := d.Columns[p.column[p.Edges[e].To]-1]
			d.Lanes[e] = Lane{d.Columns[lane.first].X, to.Right(), lane.middle()}
		}
	}
	return d
}

// depthOf is the depth of nested groups in a box, itself included unless it is the root.
func (p *placing) depthOf(box *item) int {
	depth := 0
	for _, i := range box.items {
		if i.box {
			depth = max(depth, p.depthOf(i))
		}
	}
	if box != p.root {
		depth++
	}
	return depth
}

// columns are as wide as their widest node, with more room between them for more edges.
func (p *placing) columns() []Rect {
	crossing := make([]int, len(p.Columns)+1) // by column, edges that pass the gap before it
	for _, edge := range p.Edges {
		crossing[p.column[edge.From]+1]++
		if to := p.column[edge.To]; to > p.column[edge.From]+1 {
			crossing[to]++
		}
	}
	margin := p.depthOf(p.root) * groupMargin
	columns := make([]Rect, len(p.Columns))
	x := margin
	for c, nodes := range p.Columns {
		if c > 0 {
			x += min(leastGap+2*crossing[c], mostGap) + 2*margin
		}
		width := leastWidth
		for _, n := range nodes {
			width = max(width, p.Widths[n])
		}
		columns[c] = Rect{x, 0, width, p.root.height}
		x += width
	}
	return columns
}
