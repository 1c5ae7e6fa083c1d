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

	// Chain are the edges that lead from First to Second. Empty if only weight, ties or names order
	// them.
	Chain []Edge

	// Rule is the reason for their order where there is no chain.
	Rule string
}

// Explain reports which of two different nodes comes first in the sequence of the given rule, and
// why.
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
	cameBy := make([]int, len(g.nodes)) // the edge, plus 1
	queue := []int{from}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for _, i := range g.out.of(n) {
			next := g.edges[i].To
			if cameBy[next] != 0 {
				continue
			}
			cameBy[next] = i + 1
			if next == to {
				return g.chainBack(from, to, cameBy)
			}
			queue = append(queue, next)
		}
	}
	return nil
}

func (g *Graph) chainBack(from, to int, cameBy []int) []Edge {
	var chain []Edge
	for at := to; at != from; at = chain[len(chain)-1].From {
		chain = append(chain, g.edges[cameBy[at]-1])
	}
	slices.Reverse(chain)
	return chain
}

// JoinSteps joins steps of a chain without a reason with those before or after them that have one,
// and steps of the same rule. The graph of gates has many points in which nothing happens, and a
// stage one that all its tasks meet in.
func JoinSteps(chain []Edge) []Edge {
	var steps []Edge
	for i, edge := range chain {
		last := len(steps) - 1
		switch {
		case i == 0:
			steps = append(steps, edge)
		case edge.Reason == "" || edge.Reason == steps[last].Reason && edge.Place == steps[last].Place:
			steps[last].To = edge.To
		case steps[last].Reason == "":
			from := steps[last].From
			steps[last] = edge
			steps[last].From = from
		default:
			steps = append(steps, edge)
		}
	}
	return steps
}

// tieRule returns the reason for the order of two nodes between which there is no chain.
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
