// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package workspace

import (
	"errors"
	"maps"
	"slices"

	"github.com/cairnstacks/cairn/internal/order"
)

// condition says when a node is started, as far as edges do not.
type condition struct {
	rel     Relation
	policy  Policy
	targets []bounds // of leaves
}

// condition adds what a rule asks for to the nodes of the leaves that it is for.
func (b *builder) condition(r rule) {
	if r.rel == ModifiedBy || len(r.targets) == 0 || r.rel <= Watch && r.policy != Any {
		return // edges say it, if there is something to say
	}
	c := condition{rel: r.rel, policy: r.policy}
	for _, t := range r.targets {
		for _, leaf := range b.Model.LeavesOf(t.block) {
			c.targets = append(c.targets, b.bounds[leaf.Block])
		}
	}
	for _, leaf := range b.Model.LeavesOf(r.of) {
		n := b.bounds[leaf.Block].first
		if r.rel == ApplyAfter {
			n = b.bounds[leaf.Block].apply
		}
		b.conditions[n] = append(b.conditions[n], c)
	}
}

// Decide is for [order.RunOptions]. Changed tells of a node that has ended whether it changed something, or of a plan whether it would.
//
// What is not selected has neither failed nor changed anything.
func (g *Graph) Decide(changed func(node int) bool) func(node int, result func(int) order.Result) order.Result {
	return func(node int, result func(int) order.Result) order.Result {
		decided := order.Result{}
		for _, c := range g.conditions[node] {
			switch one := c.decide(changed, result); one.State {
			case order.Skipped:
				return one
			case order.Passed:
				decided = one
			}
		}
		return decided
	}
}

func (c condition) decide(changed func(int) bool, result func(int) order.Result) order.Result {
	failed := func(t bounds) bool {
		return result(t.first).State == order.Failed || result(t.done).State == order.Failed
	}
	blocked := func(t bounds) bool { return failed(t) || result(t.done).State == order.Skipped }
	hasChanged := func(t bounds) bool { return !blocked(t) && result(t.done).State == order.Succeeded && changed(t.done) }
	runs := true
	switch c.rel {
	case OnFail:
		runs = slices.ContainsFunc(c.targets, failed)
		if c.policy == All {
			runs = !slices.ContainsFunc(c.targets, func(t bounds) bool { return !failed(t) })
		}
	case OnChanges:
		runs = slices.ContainsFunc(c.targets, hasChanged) && (c.policy == Any || !slices.ContainsFunc(c.targets, blocked))
	case Listen:
		runs = slices.ContainsFunc(c.targets, hasChanged)
	case Prereq:
		runs = slices.ContainsFunc(c.targets, func(t bounds) bool { return t.planned == t.apply || changed(t.planned) })
	default: // one success is enough
		if !slices.ContainsFunc(c.targets, func(t bounds) bool { return !blocked(t) }) {
			return order.Result{State: order.Skipped, Because: c.because(result)}
		}
	}
	if !runs {
		return order.Result{State: order.Passed, Err: because[c.rel]}
	}
	return order.Result{}
}

var because = map[Relation]error{
	OnFail:    errors.New("what it reacts to has not failed"),
	OnChanges: errors.New("what it reacts to has not changed"),
	Listen:    errors.New("what it listens to has not changed"),
	Prereq:    errors.New("nothing would change"),
}

// because is the failure behind the first target, all of which are blocked.
func (c condition) because(result func(int) order.Result) int {
	t := c.targets[0]
	for _, n := range []int{t.first, t.done} {
		switch r := result(n); r.State {
		case order.Failed:
			return n
		case order.Skipped:
			return r.Because
		}
	}
	return t.done
}

// Reacts tells whether a task that has run watches something that has changed, so that its reaction is to run.
func (g *Graph) Reacts(node int, changed func(node int) bool) bool {
	block := g.Steps[node].Leaf
	return block != nil && slices.ContainsFunc(g.Model.rules, func(r rule) bool {
		if r.rel != Watch || r.of != block.Block && !slices.Contains(block.Groups, r.of) {
			return false
		}
		return slices.ContainsFunc(r.targets, func(t target) bool {
			return slices.ContainsFunc(g.Model.LeavesOf(t.block), func(l *Leaf) bool { return changed(g.bounds[l.Block].done) })
		})
	})
}

// Limits are for [order.RunOptions]: those of keys, of which one at a time may run if the file does not say otherwise, and
// those of the strategies of groups.
func (g *Graph) Limits() []order.Limit {
	byKey := map[string][]int{}
	byGroup := map[*Block][]int{}
	for n, step := range g.Steps {
		if step.Leaf == nil {
			continue
		}
		for _, key := range step.Leaf.AllKeys {
			byKey[key] = append(byKey[key], n)
		}
		for _, group := range step.Leaf.Groups {
			byGroup[group] = append(byGroup[group], n)
		}
	}
	var limits []order.Limit
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		limits = append(limits, order.Limit{Parallel: max(g.Model.Workspace.Limits[key], 1), Nodes: byKey[key]})
	}
	for _, block := range g.Model.Blocks {
		if block.Type == GroupType && block.Group.Parallel > 0 {
			limits = append(limits, order.Limit{Parallel: block.Group.Parallel, Nodes: byGroup[block]})
		}
	}
	return limits
}

// Nodes returns the nodes with the work on a leaf, in their order.
func (g *Graph) Nodes(leaf *Leaf) []int {
	b := g.bounds[leaf.Block]
	if b.first == b.done {
		return []int{b.first}
	}
	return []int{b.first, b.done}
}
