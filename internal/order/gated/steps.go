// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package gated

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/cairnstacks/cairn/internal/order"
)

// Step is what is done together.
type Step struct {
	Action    Action
	Dirspaces []int // in the order of the layout
}

// StacksOf returns the leaves of a step, sorted by name.
func (c *Change) StacksOf(step Step) []int {
	var stacks []int
	for _, d := range step.Dirspaces {
		stacks = append(stacks, c.owner[d])
	}
	slices.SortFunc(stacks, func(a, b int) int { return cmpNames(c.Layout, a, b) })
	return slices.Compact(stacks)
}

func cmpNames(l *Layout, a, b int) int { return cmp.Compare(l.Stacks[a].Name, l.Stacks[b].Name) }

// Steps returns all steps of a change: in turn everything is planned that may be planned, and everything is applied
// that may be applied.
func (c *Change) Steps() []Step {
	var steps []Step
	for _, batch := range c.graph.Batches(nil, 2, func(n int) int { return int(c.graph.work[n].Action) }) {
		step := Step{Action: c.graph.work[batch[0]].Action}
		for _, n := range batch {
			step.Dirspaces = append(step.Dirspaces, c.graph.work[n].Dirspace)
		}
		steps = append(steps, step)
	}
	return steps
}

// Layers returns the dirspaces of a change in groups that may be planned at the same time.
func (c *Change) Layers() [][]int {
	plans := make(order.Selection, c.graph.Len())
	for n, w := range c.graph.work {
		plans[n] = w.Action == Plan
	}
	layers := c.graph.Waves(plans)
	for _, layer := range layers {
		for i, n := range layer {
			layer[i] = c.graph.work[n].Dirspace
		}
	}
	return layers
}

// HeldBy returns the leaves that have to be applied before an action on a leaf, as far as they are in the change and
// not applied yet, sorted by name.
func (c *Change) HeldBy(stack int, action Action, applied func(dirspace int) bool) []int {
	gates := []int{c.graph.stack[stack].planGate}
	if action == Apply {
		gates = append(gates, c.graph.stack[stack].applyGate)
	}
	var holders []int
	seen := map[int]bool{}
	for len(gates) > 0 {
		n := gates[len(gates)-1]
		gates = gates[:len(gates)-1]
		for edge := range c.graph.Predecessors(n) {
			from := edge.From
			switch {
			case seen[from]:
			case c.graph.Node(from).Anchor:
				seen[from] = true
				gates = append(gates, from)
			case !applied(c.graph.work[from].Dirspace):
				seen[from] = true
				holders = append(holders, c.owner[c.graph.work[from].Dirspace])
			}
		}
	}
	slices.SortFunc(holders, func(a, b int) int { return cmpNames(c.Layout, a, b) })
	return slices.Compact(holders)
}

// Result is what became of one action on one dirspace.
type Result struct {
	Work
	order.Result

	// Because is what failed where this was skipped for it, and BecauseErr why it did.
	Because    Work
	BecauseErr error
}

// Run does the work of a change, each action as soon as its gate is open. The results are in the order in which the
// work is done one after the other. Workspaces of one directory never run at the same time.
func (c *Change) Run(ctx context.Context, opts order.RunOptions, do func(ctx context.Context, w Work) error) []Result {
	opts.Limits = append(slices.Clip(opts.Limits), c.directoryLimits()...)
	all := c.graph.Run(ctx, opts, func(ctx context.Context, n int) error { return do(ctx, c.graph.work[n]) })
	var results []Result
	for _, n := range c.graph.Sequence(opts.Rule, opts.Selected) {
		result := Result{Work: c.graph.work[n], Result: all[n]}
		if all[n].State == order.Skipped {
			result.Because, result.BecauseErr = c.graph.work[all[n].Because], all[all[n].Because].Err
		}
		results = append(results, result)
	}
	return results
}

func (c *Change) directoryLimits() []order.Limit {
	byDir := map[string][]int{}
	for n, w := range c.graph.work {
		if !c.graph.Node(n).Anchor {
			dir := c.Dirspaces[w.Dirspace].Dir
			byDir[dir] = append(byDir[dir], n)
		}
	}
	var limits []order.Limit
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		if len(byDir[dir]) > 2 { // more than the actions on one dirspace, which follow each other
			limits = append(limits, order.Limit{Parallel: 1, Nodes: byDir[dir]})
		}
	}
	return limits
}
