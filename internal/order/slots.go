// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package order

import (
	"container/heap"
	"slices"
	"sync"
)

// slots limit how many nodes run at the same time. Of those that ask, the first in the sequence goes first. A
// single slot is given strictly in the order of the sequence, even if the next node has yet to ask.
type slots struct {
	strict   bool
	position []int   // of each node in the sequence; meaningless for nodes without work
	limitsOf [][]int // of each node, as positions in mu.limits

	mu struct {
		sync.Mutex
		free   int
		limits []limit
		asking requests
		past   []bool // by position: whether the node has run, or will not
		next   int    // the first position that is not past
	}
}

// limit is what is left of a [Limit].
type limit struct {
	free   int
	parked requests // those that ask for a slot while there is none of this limit
}

// newSlots returns slots for the nodes of a sequence, out of a number of nodes.
func newSlots(parallel, nodes int, sequence []int, limits []Limit) *slots {
	s := &slots{strict: parallel == 1, position: make([]int, nodes), limitsOf: make([][]int, nodes)}
	for i, l := range limits {
		s.mu.limits = append(s.mu.limits, limit{free: max(l.Parallel, 1)})
		for _, n := range l.Nodes {
			s.limitsOf[n] = append(s.limitsOf[n], i)
		}
	}
	for i, n := range sequence {
		s.position[n] = i
	}
	s.mu.free = parallel
	s.mu.past = make([]bool, len(sequence))
	return s
}

// take waits for a slot.
func (s *slots) take(n int) {
	granted := make(chan struct{})
	s.mu.Lock()
	heap.Push(&s.mu.asking, request{s.position[n], n, granted})
	s.grant()
	s.mu.Unlock()
	<-granted
}

// put gives a slot back.
func (s *slots) put(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.free++
	for _, l := range s.limitsOf[n] {
		s.mu.limits[l].free++
		s.unpark(l)
	}
	s.pass(n)
}

// leave says that a node will not ask.
func (s *slots) leave(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pass(n)
}

func (s *slots) pass(n int) {
	s.mu.past[s.position[n]] = true
	for s.mu.next < len(s.mu.past) && s.mu.past[s.mu.next] {
		s.mu.next++
	}
	s.grant()
}

func (s *slots) grant() {
	for s.mu.free > 0 && len(s.mu.asking) > 0 && (!s.strict || s.mu.asking[0].position == s.mu.next) {
		asking := heap.Pop(&s.mu.asking).(request)
		if s.park(asking) {
			continue
		}
		s.mu.free--
		for _, l := range s.limitsOf[asking.node] {
			s.mu.limits[l].free--
		}
		close(asking.granted)
	}
}

// park puts a request aside if a limit does not let it pass, and in its place takes up what the other limits let pass.
func (s *slots) park(r request) bool {
	limits := s.limitsOf[r.node]
	full := slices.IndexFunc(limits, func(l int) bool { return s.mu.limits[l].free == 0 })
	if full < 0 {
		return false
	}
	heap.Push(&s.mu.limits[limits[full]].parked, r)
	for _, l := range limits {
		s.unpark(l)
	}
	return true
}

// unpark lets the first of those that wait for a limit ask again, if there is room.
func (s *slots) unpark(l int) {
	if limit := &s.mu.limits[l]; limit.free > 0 && len(limit.parked) > 0 {
		heap.Push(&s.mu.asking, heap.Pop(&limit.parked))
	}
}

type request struct {
	position int
	node     int
	granted  chan struct{}
}

// requests is a heap with the smallest position first.
type requests []request

func (r *requests) Len() int           { return len(*r) }
func (r *requests) Less(i, j int) bool { return (*r)[i].position < (*r)[j].position }
func (r *requests) Swap(i, j int)      { (*r)[i], (*r)[j] = (*r)[j], (*r)[i] }
func (r *requests) Push(x any)         { *r = append(*r, x.(request)) }
func (r *requests) Pop() any {
	last := (*r)[len(*r)-1]
	*r = (*r)[:len(*r)-1]
	return last
}
