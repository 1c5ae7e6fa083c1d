// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package order

import (
	"container/heap"
	"slices"
	"sync"
)

// limiter limits how many nodes run at the same time, and decides which one starts next.
//
// It knows by itself when a node has lost its last predecessor: from then on it is expected to ask
// for a slot, or to end without. A slot goes to the first in the sequence of those that are
// expected, as soon as that one asks. How long goroutines take to ask therefore does not matter:
// the next node to start follows from the nodes that have ended, and from their order.
//
// As a node comes after its predecessors in the sequence, none that becomes expected later would
// have come first. With one slot, the nodes start exactly in the order of the sequence.
type limiter struct {
	graph    *Graph
	selected Selection
	sequence []int
	position []int       // of each node in the sequence; meaningless for nodes without work
	limitsOf [][]int     // of each node, as positions in mu.limits
	stopped  func() bool // reports whether nothing more may be started

	mu struct {
		sync.Mutex
		free    int
		limits  []limit
		nodes   []turn
		waiting []int     // of each node, how many predecessors have not ended
		ready   positions // those that are expected, and those that ask unless a limit holds them back
	}
}

// turn is the limiter's record of a node.
type turn struct {
	phase   turnPhase
	granted chan bool // gets whether the node may start, when it gets a slot; nil before it asks
}

type turnPhase uint8

const (
	turnWaiting  turnPhase = iota // for predecessors
	turnExpected                  // to ask for a slot, or to end
	turnTaken
	turnEnded
)

// limit is the remainder of a [Limit].
type limit struct {
	free   int
	parked positions // those that ask and are held back
}

func newLimiter(g *Graph, opts RunOptions) *limiter {
	lim := &limiter{
		graph: g, selected: opts.Selected, sequence: g.Sequence(opts.Rule, opts.Selected),
		position: make([]int, g.Len()), limitsOf: make([][]int, g.Len()),
	}
	for i, n := range lim.sequence {
		lim.position[n] = i
	}
	for i, l := range opts.Limits {
		lim.mu.limits = append(lim.mu.limits, limit{free: max(l.Parallel, 1)})
		for _, n := range l.Nodes {
			if of := lim.limitsOf[n]; len(of) == 0 || of[len(of)-1] != i { // a node may be named twice
				lim.limitsOf[n] = append(of, i)
			}
		}
	}
	lim.mu.free = max(opts.Parallel, 1)
	lim.mu.nodes = make([]turn, g.Len())
	waiting, first := g.waiting()
	lim.mu.waiting = waiting
	lim.expect(first)
	return lim
}

// take waits for a slot and reports whether the node may start. A node asks when all its
// predecessors have ended.
//
// Whether a stop comes before a start is decided when the slot is given, which happens in the order
// of the sequence. So a failure that ends the run never overtakes a node whose turn came earlier,
// however late its goroutine runs.
func (lim *limiter) take(n int) bool {
	granted := make(chan bool, 1)
	lim.mu.Lock()
	lim.mu.nodes[n].granted = granted
	lim.grant()
	lim.mu.Unlock()
	return <-granted
}

// end says that a node has ended. Its slot, if it has taken one, is free.
func (lim *limiter) end(n int) {
	lim.mu.Lock()
	defer lim.mu.Unlock()
	if lim.mu.nodes[n].phase == turnTaken {
		lim.mu.free++
		for _, l := range lim.limitsOf[n] {
			lim.mu.limits[l].free++
			lim.unpark(l)
		}
	}
	lim.mu.nodes[n].phase = turnEnded
	lim.expect(lim.graph.release(n, lim.mu.waiting))
	lim.grant()
}

// expect takes note of nodes that have lost their last predecessor. Those without work end by this.
func (lim *limiter) expect(nodes []int) {
	for len(nodes) > 0 {
		n := nodes[len(nodes)-1]
		nodes = nodes[:len(nodes)-1]
		if !lim.graph.works(n, lim.selected) {
			nodes = append(nodes, lim.graph.release(n, lim.mu.waiting)...)
			continue
		}
		lim.mu.nodes[n].phase = turnExpected
		heap.Push(&lim.mu.ready, lim.position[n])
	}
}

// grant lets nodes begin as long as the limit allows it and it is known which is next.
func (lim *limiter) grant() {
	for lim.mu.free > 0 && len(lim.mu.ready) > 0 {
		n := lim.sequence[lim.mu.ready[0]]
		node := &lim.mu.nodes[n]
		full := slices.IndexFunc(lim.limitsOf[n], func(l int) bool { return lim.mu.limits[l].free == 0 })
		switch {
		case node.phase == turnEnded: // without a slot
			heap.Pop(&lim.mu.ready)
		case node.granted == nil:
			return // n has yet to ask; if it ends instead, that may make room for one that comes before all others
		case full >= 0:
			heap.Push(&lim.mu.limits[lim.limitsOf[n][full]].parked, heap.Pop(&lim.mu.ready))
			for _, l := range lim.limitsOf[n] { // the nodes that they let pass in its place
				lim.unpark(l)
			}
		default:
			heap.Pop(&lim.mu.ready)
			lim.mu.free--
			for _, l := range lim.limitsOf[n] {
				lim.mu.limits[l].free--
			}
			node.phase = turnTaken
			node.granted <- !lim.stopped()
		}
	}
}

// unpark takes up the first of those that a limit holds back, if it has room.
func (lim *limiter) unpark(l int) {
	if limit := &lim.mu.limits[l]; limit.free > 0 && len(limit.parked) > 0 {
		heap.Push(&lim.mu.ready, heap.Pop(&limit.parked))
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
