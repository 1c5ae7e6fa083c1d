// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package convert

import (
	"slices"

	"github.com/cairnstacks/cairn/internal/format/terrateam"
	"github.com/cairnstacks/cairn/internal/problem"
)

// A gated stack without directories has nothing to plan or to apply, so that gates of one kind go
// on through it to those of the same kind alone. The group that it becomes has one end, which all
// gates of it lead to, and which may so close a cycle with depends_on. Then such stacks are apart:
// no gate leads to their groups, and a stack after one of them is written to be after the
// predecessors of that one.

func (c *fromGates) isApart(i int) bool { return c.apart != nil && c.apart[i] }

// gateKinds are the kinds of gates that there are.
type gateKinds struct{ plan, apply bool }

func (k gateKinds) any() bool { return k.plan || k.apply }

// findApart finds the stacks without directories whose groups let something wait that a gate does
// not, and lists them.
func (c *fromGates) findApart() {
	named := make([]gateKinds, len(c.layout.Stacks)) // in which rules of others
	for _, s := range c.layout.Stacks {
		for _, ref := range s.Rules.PlanAfter {
			named[c.byName[ref.Name]].plan = true
		}
		for _, ref := range s.Rules.ApplyAfter {
			named[c.byName[ref.Name]].apply = true
		}
	}
	// An empty group of a workspace file passes on all that it waits for to all that waits for it.
	// Gates keep plans and applies apart there, so that a gate of one kind into the stack and one of
	// the other kind out of it would let a plan wait for an apply, which can close a cycle.
	c.apart = make([]bool, len(c.layout.Stacks))
	for i, s := range c.layout.Stacks {
		leaves := c.leaves(i)
		if slices.ContainsFunc(leaves, func(n int) bool { return len(c.layout.Owned(n)) > 0 }) {
			continue
		}
		var in, out gateKinds
		for _, n := range append(c.layout.Around(i), i) {
			rules := c.layout.Stacks[n].Rules
			in.plan, in.apply = in.plan || len(rules.PlanAfter) > 0, in.apply || len(rules.ApplyAfter) > 0
			out.plan, out.apply = out.plan || named[n].plan, out.apply || named[n].apply
		}
		if c.apart[i] = in.plan && out.apply || in.apply && out.plan || len(leaves) == 0 && in.any() && out.any(); c.apart[i] {
			c.lose(problem.PlaceAt(s.Range),
				"The dependencies of the empty stack %s, and the stacks that hold it, once there is something in it: "+
					"as an empty group it would close a cycle", s.Name)
		}
	}
}

// leaves returns the leaves of a stack.
func (c *fromGates) leaves(i int) []int {
	var leaves []int
	seen := map[int]bool{i: true}
	for queue := []int{i}; len(queue) > 0; queue = queue[1:] {
		s := c.layout.Stacks[queue[0]]
		if !s.Nested {
			leaves = append(leaves, queue[0])
		}
		for _, ref := range s.Members {
			if n := c.byName[ref.Name]; !seen[n] {
				seen[n] = true
				queue = append(queue, n)
			}
		}
	}
	return leaves
}

// rules are those of a stack, with the rules that stacks that are apart would pass on.
func (c *fromGates) rules(i int) terrateam.Rules {
	rules := c.layout.Stacks[i].Rules
	if c.apart == nil {
		return rules
	}
	if c.apart[i] {
		rules.PlanAfter, rules.ApplyAfter, rules.ImpliedPlanAfter = nil, nil, false
		return rules
	}
	plan := c.through(rules.PlanAfter, func(r terrateam.Rules) []terrateam.Ref { return r.PlanAfter })
	rules.PlanAfter, rules.ImpliedPlanAfter = slices.Concat(rules.PlanAfter, plan), rules.ImpliedPlanAfter && len(plan) == 0
	rules.ApplyAfter = slices.Concat(rules.ApplyAfter,
		c.through(rules.ApplyAfter, func(r terrateam.Rules) []terrateam.Ref { return r.ApplyAfter }))
	return rules
}

// through returns the stacks that some stacks wait for by way of those among them that are apart,
// at any distance, by rules of one kind.
func (c *fromGates) through(refs []terrateam.Ref, kind func(terrateam.Rules) []terrateam.Ref) []terrateam.Ref {
	var found []terrateam.Ref
	seen := map[int]bool{}
	for queue := slices.Clone(refs); len(queue) > 0; queue = queue[1:] {
		for _, leaf := range c.leaves(c.byName[queue[0].Name]) {
			if seen[leaf] || !c.apart[leaf] {
				continue
			}
			seen[leaf] = true
			for _, n := range append(c.layout.Around(leaf), leaf) {
				more := kind(c.layout.Stacks[n].Rules)
				found, queue = append(found, more...), append(queue, more...)
			}
		}
	}
	return found
}
