// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package order

import (
	"cmp"
	"math/bits"
	"slices"
)

// Reduced returns the edges between selected nodes that stand for all ways from one to another
// through nodes that are not selected, sorted by their ends. Each is the last edge of the way that
// it stands for: of several ways that of the direct one, or else the first that was added.
// Transitive leaves out those that others imply.
func (g *Graph) Reduced(selected Selection, transitive bool) []Edge {
	var ways []way
	for i, edge := range g.edges {
		if g.works(edge.From, selected) && g.works(edge.To, selected) {
			ways = append(ways, way{edge.From, i})
		}
	}
	edges := g.edgesOf(append(ways, g.indirect(selected, transitive)...))
	if transitive {
		edges = g.withoutImplied(edges)
	}
	return edges
}

// way leads from a node along some edges, of which this is the last.
type way struct{ from, edge int }

// edgesOf returns an edge for each pair of nodes between which there are ways, made of the first of
// them.
func (g *Graph) edgesOf(ways []way) []Edge {
	to := func(i int) int { return g.edges[ways[i].edge].To }
	byFrom := index(len(g.nodes), ways, func(w way) int { return w.from })
	edges := make([]Edge, 0, len(ways))
	for _, from := range g.byRank() {
		leaving := byFrom.of(from)
		slices.SortFunc(leaving, func(i, j int) int { return cmp.Or(g.Compare(to(i), to(j)), cmp.Compare(i, j)) })
		leaving = slices.CompactFunc(leaving, func(i, j int) bool { return to(i) == to(j) })
		for _, i := range leaving {
			edge := g.edges[ways[i].edge]
			edge.From = from
			edges = append(edges, edge)
		}
	}
	return edges
}

// indirect returns the ways between selected nodes through others, at least one for each pair, and
// the first of each by their last edges. Transitive leaves out those of which it is easily seen
// that others imply them: where many groups come one after the other, nearly all pairs have a way,
// but most of these pass selected nodes, too.
func (g *Graph) indirect(selected Selection, transitive bool) []way {
	sequence := g.topological()
	var arriving []int // edges from passed nodes to selected ones, those to the same node side by side
	for _, n := range sequence {
		for _, i := range g.in.of(n) {
			if g.works(n, selected) && !g.works(g.edges[i].From, selected) {
				arriving = append(arriving, i)
			}
		}
	}
	var ways []way
	reached, implied := newReached(g), newReached(g) // without selected nodes in between, and past some
	for some := range slices.Chunk(arriving, reachedAtOnce) {
		for k, i := range some {
			reached.set(g.edges[i].From, k)
		}
		for _, n := range slices.Backward(sequence) {
			set, past := reached.sets[n], implied.sets[n]
			if past != nil {
				implied.pass(g.in.of(n), g.edges, past)
			}
			switch {
			case set == nil:
			case !g.works(n, selected):
				reached.pass(g.in.of(n), g.edges, set)
			default:
				ways = g.appendWays(ways, n, set, past, some)
				if transitive {
					implied.pass(g.in.of(n), g.edges, set)
				}
			}
			reached.drop(n)
			implied.drop(n)
		}
	}
	return ways
}

// appendWays appends the ways from a node whose last edges are in a set of some edges, of those to
// the same node the first. Those whose last edges are also reached past selected nodes are left
// out.
func (g *Graph) appendWays(ways []way, from int, set, past *reachedSet, some []int) []way {
	last := -1
	for w, word := range set {
		if past != nil {
			word &^= past[w]
		}
		for ; word != 0; word &= word - 1 {
			i := some[w*64+bits.TrailingZeros64(word)]
			if to := g.edges[i].To; to != last {
				ways = append(ways, way{from, i})
				last = to
			}
		}
	}
	return ways
}

// withoutImplied leaves out each edge whose ends are also joined by a longer way.
func (g *Graph) withoutImplied(edges []Edge) []Edge {
	r := &Graph{nodes: g.nodes, edges: edges, rank: g.rank}
	r.index()
	sequence := r.topological()
	levels := r.levels(sequence)
	var candidates []int // where an edge arrives that can be implied: from further than another
	for _, n := range sequence {
		if least, most := r.levelsBefore(n, levels); least < most {
			candidates = append(candidates, n)
		}
	}
	implied := make([]bool, len(edges))
	reached := newReached(r)
	numbers := make([]int, len(r.nodes)) // of the candidates that are looked at, from 1
	for some := range slices.Chunk(candidates, reachedAtOnce) {
		furthest := levels[some[0]]
		for k, n := range some {
			numbers[n] = k + 1
			least, _ := r.levelsBefore(n, levels)
			furthest = min(furthest, least)
			for _, i := range r.in.of(n) {
				reached.at(edges[i].From)
			}
		}
		for _, n := range slices.Backward(sequence) {
			set := reached.sets[n] // the nodes that can be reached in more than one step
			if set == nil {
				continue
			}
			for _, i := range r.out.of(n) {
				if k := numbers[edges[i].To] - 1; k >= 0 {
					implied[i] = set.has(k)
					set.add(k)
				}
			}
			if levels[n] > furthest {
				reached.pass(r.in.of(n), edges, set)
			}
			reached.drop(n)
		}
		for _, n := range some {
			numbers[n] = 0
		}
	}
	kept := make([]Edge, 0, len(edges))
	for i, edge := range edges {
		if !implied[i] {
			kept = append(kept, edge)
		}
	}
	return kept
}

// levels returns for each node how many steps the longest way to it has.
func (g *Graph) levels(sequence []int) []int {
	levels := make([]int, len(g.nodes))
	for _, n := range sequence {
		for _, i := range g.out.of(n) {
			to := g.edges[i].To
			levels[to] = max(levels[to], levels[n]+1)
		}
	}
	return levels
}

// levelsBefore returns the least and the most level of the predecessors of a node, 0 each if there
// are none.
func (g *Graph) levelsBefore(n int, levels []int) (least, most int) {
	for k, i := range g.in.of(n) {
		level := levels[g.edges[i].From]
		if k == 0 {
			least = level
		}
		least, most = min(least, level), max(most, level)
	}
	return least, most
}

// reachedAtOnce is how many nodes are looked for at the same time: one pass over the graph finds
// the nodes from which each of them is reached. So the time is that of a search for each of them
// divided by this, and the memory is linear in the nodes.
const reachedAtOnce = 1024

// reachedSet is a set of numbers below [reachedAtOnce].
type reachedSet [reachedAtOnce / 64]uint64

func (s *reachedSet) add(k int)      { s[k/64] |= 1 << (k % 64) }
func (s *reachedSet) has(k int) bool { return s[k/64]&(1<<(k%64)) != 0 }

// reached are the sets of those nodes that have one at the moment.
type reached struct {
	sets []*reachedSet // by node
	free []*reachedSet
}

func newReached(g *Graph) *reached {
	return &reached{sets: make([]*reachedSet, len(g.nodes))}
}

// at returns the set of a node, a new one if it has none.
func (r *reached) at(n int) *reachedSet {
	if r.sets[n] == nil {
		if len(r.free) == 0 {
			r.free = append(r.free, new(reachedSet))
		}
		r.sets[n] = r.free[len(r.free)-1]
		r.free = r.free[:len(r.free)-1]
	}
	return r.sets[n]
}

func (r *reached) set(n, k int) { r.at(n).add(k) }

// pass adds a set to those where edges start.
func (r *reached) pass(arriving []int, edges []Edge, set *reachedSet) {
	for _, i := range arriving {
		before := r.at(edges[i].From)
		for w, word := range set {
			before[w] |= word
		}
	}
}

func (r *reached) drop(n int) {
	if r.sets[n] == nil {
		return
	}
	*r.sets[n] = reachedSet{}
	r.free = append(r.free, r.sets[n])
	r.sets[n] = nil
}
