// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package layout

import (
	"cmp"
	"slices"
)

// item is a node, a lane or a box: everything that takes up room in a box.
type item struct {
	first, last int // columns
	height      int // with margins
	y           int // within the box
	in          *item
	rank        int // among all items as they were made

	items []*item // of a box, in the order in which they are placed
	box   bool
	group int // of a box; -1 at the root

	top    int // where it is on the plane
	weight int // number of its neighbours, and the sum of the ways to them; see [placing.pull]
	way    int
}

func (i *item) middle() int { return i.top + i.height/2 }

// placing is the search for places.
type placing struct {
	Graph
	column []int   // by node
	nodes  []*item // by node
	groups []*item // by group
	root   *item
	links  []link
	lanes  []*item // by edge; nil for direct ones
	rank   int
	room   []int // by column, of the skylines of one box
}

// link pulls two items to the same height, of which the first is further left.
type link struct{ left, right, box *item } // the smallest box that holds both

func newPlacing(g Graph) *placing {
	p := &placing{Graph: g, column: make([]int, len(g.Widths)), nodes: make([]*item, len(g.Widths)), lanes: make([]*item, len(g.Edges))}
	p.room = make([]int, len(g.Columns))
	p.root = p.newItem(nil)
	p.root.box, p.root.group = true, -1
	p.makeGroups()
	in := p.innermost()
	for column, nodes := range g.Columns {
		for _, n := range nodes {
			p.column[n] = column
			i := p.newItem(in[n])
			i.first, i.last, i.height = column, column, nodeHeight+2*nodeMargin
			p.nodes[n] = i
		}
	}
	p.spans(p.root)
	p.makeLanes()
	return p
}

func (p *placing) newItem(in *item) *item {
	i := &item{in: in, rank: p.rank}
	p.rank++
	if in != nil {
		in.items = append(in.items, i)
	}
	return i
}

// makeGroups makes a box for each group within the smallest one that holds all of it.
func (p *placing) makeGroups() {
	p.groups = make([]*item, len(p.Groups))
	holder := make([]*item, len(p.Widths)) // by node, the smallest so far
	for i := range holder {
		holder[i] = p.root
	}
	for _, g := range p.largestFirst() {
		if len(p.Groups[g]) == 0 {
			continue
		}
		box := p.newItem(holder[p.Groups[g][0]])
		box.box, box.group = true, g
		p.groups[g] = box
		for _, n := range p.Groups[g] {
			holder[n] = box
		}
	}
}

func (p *placing) largestFirst() []int {
	order := make([]int, len(p.Groups))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(p.Groups[b]), len(p.Groups[a])) })
	return order
}

// innermost returns the smallest box that holds each node.
func (p *placing) innermost() []*item {
	in := make([]*item, len(p.Widths))
	for n := range in {
		in[n] = p.root
	}
	for _, g := range p.largestFirst() {
		for _, n := range p.Groups[g] {
			in[n] = p.groups[g]
		}
	}
	return in
}

// spans finds out which columns boxes span.
func (p *placing) spans(box *item) {
	box.first, box.last = len(p.Columns), -1
	for _, i := range box.items {
		if i.box {
			p.spans(i)
		}
		box.first, box.last = min(box.first, i.first), max(box.last, i.last)
	}
}

// makeLanes makes lanes for edges over more than one column. Those of a node share one in each box
// that holds both ends.
func (p *placing) makeLanes() {
	type key struct {
		from int
		box  *item
	}
	shared := map[key]*item{}
	for e, edge := range p.Edges {
		from, to := p.nodes[edge.From], p.nodes[edge.To]
		if to.first-from.last <= 1 {
			p.links = append(p.links, link{from, to, commonBox(from, to)})
			continue
		}
		box := commonBox(from, to)
		lane := shared[key{edge.From, box}]
		if lane == nil {
			lane = p.newItem(box)
			lane.first, lane.last, lane.height = from.last+1, to.first-1, laneHeight
			shared[key{edge.From, box}] = lane
			p.links = append(p.links, link{from, lane, box})
		}
		lane.last = max(lane.last, to.first-1)
		p.lanes[e] = lane
		p.links = append(p.links, link{lane, to, box})
	}
}

// commonBox is the smallest box that holds two items.
func commonBox(a, b *item) *item {
	for box := a.in; ; box = box.in {
		for other := b.in; other != nil; other = other.in {
			if box == other {
				return box
			}
		}
	}
}

// arrange looks for the order of items with the shortest edges, and then moves everything to where
// it is drawn without changing the order.
func (p *placing) arrange(passes int) {
	p.pack(p.root)
	p.place(p.root, 0)
	best, order := p.length(), p.order()
	for pass := range passes {
		p.pull(pass%2 == 0, pass%2 == 1)
		p.sort(p.root)
		p.pack(p.root)
		p.place(p.root, 0)
		if length := p.length(); length < best {
			best, order = length, p.order()
		}
	}
	for box, items := range order {
		box.items = items
	}
	p.pack(p.root)
	p.place(p.root, 0)
	for pass := range 2 * passes {
		toRight := pass < passes && pass%2 == 0 // at the end only to the left, so that chains become straight
		p.pull(!toRight, toRight)
		p.align(p.root)
		p.place(p.root, 0)
	}
}

// order returns the items of all boxes as they are now.
func (p *placing) order() map[*item][]*item {
	order := map[*item][]*item{p.root: slices.Clone(p.root.items)}
	for _, box := range p.groups {
		if box != nil {
			order[box] = slices.Clone(box.items)
		}
	}
	return order
}

// length is the total length of all links up or down.
func (p *placing) length() int {
	sum := 0
	for _, l := range p.links {
		sum += max(l.left.middle()-l.right.middle(), l.right.middle()-l.left.middle())
	}
	return sum
}

// pull adds up where each item, and each box that it is in, is drawn by its links to the left, to
// the right, or both.
func (p *placing) pull(toLeft, toRight bool) {
	p.each(p.root, func(i *item) { i.weight, i.way = 0, 0 })
	for _, l := range p.links {
		way := l.left.middle() - l.right.middle()
		if toLeft {
			for i := l.right; i != l.box; i = i.in {
				i.weight++
				i.way += way
			}
		}
		if toRight {
			for i := l.left; i != l.box; i = i.in {
				i.weight++
				i.way -= way
			}
		}
	}
}

func (p *placing) each(box *item, do func(*item)) {
	for _, i := range box.items {
		do(i)
		if i.box {
			p.each(i, do)
		}
	}
}

// want is the place that an item is drawn to, within its box.
func (i *item) want() int {
	if i.weight == 0 {
		return i.y
	}
	return i.y + i.way/i.weight
}

// sort puts the items of boxes into the order in which they are drawn to.
func (p *placing) sort(box *item) {
	slices.SortStableFunc(box.items, func(a, b *item) int {
		return cmp.Compare(2*a.want()+a.height, 2*b.want()+b.height)
	})
	for _, i := range box.items {
		if i.box {
			p.sort(i)
		}
	}
}

// pack gives each item the highest place that is free below those before it, and each box its
// height.
func (p *placing) pack(box *item) {
	for _, i := range box.items {
		if i.box {
			p.pack(i)
		}
	}
	room := p.room[box.first : box.last+1]
	clear(room)
	height := 0
	for _, i := range box.items {
		columns := room[i.first-box.first : i.last+1-box.first]
		i.y = slices.Max(columns)
		fill(columns, i.y+i.height)
		height = max(height, i.y+i.height)
	}
	box.height = height
	if box != p.root {
		box.height += groupHeader + 2*groupMargin
	}
}

func fill(columns []int, value int) {
	for c := range columns {
		columns[c] = value
	}
}

// align moves items down to where they are drawn, and up again as far as they have to so that the
// height stays.
func (p *placing) align(box *item) {
	height := 0
	for _, i := range box.items {
		height = max(height, i.y+i.height)
	}
	room := p.room[box.first : box.last+1]
	clear(room)
	for _, i := range box.items {
		columns := room[i.first-box.first : i.last+1-box.first]
		i.y = max(slices.Max(columns), i.want())
		fill(columns, i.y+i.height)
	}
	fill(room, height)
	for _, i := range slices.Backward(box.items) {
		columns := room[i.first-box.first : i.last+1-box.first]
		i.y = min(slices.Min(columns)-i.height, i.y)
		fill(columns, i.y)
	}
	for _, i := range box.items {
		if i.box {
			p.align(i)
		}
	}
}

// place finds where the items of a box are on the plane, of which the box has the given height.
func (p *placing) place(box *item, top int) {
	box.top = top
	if box != p.root {
		top += groupHeader + groupMargin
	}
	for _, i := range box.items {
		if i.box {
			p.place(i, top+i.y)
		} else {
			i.top = top + i.y
		}
	}
}
