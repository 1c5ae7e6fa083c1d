// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package order

import (
	"fmt"
	"slices"
	"strings"
)

// Explanation says why one node comes before another.
type Explanation struct {
	First, Second int

	// Chain are the edges that lead from First to Second. Empty if only weight, ties or names order them.
	Chain []Edge

	// Rule says what orders them where there is no chain.
	Rule string
}

// Explain tells which of two different nodes comes first in the sequence of the given rule, and why.
func (g *Graph) Explain(rule Rule, a, b int) Explanation {
	if chain := g.chain(a, b); chain != nil {
		return Explanation{First: a, Second: b, Chain: chain}
	}
	if chain := g.chain(b, a); chain != nil {
		return Explanation{First: b, Second: a, Chain: chain}
	}
	sequence := g.Sequence(rule, nil)
	if slices.Index(sequence, a) > slices.Index(sequence, b) {
		a, b = b, a
	}
	return Explanation{First: a, Second: b, Rule: g.tieRule(a, b)}
}

// chain returns a shortest list of edges from one node to another; nil if there is none.
func (g *Graph) chain(from, to int) []Edge {
	cameBy := map[int]Edge{}
	queue := []int{from}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for edge := range g.Successors(n) {
			if _, known := cameBy[edge.To]; known {
				continue
			}
			cameBy[edge.To] = edge
			if edge.To == to {
				return chainBack(from, to, cameBy)
			}
			queue = append(queue, edge.To)
		}
	}
	return nil
}

func chainBack(from, to int, cameBy map[int]Edge) []Edge {
	var chain []Edge
	for at := to; at != from; at = cameBy[at].From {
		chain = append(chain, cameBy[at])
	}
	slices.Reverse(chain)
	return chain
}

// tieRule says what orders two nodes between which there is no chain.
func (g *Graph) tieRule(first, second int) string {
	a, b := g.nodes[first], g.nodes[second]
	switch {
	case g.Compare(first, second) > 0:
		return fmt.Sprintf("nothing orders them; %s has less to wait for", a.Name)
	case a.Weight != b.Weight:
		return fmt.Sprintf("nothing orders them but their weights: %v is less than %v", a.Weight, b.Weight)
	case !slices.Equal(a.Ties, b.Ties):
		return fmt.Sprintf("nothing orders them but how they compare: %s is before %s", strings.Join(a.Ties, " "), strings.Join(b.Ties, " "))
	}
	return "nothing orders them but their names"
}

// Reduced returns the edges between selected nodes that stand for all ways from one to another through nodes that are not selected, sorted
// by their ends. Transitive leaves out those that others imply.
func (g *Graph) Reduced(selected Selection, transitive bool) []Edge {
	var edges []Edge
	seen := make([]int, len(g.nodes)) // the last start from which a node was reached, plus 1
	for start := range g.nodes {
		if !g.works(start, selected) {
			continue
		}
		stack := []int{start}
		for len(stack) > 0 {
			n := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for edge := range g.Successors(n) {
				if seen[edge.To] == start+1 {
					continue
				}
				seen[edge.To] = start + 1
				if g.works(edge.To, selected) {
					edges = append(edges, Edge{From: start, To: edge.To, Soft: edge.Soft, Reason: edge.Reason, Place: edge.Place})
				} else {
					stack = append(stack, edge.To)
				}
			}
		}
	}
	if transitive {
		edges = g.withoutImplied(edges)
	}
	slices.SortFunc(edges, func(a, b Edge) int {
		if a.From != b.From {
			return g.Compare(a.From, b.From)
		}
		return g.Compare(a.To, b.To)
	})
	return edges
}

// withoutImplied leaves out each edge whose ends are also joined by a longer way. It takes a bit for each pair of nodes.
func (g *Graph) withoutImplied(edges []Edge) []Edge {
	b := Builder{nodes: g.nodes, edges: edges}
	reduced, err := b.Build()
	if err != nil {
		return edges // edges of a graph without cycles have none
	}
	words := (len(g.nodes) + 63) / 64
	reach := make([][]uint64, len(g.nodes)) // what can be reached from a node
	sequence := reduced.topological()
	var kept []Edge
	for _, n := range slices.Backward(sequence) {
		reach[n] = make([]uint64, words)
		behind := make([]uint64, words)
		for edge := range reduced.Successors(n) {
			for w, bits := range reach[edge.To] {
				behind[w] |= bits
			}
		}
		for edge := range reduced.Successors(n) {
			if behind[edge.To/64]&(1<<(edge.To%64)) == 0 {
				kept = append(kept, edge)
			}
			reach[n][edge.To/64] |= 1 << (edge.To % 64)
		}
		for w, bits := range behind {
			reach[n][w] |= bits
		}
	}
	return kept
}

// topological returns all nodes, anchors too, each after what it waits for.
func (g *Graph) topological() []int {
	waiting, sequence := g.waiting()
	for i := 0; i < len(sequence); i++ {
		sequence = append(sequence, g.release(sequence[i], waiting)...)
	}
	return sequence
}
