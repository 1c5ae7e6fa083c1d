// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package schedule

import (
	"slices"
	"sync"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/states/compile"
)

// alongside returns the graph for making calls in parallel that allow it. It has the nodes of the
// graph of low data, and for each of them a point before it: its turn. The turn comes after that of
// the node before it in the sequence, after the requirements of either of the two, and after the
// node before it, unless that is for a call that is made alongside. So nothing is started ahead of
// its turn, as a run through the calls from first to last would start them.
func alongside(low *compile.Low) *order.Graph {
	sequence := low.Graph().Sequence(compile.Rule, nil)
	nodes := make([]order.Node, len(sequence))
	for position, n := range sequence {
		nodes[n] = low.Graph().Node(n)
		nodes[n].Weight = float64(position)
	}
	var b order.Builder
	for _, node := range nodes {
		b.Add(node)
	}
	for _, edge := range low.Graph().Edges() {
		b.Edge(edge)
	}
	lastTurn := -1
	for position, n := range sequence {
		turn := b.Add(order.Node{Name: "turn of " + nodes[n].Name, Anchor: true, Weight: nodes[n].Weight})
		if lastTurn >= 0 {
			b.Edge(order.Edge{From: lastTurn, To: turn, Reason: "one after the other"})
			if before := low.Node(sequence[position-1]); before.Trial || !low.Calls[before.Call].Parallel {
				b.Edge(order.Edge{From: sequence[position-1], To: turn, Reason: "not in parallel"})
			}
		}
		for edge := range low.Graph().Predecessors(n) {
			b.Edge(order.Edge{From: edge.From, To: turn, Reason: edge.Reason, Place: edge.Place})
		}
		b.Edge(order.Edge{From: turn, To: n, Reason: "in its turn"})
		lastTurn = turn
	}
	graph, err := b.Build()
	if err != nil {
		panic("schedule: " + err.Error()) // all edges are in the direction of the sequence
	}
	return graph
}

// eventLog reports the events of a run: one at a time, and results in the order of the sequence.
type eventLog struct {
	position []int          // of each node in the sequence
	ended    func(call int) // nil: nobody wants to know

	mu struct {
		sync.Mutex
		visited    []bool // by position
		calls      []int  // by position: the call that has ended there; -1 if none has
		next       int    // the first position whose result is not reported yet
		reported   []int  // calls in the order in which they are reported
		events     []func()
		delivering bool
	}
}

func newEventLog(sequence []int, ended func(call int)) *eventLog {
	l := &eventLog{position: make([]int, len(sequence)), ended: ended}
	for position, n := range sequence {
		l.position[n] = position
	}
	l.mu.visited = make([]bool, len(sequence))
	l.mu.calls = slices.Repeat([]int{-1}, len(sequence))
	return l
}

// report calls event, after all that is reported already.
func (l *eventLog) report(event func()) {
	l.mu.Lock()
	l.mu.events = append(l.mu.events, event)
	l.mu.Unlock()
	l.deliver()
}

// visited says that the work of a node was done, which has ended a call or -1.
func (l *eventLog) visited(node, call int) {
	at := l.position[node]
	l.mu.Lock()
	l.mu.visited[at], l.mu.calls[at] = true, call
	for l.mu.next < len(l.mu.visited) && l.mu.visited[l.mu.next] {
		l.pass()
	}
	l.mu.Unlock()
	l.deliver()
}

// close reports all results that are left, and returns the calls that have ended, in the order in
// which they were reported.
func (l *eventLog) close() []int {
	l.mu.Lock()
	for l.mu.next < len(l.mu.visited) {
		l.pass()
	}
	l.mu.Unlock()
	l.deliver()
	return l.mu.reported
}

// pass reports the next result, if there is one. Requires the lock.
func (l *eventLog) pass() {
	call := l.mu.calls[l.mu.next]
	l.mu.next++
	if call < 0 {
		return
	}
	l.mu.reported = append(l.mu.reported, call)
	if l.ended != nil {
		l.mu.events = append(l.mu.events, func() { l.ended(call) })
	}
}

// deliver makes the reports that are due, unless another goroutine is at it.
func (l *eventLog) deliver() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.delivering {
		return
	}
	l.mu.delivering = true
	for len(l.mu.events) > 0 {
		event := l.mu.events[0]
		l.mu.events = l.mu.events[1:]
		l.mu.Unlock()
		event()
		l.mu.Lock()
	}
	l.mu.delivering = false
}
