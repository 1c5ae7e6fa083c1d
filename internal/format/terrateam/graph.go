// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terrateam

import (
	"errors"
	"slices"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/problem"
)

// Action is a step of the work on a dirspace.
type Action int

// The actions, in the order in which they are done.
const (
	Plan Action = iota
	Apply
)

func (a Action) String() string {
	if a == Plan {
		return "plan"
	}
	return "apply"
}

// Work is one action on one dirspace.
type Work struct {
	Action   Action
	Dirspace int
}

// workGraph has a node for each action on each dirspace of a change, and anchors for everything
// else.
type workGraph struct {
	*order.Graph
	work  []Work // of each node; meaningless for anchors
	stack []stackAnchors
}

// stackAnchors are the points in the order of things that concern a stack.
type stackAnchors struct {
	planGate, applyGate int // everything that it is after, for planning or for applying, is applied
	planDone, applyDone int // it is applied, and so is everything that its plan gate, or its apply gate, waits for
	applied             int // all of its own dirspaces are applied
}

// graph orders the dirspaces of a change. Reversed, it orders their destruction.
//
// Errors: [order.CycleErrors], with dirspaces as nodes.
func (l *Layout) graph(inChange []bool, reversed bool) (*workGraph, error) {
	b := &graphBuilder{Layout: l, reversed: reversed}
	b.addStacks()
	b.addRules()
	b.addDirspaces(inChange)
	g, err := b.Build()
	if err != nil {
		return nil, onlyNames(err, func(n int) bool { return b.ofDirspace[n] })
	}
	return &workGraph{Graph: g, work: b.work, stack: b.stack}, nil
}

type graphBuilder struct {
	*Layout
	order.Builder
	reversed bool

	stack      []stackAnchors
	work       []Work // of each node
	ofDirspace []bool // whether a node belongs to a dirspace
}

// anchor adds an anchor of a stack, or of a query.
func (b *graphBuilder) anchor(name string) int {
	b.work = append(b.work, Work{})
	b.ofDirspace = append(b.ofDirspace, false)
	return b.Add(order.Node{Name: name, Anchor: true})
}

func (b *graphBuilder) dirspaceAnchor(d *Dirspace) int {
	n := b.anchor(d.Name())
	b.ofDirspace[n] = true
	return n
}

func (b *graphBuilder) node(w Work, d *Dirspace) int {
	b.work = append(b.work, w)
	b.ofDirspace = append(b.ofDirspace, true)
	return b.Add(order.Node{Name: d.Name(), Ties: []string{d.Dir, d.Workspace, w.Action.String()}})
}

func (b *graphBuilder) before(from, to int) { b.Edge(order.Edge{From: from, To: to}) }

func (b *graphBuilder) addStacks() {
	for _, s := range b.Stacks {
		a := stackAnchors{
			planGate: b.anchor(s.Name), applyGate: b.anchor(s.Name),
			planDone: b.anchor(s.Name), applyDone: b.anchor(s.Name), applied: b.anchor(s.Name),
		}
		b.stack = append(b.stack, a)
		if !s.Nested {
			b.before(a.applied, a.planDone)
			b.before(a.planGate, a.planDone)
			b.before(a.applied, a.applyDone)
			b.before(a.applyGate, a.applyDone)
		}
	}
	for i, s := range b.Stacks {
		for _, member := range s.Members {
			outer, inner := b.stack[i], b.stack[b.byName[member.Name]]
			b.before(outer.planGate, inner.planGate)
			b.before(outer.applyGate, inner.applyGate)
			b.before(inner.planDone, outer.planDone)
			b.before(inner.applyDone, outer.applyDone)
		}
	}
}

func (b *graphBuilder) addRules() {
	for i, s := range b.Stacks {
		for _, ref := range s.Rules.PlanAfter {
			first, second := b.inTurn(b.byName[ref.Name], i)
			b.Edge(order.Edge{
				From:   b.stack[first].planDone,
				To:     b.stack[second].planGate,
				Reason: s.because("plan_after", ref.Name),
				Place:  problem.PlaceAt(ref.Range),
			})
		}
		for _, ref := range s.Rules.ApplyAfter {
			first, second := b.inTurn(b.byName[ref.Name], i)
			b.Edge(order.Edge{
				From:   b.stack[first].applyDone,
				To:     b.stack[second].applyGate,
				Reason: s.because("apply_after", ref.Name),
				Place:  problem.PlaceAt(ref.Range),
			})
		}
	}
}

func (b *graphBuilder) inTurn(first, second int) (int, int) {
	if b.reversed {
		return second, first
	}
	return first, second
}

func (b *graphBuilder) addDirspaces(inChange []bool) {
	gates, done := make([]int, len(b.Dirspaces)), make([]int, len(b.Dirspaces))
	for i, d := range b.Dirspaces {
		gates[i], done[i] = b.dirspaceAnchor(d), b.dirspaceAnchor(d)
		b.before(gates[i], done[i])
		if !inChange[i] {
			continue
		}
		s := b.stack[b.owner[i]]
		plan, apply := b.node(Work{Plan, i}, d), b.node(Work{Apply, i}, d)
		b.before(gates[i], plan)
		b.before(s.planGate, plan)
		b.before(plan, apply)
		b.before(s.applyGate, apply)
		b.before(apply, s.applied)
		b.before(apply, done[i])
	}
	queries := make([]int, len(b.depends))
	for q, depends := range b.depends {
		queries[q] = b.anchor(depends.query.String())
		for _, on := range depends.on {
			if b.reversed {
				b.before(queries[q], gates[on])
			} else {
				b.before(done[on], queries[q])
			}
		}
	}
	for i, all := range b.dependsOn {
		d := b.Dirspaces[i]
		if len(all) == 0 {
			continue
		}
		reason := d.Name() + " has depends_on " + d.DependsOn.Query.String() // one for all edges, as it may be long
		for _, q := range all {
			edge := order.Edge{From: queries[q], To: gates[i], Reason: reason, Place: problem.PlaceAt(d.DependsOn.Range)}
			if b.reversed {
				edge.From, edge.To = done[i], queries[q]
			}
			b.Edge(edge)
		}
	}
}

// onlyNames shortens cycles to nodes with different names, of those to be kept; nil keeps all. A
// step between them has the first reason on the way. Cycles that are the same then are one.
func onlyNames(err error, keep func(node int) bool) error {
	var cycles order.CycleErrors
	if !errors.As(err, &cycles) {
		return err
	}
	var short order.CycleErrors
	for _, cycle := range cycles {
		one := shorten(cycle, func(i int) bool { return keep == nil || keep(cycle.Edges[i].From) })
		if !slices.ContainsFunc(short, func(other *order.CycleError) bool { return slices.Equal(one.Nodes, other.Nodes) }) {
			short = append(short, one)
		}
	}
	return short
}

func shorten(cycle *order.CycleError, keep func(i int) bool) *order.CycleError {
	short := &order.CycleError{}
	start := cycleStart(cycle, keep)
	for k := range cycle.Nodes {
		i := (start + k) % len(cycle.Nodes)
		last := len(short.Nodes) - 1
		switch {
		case last < 0 || keep(i) && cycle.Nodes[i] != short.Nodes[last]:
			short.Nodes = append(short.Nodes, cycle.Nodes[i])
			short.Edges = append(short.Edges, cycle.Edges[i])
		case short.Edges[last].Reason == "":
			short.Edges[last] = cycle.Edges[i]
		}
	}
	smallest := slices.Index(short.Nodes, slices.Min(short.Nodes))
	short.Nodes = slices.Concat(short.Nodes[smallest:], short.Nodes[:smallest])
	short.Edges = slices.Concat(short.Edges[smallest:], short.Edges[:smallest])
	return short
}

// cycleStart is a node to be kept of which the one before has another name, if there is any.
func cycleStart(cycle *order.CycleError, keep func(i int) bool) int {
	first, last := -1, ""
	for i, name := range cycle.Nodes {
		if !keep(i) {
			continue
		}
		if first >= 0 && name != last {
			return i
		}
		if first < 0 {
			first = i
		}
		last = name
	}
	return max(first, 0)
}
