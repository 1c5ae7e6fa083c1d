// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package order

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/promising/changeexec"
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

// Result is the outcome of one node.
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

	// FailFast starts nothing more after a failure. KeepGoing starts also nodes that depend on a
	// failed one. Without either, everything is started but nodes that depend on a failed one.
	FailFast, KeepGoing bool

	// Decide, if there is one, is asked about each selected node when its predecessors have ended,
	// unless a failure behind hard edges has settled the matter. It may ask for the results of the
	// predecessors, anchors excepted. The zero Result starts the node; one that is Passed counts as
	// success, one that is Skipped as failure of Because. Until it has decided, no later node of the
	// sequence is started.
	Decide func(node int, result func(int) Result) Result

	// Limits keep nodes from running at the same time as others.
	Limits []Limit

	// Ended, if there is one, is called with the result of each selected node as soon as there is one,
	// before another node takes its place; those that are not started have none. It is called from
	// several goroutines.
	Ended func(node int, result Result)
}

// Limit says how many of some nodes may run at the same time.
type Limit struct {
	Parallel int // less than 1 stands for 1
	Nodes    []int
}

// Run does the work of the selected nodes, each when all it waits for has ended. The result has an
// entry for each node of the graph. One at a time, they are done in the order of [Graph.Sequence].
// Several at a time, a free slot goes to the node that is first in that order among those that can
// start then: this depends on the nodes that have ended, not on goroutines.
//
// Once ctx ends nothing more is started. Run returns when all that was started has ended. Work that
// ends its goroutine has failed; work that panics stops the run, and the panic continues in the
// caller.
func (g *Graph) Run(ctx context.Context, opts RunOptions, work func(ctx context.Context, node int) error) []Result {
	r := &run{
		graph: g, opts: opts, work: work, results: make([]Result, g.Len()),
		limiter: newLimiter(g, opts),
	}
	starts, stop := context.WithCancel(ctx)
	defer stop()
	r.stop = stop
	r.limiter.stopped = func() bool { return starts.Err() != nil }
	// The tasks do not end with ctx, so that everything is accounted for. Their panics reach those
	// that wait for them.
	tasks := promising.WithPanicHandler(context.WithoutCancel(ctx), func(*promising.UnresolvedError) {})
	broken, err := promising.MainTask(tasks, func(tasks context.Context) (map[int]error, error) {
		return r.all(tasks, ctx), nil
	})
	if err != nil {
		panic("order: " + err.Error()) // the main task is responsible for no promise when it ends
	}
	for n, err := range broken {
		r.results[n].Err = err
	}
	r.continuePanic(broken)
	return r.results
}

type run struct {
	graph   *Graph
	opts    RunOptions
	work    func(ctx context.Context, node int) error
	results []Result // each written by the task of its node alone
	limiter *limiter
	stop    func() // starts nothing more; work that has been started goes on
}

// address is the name of a node among changes.
type address struct {
	graph *Graph
	node  int
}

func (a address) String() string { return a.graph.nodes[a.node].Name }

type (
	ends   = changeexec.Results[address, end]
	change = changeexec.Change[address, end]
)

// end is the outcome of a node for those that wait for it.
type end struct {
	failed  bool
	because int // the node whose failure it was
}

// all registers a change for each node and waits for all. Work is done with ctx. The errors are
// those of nodes whose tasks were broken off.
func (r *run) all(tasks, ctx context.Context) map[int]error {
	results := changeexec.ChangeExec(tasks, func(results *ends, add func(change)) {
		for _, n := range r.graph.topological() {
			add(change{Addr: address{r.graph, n}, Run: func(tasks context.Context) (end, error) {
				return r.node(ctx, n, r.await(tasks, n, results)), nil
			}})
		}
	})
	broken := map[int]error{}
	for n := range r.graph.nodes {
		if _, err := results.Await(tasks, address{r.graph, n}); err != nil {
			broken[n] = err
		}
	}
	return broken
}

// continuePanic panics if a task was broken off by a panic, with that of the smallest node.
func (r *run) continuePanic(broken map[int]error) {
	for _, n := range slices.SortedFunc(maps.Keys(broken), r.graph.Compare) {
		if err, ok := errors.AsType[*promising.UnresolvedError](broken[n]); ok && err.Panic != nil {
			panic(fmt.Errorf("%w\n\n%s", err, err.Stack))
		}
	}
}

// await waits for the predecessors of a node. Of several that failed, the smallest counts.
func (r *run) await(tasks context.Context, n int, results *ends) end {
	var all end
	for edge := range r.graph.Predecessors(n) {
		one, err := results.Await(tasks, address{r.graph, edge.From})
		if err != nil {
			one = end{failed: true, because: edge.From} // its task was broken off
		}
		if one.failed && !edge.Soft && (!all.failed || r.graph.Compare(one.because, all.because) < 0) {
			all = one
		}
	}
	return all
}

// node does the work of a node, if it has any and may. Before is how its predecessors have ended.
func (r *run) node(ctx context.Context, n int, before end) end {
	if !r.graph.works(n, r.opts.Selected) {
		return before
	}
	returned := false
	defer func() {
		if !returned { // a panic or runtime.Goexit, which the promise reports
			r.results[n] = Result{State: Failed}
			r.stop()
		}
		r.limiter.end(n) // the result is there
	}()
	r.results[n] = r.result(ctx, n, before)
	returned = true
	if r.opts.Ended != nil && r.results[n].State != NotStarted {
		r.opts.Ended(n, r.results[n])
	}
	switch result := r.results[n]; result.State {
	case Failed:
		if r.opts.FailFast {
			r.stop() // before the slot of n is free
		}
		return end{failed: true, because: n}
	case Skipped:
		return end{failed: true, because: result.Because}
	default:
		return before
	}
}

// result is the outcome of a node.
func (r *run) result(ctx context.Context, n int, before end) Result {
	if before.failed && !r.opts.KeepGoing {
		return Result{State: Skipped, Because: before.because}
	}
	if r.opts.Decide != nil {
		if decided := r.opts.Decide(n, func(other int) Result { return r.results[other] }); decided.State != NotStarted {
			return decided
		}
	}
	if !r.limiter.take(n) || ctx.Err() != nil {
		return Result{}
	}
	switch err := r.work(ctx, n); {
	case errors.Is(err, ErrNotStarted):
		return Result{}
	case err != nil:
		return Result{State: Failed, Err: err}
	}
	return Result{State: Succeeded}
}
