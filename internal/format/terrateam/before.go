// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terrateam

import "slices"

// Before returns the dirspaces that have to be applied before an action on one, whichever others
// are part of the change, sorted. The change must be of everything.
func (c *Change) Before(action Action, dirspace int) []int {
	var before []int
	seen := make([]bool, c.graph.Len())
	for queue := []int{c.node(Work{action, dirspace})}; len(queue) > 0; queue = queue[1:] {
		for edge := range c.graph.Predecessors(queue[0]) {
			from, work := edge.From, c.graph.work[edge.From]
			switch {
			case seen[from]:
				continue
			case c.graph.Node(from).Anchor || work.Dirspace == dirspace:
				queue = append(queue, from)
			default:
				before = append(before, work.Dirspace)
			}
			seen[from] = true
		}
	}
	slices.Sort(before)
	return slices.Compact(before)
}

// node returns the node of some work.
func (c *Change) node(w Work) int {
	for n, work := range c.graph.work {
		if work == w && !c.graph.Node(n).Anchor {
			return n
		}
	}
	panic("terrateam: work that is not part of the change")
}
