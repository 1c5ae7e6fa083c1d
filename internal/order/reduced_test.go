// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package order

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

type pair [2]int

func pairs(edges []Edge) []pair {
	list := make([]pair, len(edges))
	for i, e := range edges {
		list[i] = pair{e.From, e.To}
	}
	return list
}

// searched finds by one search for each node the pairs that [Graph.Reduced] finds for many at once.
func searched(g *Graph, selected Selection) []pair {
	var list []pair
	for start := range g.Len() {
		if !g.works(start, selected) {
			continue
		}
		seen := make([]bool, g.Len())
		stack := []int{start}
		for len(stack) > 0 {
			n := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for edge := range g.Successors(n) {
				switch {
				case seen[edge.To]:
					continue
				case g.works(edge.To, selected):
					list = append(list, pair{start, edge.To})
				default:
					stack = append(stack, edge.To)
				}
				seen[edge.To] = true
			}
		}
	}
	slices.SortFunc(list, func(a, b pair) int {
		if a[0] != b[0] {
			return g.Compare(a[0], b[0])
		}
		return g.Compare(a[1], b[1])
	})
	return list
}

// notImplied leaves out pairs that can also be joined by two or more steps.
func notImplied(nodes int, all []pair) []pair {
	next := make([][]int, nodes)
	for _, p := range all {
		next[p[0]] = append(next[p[0]], p[1])
	}
	reach := make([]map[int]bool, nodes)
	var reached func(n int) map[int]bool
	reached = func(n int) map[int]bool {
		if reach[n] == nil {
			reach[n] = map[int]bool{}
			for _, to := range next[n] {
				reach[n][to] = true
				for further := range reached(to) {
					reach[n][further] = true
				}
			}
		}
		return reach[n]
	}
	return slices.DeleteFunc(slices.Clone(all), func(p pair) bool {
		return slices.ContainsFunc(next[p[0]], func(n int) bool { return n != p[1] && reached(n)[p[1]] })
	})
}

func TestReducedIsWhatSearchesFind(t *testing.T) {
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 11))
		nodes := 1 + random.IntN(150)
		if seed == 0 {
			nodes = 2500 // more than one pass looks for
		}
		g := randomGraph(t, random, nodes, random.IntN(3*nodes+1))
		selected := make(Selection, nodes)
		share := 1 + random.IntN(5)
		for n := range selected {
			selected[n] = random.IntN(share) == 0
		}
		for _, selection := range []Selection{nil, selected} {
			want := searched(g, selection)
			if diff := cmp.Diff(want, pairs(g.Reduced(selection, false)), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("seed %d, selection %t: edges (-want +got):\n%s", seed, selection != nil, diff)
			}
			if diff := cmp.Diff(notImplied(nodes, want), pairs(g.Reduced(selection, true)), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("seed %d, selection %t: edges without implied ones (-want +got):\n%s", seed, selection != nil, diff)
			}
		}
	}
}
