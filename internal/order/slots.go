// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package order

import (
	"container/heap"
	"slices"
	"sync"
)

// slots limit how many nodes run at the same time, and decide which one starts next.
//
// They know by themselves when a node has lost its last predecessor: from then on it is expected to ask for a slot, or to
// end without. A slot goes to the first in the sequence of those that are expected, as soon as that one asks. How long
// goroutines take to ask therefore does not matter: what starts next follows from what has ended, and in which order.
//
// As a node comes after its predecessors in the sequence, none that becomes expected later would have come first. With one
// slot, the nodes start exactly in the order of the sequence.
type slots struct {
	graph    *Graph
	selected Selection
	sequence []int
	position []int   // of each node in the sequence; meaningless for nodes without work
	limitsOf [][]int // of each node, as positions in mu.limits

	mu struct {
		sync.Mutex
		free    int
		limits  []limit
		nodes   []slotState
		waiting []int     // of each node, how many predecessors have not ended
		ready   positions // those that are expected, and those that ask unless a limit holds them back
	}
}

// slotState is what the slots know of a node.
type slotState struct {
	phase   slotPhase
	granted chan struct{} // closed when the node gets a slot; nil before it asks
}

type slotPhase uint8

const (
	slotWaiting  slotPhase = iota // for predecessors
	slotExpected                  // to ask for a slot, or to end
	slotTaken
	slotEnded
)

// limit is what is left of a [Limit].
type limit struct {
	free   int
	parked positions // those that ask and are held back
}

func newSlots(g *Graph, opts RunOptions) *slots {
	s := &slots{
		graph: g, selected: opts.Selected, sequence: g.Sequence(opts.Rule, opts.Selected),
		position: make([]int, g.Len()), limitsOf: make([][]int, g.Len()),
	}
	for i, n := range s.sequence {
		s.position[n] = i
	}
	for i, l := range opts.Limits {
		s.mu.limits = append(s.mu.limits, limit{free: max(l.Parallel, 1)})
		for _, n := range l.Nodes {
			if of := s.limitsOf[n]; len(of) == 0 || of[len(of)-1] != i { // a node may be named twice
				s.limitsOf[n] = append(of, i)
			}
		}
	}
	s.mu.free = max(opts.Parallel, 1)
	s.mu.nodes = make([]slotState, g.Len())
	waiting, first := g.waiting()
	s.mu.waiting = waiting
	s.expect(first)
	return s
}

// take waits for a slot. A node asks when all its predecessors have ended.
func (s *slots) take(n int) {
	granted := make(chan struct{})
	s.mu.Lock()
	s.mu.nodes[n].granted = granted
	s.grant()
	s.mu.Unlock()
	<-granted
}

// end says that a node has ended. Its slot, if it has taken one, is free.
func (s *slots) end(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.nodes[n].phase == slotTaken {
		s.mu.free++
		for _, l := range s.limitsOf[n] {
			s.mu.limits[l].free++
			s.unpark(l)
		}
	}
	s.mu.nodes[n].phase = slotEnded
	s.expect(s.graph.release(n, s.mu.waiting))
	s.grant()
}

// expect takes note of nodes that have lost their last predecessor. Those without work end by this.
func (s *slots) expect(nodes []int) {
	for len(nodes) > 0 {
		n := nodes[len(nodes)-1]
		nodes = nodes[:len(nodes)-1]
		if !s.graph.works(n, s.selected) {
			nodes = append(nodes, s.graph.release(n, s.mu.waiting)...)
			continue
		}
		s.mu.nodes[n].phase = slotExpected
		heap.Push(&s.mu.ready, s.position[n])
	}
}

// grant gives slots as long as there are some and it is known who is next.
func (s *slots) grant() {
	for s.mu.free > 0 && len(s.mu.ready) > 0 {
		n := s.sequence[s.mu.ready[0]]
		node := &s.mu.nodes[n]
		full := slices.IndexFunc(s.limitsOf[n], func(l int) bool { return s.mu.limits[l].free == 0 })
		switch {
		case node.phase == slotEnded: // without a slot
			heap.Pop(&s.mu.ready)
		case node.granted == nil:
			return // n has yet to ask; if it ends instead, that may make room for one that comes before all others
		case full >= 0:
			heap.Push(&s.mu.limits[s.limitsOf[n][full]].parked, heap.Pop(&s.mu.ready))
			for _, l := range s.limitsOf[n] { // what they let pass in its place
				s.unpark(l)
			}
		default:
			heap.Pop(&s.mu.ready)
			s.mu.free--
			for _, l := range s.limitsOf[n] {
				s.mu.limits[l].free--
			}
			node.phase = slotTaken
			close(node.granted)
		}
	}
}

// unpark takes up the first of those that a limit holds back, if it has room.
func (s *slots) unpark(l int) {
	if limit := &s.mu.limits[l]; limit.free > 0 && len(limit.parked) > 0 {
		heap.Push(&s.mu.ready, heap.Pop(&limit.parked))
	}
}

// positions is a heap of positions in the sequence, the smallest first.
type positions []int

func (p *positions) Len() int           { return len(*p) }
func (p *positions) Less(i, j int) bool { return (*p)[i] < (*p)[j] }
func (p *positions) Swap(i, j int)      { (*p)[i], (*p)[j] = (*p)[j], (*p)[i] }
func (p *positions) Push(x any)         { *p = append(*p, x.(int)) }
func (p *positions) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}
