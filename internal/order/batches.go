// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package order

import "slices"

// Batches returns the selected nodes in groups that are done one after the other, the nodes of each
// together: all of the first kind that wait for nothing, then all of the second kind that can be
// done now, and so on in turn until everything is done. Kind numbers the kinds of nodes from 0 to
// kinds-1. Nodes of a group are in the order of [Graph.Compare].
func (g *Graph) Batches(selected Selection, kinds int, kind func(node int) int) [][]int {
	waiting, first := g.waiting()
	ready := make([][]int, kinds)
	enter := func(nodes []int) {
		for len(nodes) > 0 {
			n := nodes[len(nodes)-1]
			nodes = nodes[:len(nodes)-1]
			if g.works(n, selected) {
				ready[kind(n)] = append(ready[kind(n)], n)
			} else {
				nodes = append(nodes, g.release(n, waiting)...)
			}
		}
	}
	enter(first)
	var batches [][]int
	for turn, idle := 0, 0; idle < kinds; turn = (turn + 1) % kinds {
		batch := ready[turn]
		if len(batch) == 0 {
			idle++
			continue
		}
		idle = 0
		ready[turn] = nil
		slices.SortFunc(batch, g.Compare)
		batches = append(batches, batch)
		for _, n := range batch {
			enter(g.release(n, waiting))
		}
	}
	return batches
}
