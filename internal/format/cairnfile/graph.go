// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

import (
	"cmp"
	"fmt"
	"path"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/problem"
)

// Graph is a model in the form that package order works with.
type Graph struct {
	*order.Graph
	Model *Model
	Steps []Step // by number of the node

	phased     bool
	reversed   bool          // of destroyed leaves
	conditions [][]condition // by number of the node
	bounds     map[*Block]bounds
}

// Step is the meaning of a node of the graph.
type Step struct {
	Leaf  *Leaf // nil for a point where others meet
	Phase Phase
}

// Phase is a part of the work on a leaf.
type Phase string

// The phases. A task has one, whatever else there is.
const (
	Whole Phase = ""
	Plan  Phase = "plan"
	Apply Phase = "apply"
)

// bounds are the nodes of a block that others wait for, or that wait for others.
type bounds struct {
	first   int // before anything of it
	planned int // when its plan is known
	apply   int // before it is applied
	done    int // after everything
}

// Graph makes a graph with a node for each leaf, and every gate one for all of it; or phased, with
// nodes for the plan and the apply of each stack. Without a graph there are errors.
func (m *Model) Graph(phased bool) (*Graph, hcl.Diagnostics) {
	return m.graph(&builder{Graph: &Graph{Model: m, phased: phased, bounds: map[*Block]bounds{}}, eager: phased})
}

// DestroyGraph makes a phased graph of which the applies destroy: everything is the other way
// around, except that a plan comes before its apply. No condition holds, and tasks only pass order
// on. The last to be applied is the first to be destroyed.
func (m *Model) DestroyGraph() (*Graph, hcl.Diagnostics) {
	forward, diags := m.Graph(true)
	if diags.HasErrors() {
		return nil, diags
	}
	last := map[*Leaf]int{}
	for i, n := range forward.Sequence(forward.Rule(), nil) {
		last[forward.Steps[n].Leaf] = i
	}
	return m.graph(&builder{Graph: &Graph{Model: m, phased: true, reversed: true, bounds: map[*Block]bounds{}}, last: last})
}

// Rule is the rule for sequences.
func (g *Graph) Rule() order.Rule {
	if g.reversed {
		return order.ByWeight
	}
	return g.Model.Rule()
}

func (m *Model) graph(b *builder) (*Graph, hcl.Diagnostics) {
	for _, block := range m.Blocks {
		b.block(block)
	}
	for _, group := range m.Blocks {
		for _, member := range m.members[group] {
			b.member(group, member)
		}
	}
	for _, block := range m.Blocks {
		b.deploymentGroups(block)
	}
	for _, r := range m.rules {
		b.rule(r)
	}
	b.impliedGates()
	if !b.reversed {
		b.prereqChains()
		b.stages()
		b.listeners()
	}
	graph, err := b.out.Build()
	if err != nil && b.eager {
		// Something comes between members of a deployment group, so that not all of them can be planned
		// before one is applied.
		return m.graph(&builder{Graph: &Graph{Model: m, phased: b.phased, bounds: map[*Block]bounds{}}})
	}
	if err != nil {
		return nil, problem.OfCycles(err)
	}
	b.Graph.Graph = graph
	return b.Graph, nil
}

type builder struct {
	*Graph
	out  order.Builder
	last map[*Leaf]int // when each leaf is done, to be turned around

	eager bool                // deployment groups are planned as a whole
	known bool                // gone is filled in
	gone  map[*Block][]*Block // of blocks, the deployments that are destroyed while others are applied
}

func (b *builder) node(step Step, node order.Node) int {
	b.Steps = append(b.Steps, step)
	b.conditions = append(b.conditions, nil)
	return b.out.Add(node)
}

func (b *builder) block(block *Block) {
	leaf, at := b.Model.leaves[block], problem.PlaceOf(block.Range)
	anchor := func(what string) int {
		return b.node(Step{}, order.Node{Name: what + " of " + block.Name, Anchor: true, Place: at})
	}
	work := func(phase Phase) int {
		name := block.Name
		if phase != Whole {
			name = string(phase) + " " + name
		}
		node := order.Node{Name: name, Weight: leaf.Weight, Place: at}
		if b.reversed {
			node.Weight = -float64(b.last[leaf])
		} else if b.Model.Ties == TiesByDirectory {
			node.Ties = []string{path.Join("/", leaf.Dir())}
		}
		return b.node(Step{leaf, phase}, node)
	}
	switch {
	case block.Type == GroupType:
		first := anchor("begin")
		through := fmt.Sprintf("%s is a group: all of it is between its begin and its end", block.Name)
		if block.Several != nil {
			through = fmt.Sprintf("%s has several deployments: all of them are between its begin and its end", block.Name)
		}
		all := bounds{first: first, planned: first, apply: first}
		if b.phased {
			all.apply = anchor("applies")
			b.out.Edge(order.Edge{From: first, To: all.apply, Reason: through, Place: at})
		}
		all.done = anchor("end")
		b.out.Edge(order.Edge{From: all.apply, To: all.done, Reason: through, Place: at})
		b.bounds[block] = all
	case b.phased && block.Type == StackType:
		plan, apply := work(Plan), work(Apply)
		b.out.Edge(order.Edge{From: plan, To: apply, Reason: "a stack is planned before it is applied", Place: at})
		b.bounds[block] = bounds{plan, plan, apply, apply}
	default:
		n := work(Whole)
		b.bounds[block] = bounds{n, n, n, n}
	}
}

func (b *builder) member(group, member *Block) {
	if b.isDestroyed(member) {
		return // see destroyedGate
	}
	outer, inner := b.bounds[group], b.bounds[member]
	reason, at := fmt.Sprintf("%s is a member of %s", member.Name, group.Name), problem.PlaceOf(group.Range)
	if group.Several != nil {
		reason, at = fmt.Sprintf("%s is a deployment of %s", member.Name, group.Name), problem.PlaceOf(member.Range)
	}
	b.out.Edge(order.Edge{From: outer.first, To: inner.first, Reason: reason, Place: at})
	b.out.Edge(order.Edge{From: outer.apply, To: inner.apply, Reason: reason, Place: at})
	b.out.Edge(order.Edge{From: inner.done, To: outer.done, Reason: reason, Place: at})
}

func (b *builder) rule(r rule) {
	for _, t := range r.targets {
		switch r.rel {
		case Prereq:
			b.prereq(r, t)
		case ModifiedBy: // no order by itself; see impliedGates
		default:
			edge := order.Edge{Soft: isSoft(r), Reason: reason(r, t), Place: problem.PlaceOf(t.ref.Range)}
			b.gate(t.block, r.of, r.rel == ApplyAfter, edge)
		}
	}
	if !b.reversed {
		b.condition(r)
	}
}

// isSoft reports whether a rule gives an order only: its other requirements are conditions.
func isSoft(r rule) bool {
	return r.rel == OnChanges || r.rel == OnFail || r.rel == Listen || r.policy == Any
}

// gate lets all of a block, or only its apply, wait for another one; reversed, the other for all of
// this one.
func (b *builder) gate(first, then *Block, apply bool, edge order.Edge) {
	if b.reversed {
		first, then = then, first
		edge.Soft = false // nothing is destroyed before its users
	}
	b.destroyedGate(first, then, edge)
	if b.isDestroyed(first) || b.isDestroyed(then) {
		return
	}
	edge.From, edge.To = b.bounds[first].done, b.bounds[then].first
	if apply {
		edge.To = b.bounds[then].apply
	}
	b.out.Edge(edge)
}

// reason renders a rule with its target as written.
func reason(r rule, t target) string {
	if r.origin.Name == linkName {
		return fmt.Sprintf("%s has %s", r.writer.Name, t.ref.Text)
	}
	if r.rel == Input {
		return fmt.Sprintf("%s has inputs = { %s }", r.writer.Name, t.ref.Text)
	}
	return fmt.Sprintf("%s has %s = [%q]", r.writer.Name, r.origin.Name, t.ref.Text)
}

// prereq puts a task between the plan and the apply of its target.
func (b *builder) prereq(r rule, t target) {
	task := b.bounds[r.of].first
	for _, leaf := range b.Model.LeavesOf(t.block) {
		other := b.bounds[leaf.Block]
		edge := order.Edge{Reason: reason(r, t), Place: problem.PlaceOf(t.ref.Range)}
		if b.reversed {
			b.gate(r.of, leaf.Block, false, edge)
			continue
		}
		if other.planned != other.apply {
			edge.From, edge.To = other.planned, task
			b.out.Edge(edge)
		}
		edge.From, edge.To = task, other.apply
		b.out.Edge(edge)
	}
}

// prereqChains lets a task that comes before another task wait for the plans that say whether that
// one runs.
func (b *builder) prereqChains() {
	for _, r := range b.Model.rules {
		if r.rel != Prereq {
			continue
		}
		for _, t := range r.targets {
			if t.block.Type == StackType {
				continue
			}
			for _, leaf := range b.Model.LeavesOf(t.block) {
				if leaf.Task == nil || leaf.Block == r.of {
					continue
				}
				for _, stack := range b.plansBehind(b.bounds[leaf.Block]) {
					b.out.Edge(order.Edge{From: stack.planned, To: b.bounds[r.of].first, Reason: reason(r, t), Place: problem.PlaceOf(t.ref.Range)})
				}
			}
		}
	}
}

// impliedGates are those of line B-10: a stack that counts as modified because of others is planned
// after them, unless the block says when it is planned.
func (b *builder) impliedGates() {
	says := map[*Block]bool{}
	for _, block := range b.Model.Blocks {
		says[block] = slices.ContainsFunc(block.Rules, func(r Rule) bool { return r.Rel == PlanAfter })
	}
	for _, r := range b.Model.rules {
		if r.rel != ModifiedBy || says[r.of] {
			continue
		}
		for _, t := range r.targets {
			b.gate(t.block, r.of, false, order.Edge{Reason: reason(r, t) + " and no plan_after", Place: problem.PlaceOf(t.ref.Range)})
		}
	}
}

// stages puts the tasks that have one into a row before or after all stacks.
func (b *builder) stages() {
	var pre, post []*Leaf
	for _, leaf := range b.Model.Leaves {
		switch {
		case leaf.Task == nil || leaf.Task.Stage == nil:
		case leaf.Task.Stage.Post:
			post = append(post, leaf)
		default:
			pre = append(pre, leaf)
		}
	}
	before := b.stage(pre, "before all stacks", func(meeting int, stack bounds, edge order.Edge) order.Edge {
		edge.From, edge.To = meeting, stack.first
		return edge
	})
	after := b.stage(post, "after all stacks", func(meeting int, stack bounds, edge order.Edge) order.Edge {
		edge.From, edge.To = stack.done, meeting
		return edge
	})
	stacks := slices.ContainsFunc(b.Model.Leaves, func(l *Leaf) bool { return l.Stack != nil })
	if len(pre) > 0 && len(post) > 0 && !stacks { // otherwise they are between
		b.out.Edge(order.Edge{From: before, To: after})
	}
}

// stage returns the point between the tasks and all stacks, if there are tasks.
func (b *builder) stage(tasks []*Leaf, where string, join func(meeting int, stack bounds, edge order.Edge) order.Edge) (meeting int) {
	if len(tasks) == 0 {
		return 0
	}
	slices.SortStableFunc(tasks, func(x, y *Leaf) int {
		return cmp.Or(cmp.Compare(x.Task.Stage.Number, y.Task.Stage.Number), cmp.Compare(x.Weight, y.Weight), cmp.Compare(x.Name, y.Name))
	})
	meeting = b.node(Step{}, order.Node{Name: where, Anchor: true})
	first := tasks[0].Task.Stage
	edge := order.Edge{Reason: fmt.Sprintf("stage %q is %s", first.Text, where), Place: problem.PlaceOf(first.Range)}
	for _, leaf := range b.Model.Leaves {
		if leaf.Stack != nil {
			b.out.Edge(join(meeting, b.bounds[leaf.Block], edge))
		}
	}
	edge.From, edge.To = b.bounds[tasks[len(tasks)-1].Block].done, meeting
	if first.Post {
		edge.From, edge.To = meeting, b.bounds[tasks[0].Block].first
	}
	b.out.Edge(edge)
	for i := range tasks[1:] {
		x, y := tasks[i], tasks[i+1]
		b.out.Edge(order.Edge{
			From: b.bounds[x.Block].done, To: b.bounds[y.Block].first, Place: problem.PlaceOf(y.Task.Stage.Range),
			Reason: fmt.Sprintf("stage %q of %s is before stage %q of %s", x.Task.Stage.Text, x.Name, y.Task.Stage.Text, y.Name),
		})
	}
	return meeting
}

// listeners come at the end of everything else.
func (b *builder) listeners() {
	listening := map[*Block]*rule{}
	for i := range b.Model.rules {
		if r := &b.Model.rules[i]; r.rel == Listen {
			listening[r.of] = r
		}
	}
	if len(listening) == 0 {
		return
	}
	meeting := b.node(Step{}, order.Node{Name: "end of everything else", Anchor: true})
	for _, leaf := range b.Model.Leaves {
		if r := listening[leaf.Block]; r != nil {
			b.out.Edge(order.Edge{
				From:   meeting,
				To:     b.bounds[leaf.Block].first,
				Soft:   true,
				Reason: leaf.Name + " listens, which is done at the end",
				Place:  problem.PlaceOf(r.origin.Range),
			})
			continue
		}
		b.out.Edge(order.Edge{From: b.bounds[leaf.Block].done, To: meeting, Soft: true, Reason: "listeners are done at the end"})
	}
}
