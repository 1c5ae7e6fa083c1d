// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deps

import (
	"slices"
)

// visit notes which nodes were seen in one walk. Later walks use it again.
type visit struct {
	seen  []uint32 // by node: the last walk that came there
	walk  uint32
	stack []int32
	found []int32
}

func (g *Graph) visit() *visit {
	v, ok := g.visits.Get().(*visit)
	if !ok || v.walk == 1<<32-1 {
		v = &visit{seen: make([]uint32, len(g.nodes))}
	}
	v.walk++
	v.stack, v.found = v.stack[:0], v.found[:0]
	return v
}

// reach returns the resources of some kind that can be reached from nodes, in the order of texts:
// those where it begins only if an edge leads there.
func (g *Graph) reach(from []int32, wanted func(*Resource) bool) []*Resource {
	return g.reachNearest(from, wanted, func(*Resource) bool { return false })
}

// reachNearest returns the same without those that can be reached only through resources that are
// the last of their way.
func (g *Graph) reachNearest(from []int32, wanted, last func(*Resource) bool) []*Resource {
	v := g.visit()
	defer g.visits.Put(v)
	v.stack = append(v.stack, from...)
	for len(v.stack) > 0 {
		n := &g.nodes[v.stack[len(v.stack)-1]]
		v.stack = v.stack[:len(v.stack)-1]
		for _, id := range g.edges[n.first:n.end] {
			if v.seen[id] == v.walk {
				continue
			}
			v.seen[id] = v.walk
			r := g.nodes[id].resource
			if r != nil && wanted(r) {
				v.found = append(v.found, r.rank)
			}
			if r == nil || !last(r) {
				v.stack = append(v.stack, id)
			}
		}
	}
	return g.inOrder(v.found)
}

// inOrder returns resources by their ranks, each once.
func (g *Graph) inOrder(ranks []int32) []*Resource {
	if len(ranks) == 0 {
		return nil
	}
	slices.Sort(ranks)
	list := make([]*Resource, 0, len(ranks))
	for i, rank := range ranks {
		if i == 0 || rank != ranks[i-1] {
			list = append(list, g.resources[rank])
		}
	}
	return list
}
