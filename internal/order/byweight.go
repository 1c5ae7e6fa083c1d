// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package order

import "slices"

// demand is a node that is to be done, after its predecessors that are listed.
type demand struct {
	node    int
	before  []int // nodes that are not anchors, smallest first
	anchors []int // that lie between; when all before is done, they are
}

// weighing makes the sequence of [ByWeight].
type weighing struct {
	graph    *Graph
	done     []bool // also of anchors
	seen     []int  // the last search that has come to a node
	searches int
}

func (g *Graph) byWeight() []int {
	w := &weighing{graph: g, done: make([]bool, len(g.nodes)), seen: make([]int, len(g.nodes))}
	sequence := make([]int, 0, len(g.nodes))
	for _, wanted := range g.byRank() {
		if w.done[wanted] || g.nodes[wanted].Anchor { // nobody wants a point where others meet
			continue
		}
		path := []demand{w.demand(wanted)}
		for len(path) > 0 {
			top := &path[len(path)-1]
			if len(top.before) > 0 {
				next := top.before[0]
				top.before = top.before[1:]
				if !w.done[next] {
					path = append(path, w.demand(next))
				}
				continue
			}
			for _, anchor := range top.anchors {
				w.done[anchor] = true
			}
			w.done[top.node] = true
			sequence = append(sequence, top.node)
			path = path[:len(path)-1]
		}
	}
	return sequence
}

// demand collects the predecessors of a node, looking through anchors.
func (w *weighing) demand(n int) demand {
	d := demand{node: n}
	w.searches++
	stack := []int{n}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for edge := range w.graph.Predecessors(at) {
			before := edge.From
			if w.done[before] || w.seen[before] == w.searches {
				continue
			}
			w.seen[before] = w.searches
			if w.graph.nodes[before].Anchor {
				d.anchors = append(d.anchors, before)
				stack = append(stack, before)
			} else {
				d.before = append(d.before, before)
			}
		}
	}
	slices.SortFunc(d.before, w.graph.Compare)
	return d
}
