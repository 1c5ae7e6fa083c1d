// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package order

import (
	"context"
	"errors"

	"github.com/cairnstacks/cairn/promising"
)

// State is how a node ended.
type State int

// The states of nodes after a run.
const (
	NotStarted State = iota // not selected, or the run was stopped first
	Succeeded
	Failed
	Skipped // because of another node that failed
	Passed  // by [RunOptions.Decide]: there was nothing to do
)

// ErrNotStarted is returned by work that has not begun, because the run was stopped at that moment.
var ErrNotStarted = errors.New("not started")

// Result is what became of one node.
type Result struct {
	State   State
	Err     error // of a failed node; of one that is Passed, why there was nothing to do, if anybody said so
	Because int   // the failed node on account of which this one was skipped
}

// RunOptions say how to run.
type RunOptions struct {
	Selected Selection
	Rule     Rule // which of several ready nodes is started first
	Parallel int  // how many may run at the same time; less than 1 stands for 1

	// FailFast starts nothing more after a failure. KeepGoing starts also what depends on a failed node. Without either,
	// everything is started but what depends on a failed node.
	FailFast, KeepGoing bool

	// Decide, if there is one, is asked about each selected node when what it waits for has ended, unless a failure behind hard
	// edges has settled the matter. It may ask for the results of nodes that this one waits for, anchors excepted. The zero
	// Result starts the node; one that is Passed counts as success, one that is Skipped as failure of Because.
	Decide func(node int, result func(int) Result) Result

	// Limits keep nodes from running at the same time as others.
	Limits []Limit
}

// Limit says how many of some nodes may run at the same time.
type Limit struct {
	Parallel int // less than 1 stands for 1
	Nodes    []int
}

// Run does the work of the selected nodes, each when all it waits for has ended. The result has an entry for each
// node of the graph. One at a time, they are done in the order of [Graph.Sequence].
//
// Once ctx ends nothing more is started. Run returns when all that was started has ended.
func (g *Graph) Run(ctx context.Context, opts RunOptions, work func(ctx context.Context, node int) error) []Result {
	r := &run{
		graph: g, opts: opts, work: work, results: make([]Result, g.Len()),
		slots: newSlots(max(opts.Parallel, 1), g.Len(), g.Sequence(opts.Rule, opts.Selected), opts.Limits),
	}
	ctx, r.stop = context.WithCancel(ctx)
	defer r.stop()
	// The tasks do not end with ctx, so that everything is accounted for.
	_, err := promising.MainTask(context.WithoutCancel(ctx), func(tasks context.Context) (struct{}, error) {
		return struct{}{}, r.all(tasks, ctx)
	})
	if err != nil {
		panic("order: " + err.Error()) // a graph has no cycles, and each task resolves its promise
	}
	return r.results
}

type run struct {
	graph   *Graph
	opts    RunOptions
	work    func(ctx context.Context, node int) error
	results []Result // each written by the task of its node alone
	slots   *slots
	stop    context.CancelFunc
}

// end is what those who wait for a node have to know.
type end struct {
	failed  bool
	because int // the node whose failure it was
}

// all starts a task for each node and waits for all. Work is done with ctx.
func (r *run) all(tasks, ctx context.Context) error {
	ends := make([]promising.PromiseGet[end], r.graph.Len())
	resolvers := make([]promising.PromiseResolver[end], r.graph.Len())
	for n := range ends {
		resolvers[n], ends[n] = promising.NewPromise[end](tasks, r.graph.nodes[n].Name)
	}
	for _, n := range r.graph.topological() {
		promising.AsyncTask(tasks, resolvers[n], func(tasks context.Context, resolver promising.PromiseResolver[end]) {
			result, err := r.await(tasks, n, ends)
			if err == nil {
				result = r.node(ctx, n, result)
			}
			resolver.Resolve(tasks, result, err)
		})
	}
	var errs []error
	for _, one := range ends {
		_, err := one.Await(tasks)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// await waits for the predecessors of a node. Of several that failed, the smallest counts.
func (r *run) await(tasks context.Context, n int, ends []promising.PromiseGet[end]) (end, error) {
	var all end
	for edge := range r.graph.Predecessors(n) {
		one, err := ends[edge.From].Await(tasks)
		if err != nil {
			return end{}, err
		}
		if one.failed && !edge.Soft && (!all.failed || r.graph.Compare(one.because, all.because) < 0) {
			all = one
		}
	}
	return all, nil
}

// node does the work of a node, if it has any and may. Before is how what it waited for has ended.
func (r *run) node(ctx context.Context, n int, before end) end {
	if !r.graph.works(n, r.opts.Selected) {
		return before
	}
	if before.failed && !r.opts.KeepGoing {
		r.results[n] = Result{State: Skipped, Because: before.because}
		r.slots.leave(n)
		return before
	}
	if r.opts.Decide != nil {
		decided := r.opts.Decide(n, func(other int) Result { return r.results[other] })
		if decided.State != NotStarted {
			r.results[n] = decided
			r.slots.leave(n)
			if decided.State == Skipped {
				return end{failed: true, because: decided.Because}
			}
			return before
		}
	}
	r.slots.take(n)
	defer r.slots.put(n)
	if ctx.Err() != nil {
		return before
	}
	if err := r.work(ctx, n); errors.Is(err, ErrNotStarted) {
		return before
	} else if err != nil {
		r.results[n] = Result{State: Failed, Err: err}
		if r.opts.FailFast {
			r.stop()
		}
		return end{failed: true, because: n}
	}
	r.results[n] = Result{State: Succeeded}
	return before
}
