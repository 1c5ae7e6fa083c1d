// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package order

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// CycleError says that nodes would have to wait for each other.
type CycleError struct {
	// Nodes are the names along the cycle; the first, which is the smallest, is not repeated.
	Nodes []string

	// Edges lead from each node to the next one, and from the last to the first.
	Edges []Edge
}

func (e *CycleError) Error() string {
	var b strings.Builder
	if len(e.Nodes) == 1 {
		fmt.Fprintf(&b, "%s would have to wait for itself: ", e.Nodes[0])
	} else {
		b.WriteString("these would have to wait for each other: ")
	}
	b.WriteString(strings.Join(e.Nodes, " → ") + " → " + e.Nodes[0])
	for i, edge := range e.Edges {
		if edge.Reason == "" && edge.Place.File == "" {
			continue
		}
		fmt.Fprintf(&b, "\n  %s before %s", e.Nodes[i], e.Nodes[(i+1)%len(e.Nodes)])
		if edge.Reason != "" {
			b.WriteString(": " + edge.Reason)
		}
		if edge.Place.File != "" {
			fmt.Fprintf(&b, " (%s)", edge.Place)
		}
	}
	return b.String()
}

// Place is that of the first edge that has one; the zero value if none has.
func (e *CycleError) Place() Place {
	for _, edge := range e.Edges {
		if edge.Place.File != "" {
			return edge.Place
		}
	}
	return Place{}
}

// CycleErrors are one cycle for each group of nodes that wait for each other, in the order of their
// first nodes.
type CycleErrors []*CycleError

func (e CycleErrors) Error() string {
	texts := make([]string, len(e))
	for i, cycle := range e {
		texts[i] = cycle.Error()
	}
	return strings.Join(texts, "\n")
}

// Unwrap returns the single errors.
func (e CycleErrors) Unwrap() []error {
	errs := make([]error, len(e))
	for i, cycle := range e {
		errs[i] = cycle
	}
	return errs
}

// findCycles returns a shortest cycle through the smallest name of each group of nodes that wait
// for each other.
func (g *Graph) findCycles() CycleErrors {
	if g.isAcyclic() {
		return nil
	}
	var errs CycleErrors
	groups, groupOf := g.components()
	for id, group := range groups {
		first := slices.MinFunc(group, g.compareNames)
		if len(group) > 1 || g.waitsForItself(first) {
			errs = append(errs, g.shortestCycle(first, func(n int) bool { return groupOf[n] == id }))
		}
	}
	slices.SortFunc(errs, func(a, b *CycleError) int { return slices.Compare(a.Nodes, b.Nodes) })
	return errs
}

func (g *Graph) compareNames(a, b int) int {
	return cmp.Or(cmp.Compare(g.nodes[a].Name, g.nodes[b].Name), cmp.Compare(a, b))
}

func (g *Graph) waitsForItself(n int) bool {
	for edge := range g.Successors(n) {
		if edge.To == n {
			return true
		}
	}
	return false
}

// isAcyclic is the quick check for the usual case.
func (g *Graph) isAcyclic() bool {
	return len(g.topological()) == len(g.nodes)
}

// waiting returns how many predecessors each node has, and the nodes that have none.
func (g *Graph) waiting() (counts, ready []int) {
	counts = make([]int, len(g.nodes))
	for n := range g.nodes {
		if counts[n] = g.in.count(n); counts[n] == 0 {
			ready = append(ready, n)
		}
	}
	return counts, ready
}

// components returns the groups of nodes that can all reach each other, after Tarjan, without
// recursion.
func (g *Graph) components() (groups [][]int, groupOf []int) {
	const unseen = -1
	n := len(g.nodes)
	groupOf = slices.Repeat([]int{unseen}, n)
	seen, low := slices.Repeat([]int{unseen}, n), make([]int, n)
	next := make([]int, n) // position among the successors
	var stack, path []int
	count := 0
	for root := range n {
		if seen[root] != unseen {
			continue
		}
		path = append(path[:0], root)
		for len(path) > 0 {
			v := path[len(path)-1]
			if seen[v] == unseen {
				seen[v], low[v] = count, count
				count++
				stack = append(stack, v)
			}
			if next[v] < g.out.count(v) {
				w := g.edges[g.out.edges[g.out.start[v]+next[v]]].To
				next[v]++
				if seen[w] == unseen {
					path = append(path, w)
				} else if groupOf[w] == unseen {
					low[v] = min(low[v], seen[w])
				}
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				low[path[len(path)-1]] = min(low[path[len(path)-1]], low[v])
			}
			if low[v] != seen[v] {
				continue
			}
			at := len(stack) - 1
			for stack[at] != v { // not from the bottom, where much may wait
				at--
			}
			group := slices.Clone(stack[at:])
			stack = stack[:at]
			for _, member := range group {
				groupOf[member] = len(groups)
			}
			groups = append(groups, group)
		}
	}
	return groups, groupOf
}

// shortestCycle searches from start within a group, smaller names first.
func (g *Graph) shortestCycle(start int, inside func(int) bool) *CycleError {
	cameBy := map[int]Edge{}
	queue := []int{start}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		edges := slices.SortedFunc(g.Successors(n), func(a, b Edge) int { return g.compareNames(a.To, b.To) })
		for _, edge := range edges {
			if edge.To == start {
				return g.cycleBack(start, edge, cameBy)
			}
			if _, known := cameBy[edge.To]; !known && inside(edge.To) {
				cameBy[edge.To] = edge
				queue = append(queue, edge.To)
			}
		}
	}
	panic("order: a group without a cycle")
}

// cycleBack collects the edges that lead from start to its closing edge.
func (g *Graph) cycleBack(start int, closing Edge, cameBy map[int]Edge) *CycleError {
	edges := []Edge{closing}
	for edge := closing; edge.From != start; {
		edge = cameBy[edge.From]
		edges = append(edges, edge)
	}
	slices.Reverse(edges)
	cycle := &CycleError{Edges: edges}
	for _, edge := range edges {
		cycle.Nodes = append(cycle.Nodes, g.nodes[edge.From].Name)
	}
	return cycle
}
