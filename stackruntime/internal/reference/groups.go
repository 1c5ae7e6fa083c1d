// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package reference

import "iter"

// Groups divides nodes, and those they lead to, into the strongly connected components of their
// graph: in each group, every node leads to every other. A node that is on no cycle is a group of
// its own. No group is empty.
//
// The order of the groups, and of the nodes in one, depends on that of nodes and next only. The
// time is linear in nodes and edges.
//
// Source: Tarjan, Depth-first search and linear graph algorithms, SIAM J. Comput. 1 (1972).
func Groups[N comparable](nodes iter.Seq[N], next func(N) []N) [][]N {
	s := &groupSearch[N]{next: next, found: make(map[N]visit)}
	for node := range nodes {
		if _, visited := s.found[node]; !visited {
			s.visit(node)
		}
	}
	return s.groups
}

type groupSearch[N comparable] struct {
	next   func(N) []N
	found  map[N]visit
	path   []N // those visited that have no group yet
	groups [][]N
}

// visit is the state of a node that was reached.
type visit struct {
	index   int // in the order of visits
	grouped bool
}

// visit returns the lowest index that a node leads to through those without a group.
func (s *groupSearch[N]) visit(node N) int {
	index, start := len(s.found), len(s.path)
	s.found[node] = visit{index: index}
	s.path = append(s.path, node)
	lowest := index
	for _, other := range s.next(node) {
		if known, visited := s.found[other]; !visited {
			lowest = min(lowest, s.visit(other))
		} else if !known.grouped {
			lowest = min(lowest, known.index)
		}
	}
	if lowest == index {
		group := append([]N(nil), s.path[start:]...)
		s.path = s.path[:start]
		for _, member := range group {
			s.found[member] = visit{s.found[member].index, true}
		}
		s.groups = append(s.groups, group)
	}
	return lowest
}

// Reach returns all that some nodes lead to, without these themselves unless others lead to them.
func Reach[N comparable](from iter.Seq[N], next func(N) iter.Seq[N]) map[N]struct{} {
	reached := make(map[N]struct{})
	var follow func(N)
	follow = func(node N) {
		for other := range next(node) {
			if _, known := reached[other]; !known {
				reached[other] = struct{}{}
				follow(other)
			}
		}
	}
	for node := range from {
		follow(node)
	}
	return reached
}
