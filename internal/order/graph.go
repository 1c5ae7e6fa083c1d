// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package order

import (
	"cmp"
	"fmt"
	"slices"
)

// Place is where something is written. The zero value is nowhere.
type Place struct {
	File         string
	Line, Column int
}

func (p Place) String() string {
	if p.File == "" {
		return ""
	}
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Node is something to be done, or a point where others meet.
type Node struct {
	Name   string
	Anchor bool // has no work of its own

	// Weight orders nodes that no edge orders; the lower is first. Equal ones are ordered by Ties,
	// element by element.
	Weight float64
	Ties   []string

	Place Place
}

// Edge says that one node must be finished before another starts.
type Edge struct {
	From, To int // numbers of nodes, as returned by [Builder.Add]

	// Soft edges give an order only: how From has ended does not keep To from being done.
	Soft bool

	Reason string
	Place  Place
}

// Builder collects nodes and edges. The zero value is empty.
type Builder struct {
	nodes []Node
	edges []Edge
}

// Add adds a node and returns its number, counted from 0.
func (b *Builder) Add(node Node) int {
	b.nodes = append(b.nodes, node)
	return len(b.nodes) - 1
}

// Edge adds an edge. Of several between the same nodes the first is kept; it is soft only if all
// are.
func (b *Builder) Edge(edge Edge) {
	b.edges = append(b.edges, edge)
}

// Build checks that there is an order.
//
// Errors: [CycleErrors], one for each group of nodes that wait for each other.
func (b *Builder) Build() (*Graph, error) {
	g := &Graph{nodes: b.nodes, edges: dedupe(len(b.nodes), b.edges)}
	g.rank = ranks(g.nodes)
	g.index()
	if errs := g.findCycles(); len(errs) > 0 {
		return nil, errs
	}
	return g, nil
}

// Graph is a set of nodes that can be put in order. It does not change.
type Graph struct {
	nodes []Node
	edges []Edge // in the order in which they were added, at most one between two nodes
	rank  []int  // position of each node among all by weight, ties and name

	out, in adjacency

	forward *Graph // of which this one is the reverse; nil if of none
}

func (g *Graph) index() {
	g.out = index(len(g.nodes), g.edges, func(e Edge) int { return e.From })
	g.in = index(len(g.nodes), g.edges, func(e Edge) int { return e.To })
}

// Len is the number of nodes.
func (g *Graph) Len() int { return len(g.nodes) }

// Node returns a node by its number.
func (g *Graph) Node(n int) Node { return g.nodes[n] }

// Edges returns all edges. Not to be changed.
func (g *Graph) Edges() []Edge { return g.edges }

// Predecessors calls yield with each edge to a node.
func (g *Graph) Predecessors(n int) func(yield func(Edge) bool) { return g.in.each(g.edges, n) }

// Successors calls yield with each edge from a node.
func (g *Graph) Successors(n int) func(yield func(Edge) bool) { return g.out.each(g.edges, n) }

// Compare orders two nodes by weight, ties and name alone.
func (g *Graph) Compare(a, b int) int { return cmp.Compare(g.rank[a], g.rank[b]) }

// dedupe keeps the first of the edges between the same nodes, in the order in which they were
// added.
func dedupe(nodes int, edges []Edge) []Edge {
	const none = -1
	byFrom := index(nodes, edges, func(e Edge) int { return e.From })
	first := slices.Repeat([]int{none}, nodes) // by To: the first edge from the node that is looked at
	repeated := make([]bool, len(edges))
	repeats := 0
	hard := map[int]bool{} // the edges that others between the same nodes make hard
	for from := range nodes {
		leaving := byFrom.of(from)
		for _, i := range leaving {
			to := edges[i].To
			if first[to] == none {
				first[to] = i
				continue
			}
			repeated[i] = true
			repeats++
			if edges[first[to]].Soft && !edges[i].Soft {
				hard[first[to]] = true
			}
		}
		for _, i := range leaving {
			first[edges[i].To] = none
		}
	}
	kept := make([]Edge, 0, len(edges)-repeats)
	for i, edge := range edges {
		if !repeated[i] {
			edge.Soft = edge.Soft && !hard[i]
			kept = append(kept, edge)
		}
	}
	return kept
}

func ranks(nodes []Node) []int {
	byRank := make([]int, len(nodes))
	for i := range nodes {
		byRank[i] = i
	}
	slices.SortStableFunc(byRank, func(i, j int) int {
		a, b := &nodes[i], &nodes[j]
		return cmp.Or(cmp.Compare(a.Weight, b.Weight), slices.Compare(a.Ties, b.Ties), cmp.Compare(a.Name, b.Name))
	})
	rank := make([]int, len(nodes))
	for position, n := range byRank {
		rank[n] = position
	}
	return rank
}

// byRank returns all nodes in the order of [Graph.Compare].
func (g *Graph) byRank() []int {
	nodes := make([]int, len(g.nodes))
	for n, position := range g.rank {
		nodes[position] = n
	}
	return nodes
}

// adjacency lists the edges at each node: those of node n are edges[start[n]:start[n+1]].
type adjacency struct {
	start []int
	edges []int
}

// index lists edges, or elements that stand for some, by the node that at chooses.
func index[E any](nodes int, edges []E, at func(E) int) adjacency {
	a := adjacency{start: make([]int, nodes+1), edges: make([]int, len(edges))}
	for _, e := range edges {
		a.start[at(e)+1]++
	}
	for n := range nodes {
		a.start[n+1] += a.start[n]
	}
	next := slices.Clone(a.start)
	for i, e := range edges {
		n := at(e)
		a.edges[next[n]] = i
		next[n]++
	}
	return a
}

func (a adjacency) each(edges []Edge, n int) func(yield func(Edge) bool) {
	return func(yield func(Edge) bool) {
		for _, i := range a.of(n) {
			if !yield(edges[i]) {
				return
			}
		}
	}
}

func (a adjacency) of(n int) []int { return a.edges[a.start[n]:a.start[n+1]] }

func (a adjacency) count(n int) int { return a.start[n+1] - a.start[n] }
