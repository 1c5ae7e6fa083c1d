// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package order

import (
	"container/heap"
	"sync"
)

// slots limit how many nodes run at the same time. Of those that ask, the first in the sequence goes first. A
// single slot is given strictly in the order of the sequence, even if the next node has yet to ask.
type slots struct {
	strict   bool
	position []int // of each node in the sequence; meaningless for nodes without work

	mu struct {
		sync.Mutex
		free   int
		asking requests
		past   []bool // by position: whether the node has run, or will not
		next   int    // the first position that is not past
	}
}

// newSlots returns slots for the nodes of a sequence, out of a number of nodes.
func newSlots(parallel, nodes int, sequence []int) *slots {
	s := &slots{strict: parallel == 1, position: make([]int, nodes)}
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
	heap.Push(&s.mu.asking, request{s.position[n], granted})
	s.grant()
	s.mu.Unlock()
	<-granted
}

// put gives a slot back.
func (s *slots) put(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.free++
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
		s.mu.free--
		close(heap.Pop(&s.mu.asking).(request).granted)
	}
}

type request struct {
	position int
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
