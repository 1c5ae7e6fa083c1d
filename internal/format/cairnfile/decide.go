// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

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
	ends    []int    // in targets, one for each reference: the leaves of a group stand side by side
}

// IsReaction reports whether a rule of a task says when it is run at all.
func (r Relation) IsReaction() bool { return r >= Prereq }

// condition adds the condition of a rule to the nodes of the leaves that it is for. A reaction
// without targets is never triggered; rules of several blocks for one kind of reaction are one
// condition.
func (b *builder) condition(r rule) {
	if !r.rel.IsReaction() && r.policy != Any {
		return // edges say it, if there is something to say
	}
	c := condition{rel: r.rel, policy: r.policy}
	for _, t := range r.targets {
		leaves := b.Model.LeavesOf(t.block)
		if !r.rel.IsReaction() { // nothing waits for a destroyed leaf
			leaves = slices.DeleteFunc(slices.Clone(leaves), func(leaf *Leaf) bool { return b.isDestroyed(leaf.Block) })
		}
		for _, leaf := range leaves {
			c.targets = append(c.targets, b.bounds[leaf.Block])
		}
		if len(leaves) > 0 {
			c.ends = append(c.ends, len(c.targets))
		}
	}
	if !r.rel.IsReaction() && len(c.targets) == 0 {
		return
	}
	for _, leaf := range b.Model.LeavesOf(r.of) {
		n := b.bounds[leaf.Block].first
		if r.rel == ApplyAfter {
			n = b.bounds[leaf.Block].apply
		}
		same := slices.IndexFunc(b.conditions[n], func(other condition) bool {
			return r.rel.IsReaction() && other.rel == c.rel && other.policy == c.policy
		})
		if same >= 0 {
			b.conditions[n][same].targets = append(b.conditions[n][same].targets, c.targets...) // of the only leaf: a task
			continue
		}
		b.conditions[n] = append(b.conditions[n], c)
	}
}

// Decide is for [order.RunOptions]. Changed reports whether a node that has ended changed
// something, or whether a plan would.
//
// An unselected node has neither failed nor changed anything.
func (g *Graph) Decide(changed func(node int) bool) func(node int, result func(int) order.Result) order.Result {
	return func(node int, result func(int) order.Result) order.Result {
		decided := order.Result{}
		for _, c := range g.conditions[node] {
			switch one := c.decide(g, changed, result); one.State {
			case order.Skipped:
				return one
			case order.Passed:
				decided = one
			}
		}
		return decided
	}
}

func (c condition) decide(g *Graph, changed func(int) bool, result func(int) order.Result) order.Result {
	failed := func(t bounds) bool {
		return result(t.first).State == order.Failed || result(t.done).State == order.Failed
	}
	blocked := func(t bounds) bool { return failed(t) || result(t.done).State == order.Skipped }
	// A skipped node may be behind an apply that was not approved, which is not a failure.
	byFailure := func(t bounds) bool {
		done := result(t.done)
		return failed(t) || done.State == order.Skipped && result(done.Because).State == order.Failed
	}
	hasChanged := func(t bounds) bool { return !blocked(t) && result(t.done).State == order.Succeeded && changed(t.done) }
	// A reaction that is not triggered has passed, so that others go on behind it; one whose trigger
	// cannot be known any more is skipped with the failure as its cause. Only onfail takes a failure
	// for an answer, and listeners run at the end, when a failure elsewhere must not hide a change.
	runs := true
	switch c.rel {
	case OnFail:
		runs = slices.ContainsFunc(c.targets, byFailure)
		if c.policy == All {
			runs = runs && !slices.ContainsFunc(c.targets, func(t bounds) bool { return !byFailure(t) })
		}
	case OnChanges:
		runs = slices.ContainsFunc(c.targets, hasChanged)
		if slices.ContainsFunc(c.targets, blocked) && (c.policy != Any || !runs) {
			return order.Result{State: order.Skipped, Because: c.because(blocked, result)}
		}
	case Listen:
		runs = slices.ContainsFunc(c.targets, hasChanged)
	case Prereq:
		runs = slices.ContainsFunc(c.targets, func(t bounds) bool { return g.would(t, changed) })
	default: // one success is enough, of a group that of all of it
		if !c.hasOneWithout(blocked) {
			return order.Result{State: order.Skipped, Because: c.because(blocked, result)}
		}
	}
	if !runs {
		why := because[c.rel]
		if c.rel == Listen && slices.ContainsFunc(c.targets, blocked) {
			why = errNotDone
		}
		return order.Result{State: order.Passed, Err: why}
	}
	return order.Result{}
}

// would reports whether something is to change: a stack by its plan, and a task if it is to run, as
// far as that depends on plans. Without phases there are none, and everything would.
func (g *Graph) would(t bounds, changed func(int) bool) bool {
	return g.anyBehind(t, map[int]bool{}, func(other bounds) bool { return other.planned == other.apply || changed(other.planned) })
}

// anyBehind reports whether something has a property on which it depends whether something else is
// to change: itself, or of a task that comes before others if these would, any of them.
func (g *Graph) anyBehind(t bounds, seen map[int]bool, has func(bounds) bool) bool {
	if seen[t.first] {
		return false
	}
	seen[t.first] = true
	at := slices.IndexFunc(g.conditions[t.first], func(c condition) bool { return c.rel == Prereq })
	if at < 0 || t.planned != t.apply {
		return has(t)
	}
	return slices.ContainsFunc(g.conditions[t.first][at].targets, func(target bounds) bool { return g.anyBehind(target, seen, has) })
}

// plansBehind returns the stacks whose plans say whether something is to change.
func (g *Graph) plansBehind(t bounds) []bounds {
	var stacks []bounds
	g.anyBehind(t, map[int]bool{}, func(other bounds) bool {
		if other.planned != other.apply {
			stacks = append(stacks, other)
		}
		return false
	})
	return stacks
}

// hasOneWithout reports whether something is named of which nothing is blocked.
func (c condition) hasOneWithout(blocked func(bounds) bool) bool {
	from := 0
	for _, end := range c.ends {
		if !slices.ContainsFunc(c.targets[from:end], blocked) {
			return true
		}
		from = end
	}
	return false
}

var because = map[Relation]error{
	OnFail:    errors.New("the blocks it reacts to have not failed"),
	OnChanges: errors.New("the blocks it reacts to have not changed"),
	Listen:    errors.New("the blocks it listens to have not changed"),
	Prereq:    errors.New("nothing would change"),
}

// errNotDone is why something does not react to changes where there may have been some.
var errNotDone = errors.New("the blocks it reacts to were not done completely")

// because is the failure behind the first target that is blocked.
func (c condition) because(blocked func(bounds) bool, result func(int) order.Result) int {
	t := c.targets[max(slices.IndexFunc(c.targets, blocked), 0)]
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

// Reacts reports whether a task that has run watches something that has changed, so that its
// reaction is to run.
func (g *Graph) Reacts(node int, changed func(node int) bool) bool {
	leaf := g.Steps[node].Leaf
	if leaf == nil {
		return false
	}
	for r := range g.Model.rulesOn(leaf) {
		if r.rel == Watch && slices.ContainsFunc(r.targets, func(t target) bool {
			return slices.ContainsFunc(g.Model.LeavesOf(t.block), func(l *Leaf) bool { return changed(g.bounds[l.Block].done) })
		}) {
			return true
		}
	}
	return false
}

// Limits are for [order.RunOptions]: those of keys, of which one at a time may run if the file does
// not say otherwise, and those of the strategies of groups.
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
