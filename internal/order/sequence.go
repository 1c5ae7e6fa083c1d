// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package order

import "slices"

// Selection reports which nodes are to be done. Nil stands for all.
type Selection []bool

// Has reports whether a node is selected.
func (s Selection) Has(n int) bool { return s == nil || s[n] }

// works reports whether something is to be done at a node.
func (g *Graph) works(n int, selected Selection) bool {
	return !g.nodes[n].Anchor && selected.Has(n)
}

// Rule says how nodes are put into one sequence, where edges leave a choice.
type Rule int

// The rules of the systems that cairn reads.
const (
	// ByQueue takes nodes as they become ready: first those that wait for nothing, smallest first,
	// then after each node those that waited for it last, smallest first (section 3.3 of the list of
	// behaviours).
	ByQueue Rule = iota

	// ByDemand takes the smallest node next, and before it its predecessors, in the order in which
	// they were written (lines C-30 to C-33).
	ByDemand

	// ByWeight takes the smallest node next, and before it its predecessors, smallest first.
	ByWeight
)

// Sequence returns the selected nodes in the order in which they are done one after the other. It
// does not depend on the selection in which order two nodes are.
func (g *Graph) Sequence(rule Rule, selected Selection) []int {
	if g.forward != nil {
		sequence := g.forward.Sequence(rule, selected)
		slices.Reverse(sequence)
		return sequence
	}
	var all []int
	switch rule {
	case ByDemand:
		all = g.byDemand()
	case ByWeight:
		all = g.byWeight()
	default:
		all = g.byQueue()
	}
	return slices.DeleteFunc(all, func(n int) bool { return !g.works(n, selected) })
}

func (g *Graph) byQueue() []int {
	waiting, first := g.waiting()
	queue := make([]int, 0, len(g.nodes))
	enter := func(ready []int) {
		// Anchors are passed at once, as if the nodes before them were directly before the nodes after
		// them.
		from := len(queue)
		for len(ready) > 0 {
			n := ready[0]
			ready = ready[1:]
			if !g.nodes[n].Anchor {
				queue = append(queue, n)
				continue
			}
			ready = append(ready, g.release(n, waiting)...)
		}
		slices.SortFunc(queue[from:], g.Compare)
	}
	enter(first)
	for i := 0; i < len(queue); i++ {
		enter(g.release(queue[i], waiting))
	}
	return queue
}

// topological returns all nodes, anchors too, each after its predecessors.
func (g *Graph) topological() []int {
	waiting, sequence := g.waiting()
	for i := 0; i < len(sequence); i++ {
		sequence = append(sequence, g.release(sequence[i], waiting)...)
	}
	return sequence
}

// release counts a node as done and returns those that waited for nothing else.
func (g *Graph) release(n int, waiting []int) []int {
	var ready []int
	for edge := range g.Successors(n) {
		if waiting[edge.To]--; waiting[edge.To] == 0 {
			ready = append(ready, edge.To)
		}
	}
	return ready
}

func (g *Graph) byDemand() []int {
	sequence := make([]int, 0, len(g.nodes))
	done := make([]bool, len(g.nodes))
	next := make([]int, len(g.nodes)) // position among the predecessors
	var path []int
	for _, wanted := range g.byRank() {
		if done[wanted] || g.nodes[wanted].Anchor { // nobody wants a point where others meet
			continue
		}
		path = append(path[:0], wanted)
		for len(path) > 0 {
			n := path[len(path)-1]
			if next[n] < g.in.count(n) {
				before := g.edges[g.in.edges[g.in.start[n]+next[n]]].From
				next[n]++
				if !done[before] {
					path = append(path, before)
				}
				continue
			}
			path = path[:len(path)-1]
			if !done[n] {
				done[n] = true
				sequence = append(sequence, n)
			}
		}
	}
	return sequence
}

// Waves returns the selected nodes in groups that may be done at the same time, each as early as
// possible. Nodes of a wave are in the order of [Graph.Compare].
func (g *Graph) Waves(selected Selection) [][]int {
	wave := make([]int, len(g.nodes)) // the first in which a node can be
	waiting, ready := g.waiting()
	var waves [][]int
	for len(ready) > 0 {
		n := ready[len(ready)-1]
		ready = append(ready[:len(ready)-1], g.release(n, waiting)...)
		after := wave[n]
		if g.works(n, selected) {
			for len(waves) <= after {
				waves = append(waves, nil)
			}
			waves[after] = append(waves[after], n)
			after++
		}
		for edge := range g.Successors(n) {
			wave[edge.To] = max(wave[edge.To], after)
		}
	}
	for _, w := range waves {
		slices.SortFunc(w, g.Compare)
	}
	return waves
}

// Reverse returns the graph with all edges turned around, for undoing its work. Its sequences are
// exactly those of g from their end (line O-05).
func (g *Graph) Reverse() *Graph {
	if g.forward != nil {
		return g.forward
	}
	edges := make([]Edge, len(g.edges))
	for i, e := range g.edges {
		e.From, e.To = e.To, e.From
		edges[i] = e
	}
	r := &Graph{nodes: g.nodes, edges: edges, rank: g.rank, forward: g}
	r.index()
	return r
}
