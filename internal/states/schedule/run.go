// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package schedule

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/states/compile"
)

// Options say how calls are made.
type Options struct {
	Functions Functions
	Test      bool // makes all calls in test mode
	Failhard  bool // stops at the first failure, unless the call says otherwise
	Parallel  int  // how many calls may be made at the same time, of those that allow it; less than 1 stands for 1

	// Started and Ended are called with each call that is made, and each result; either may be nil.
	// They are not called at the same time. Results come in the order of the calls, so that one that
	// has ended waits for those that were started before it.
	Started func(*compile.Call)
	Ended   func(Result)
}

// Run makes the calls of low data one after the other, each after its requisites, and decides by
// their outcomes whether it is made. A call that has Parallel is started in its turn, too, but the
// next one does not wait for its end unless it requires it.
//
// The results are in the order in which the calls are reached, which is the same each time; those
// of calls that were not reached are at the end.
//
// Once ctx ends, nothing more is started.
func Run(ctx context.Context, low *compile.Low, opts Options) []Result {
	r := &run{Low: low, opts: opts, states: make([]state, len(low.Calls))}
	graph, parallel := low.Graph(), 1
	if opts.Parallel > 1 && slices.ContainsFunc(low.Calls, func(c *compile.Call) bool { return c.Parallel }) {
		graph, parallel = alongside(low), opts.Parallel
	}
	var ended func(int)
	if opts.Ended != nil {
		ended = func(call int) { opts.Ended(r.states[call].result) }
	}
	r.log = newEventLog(graph.Sequence(compile.Rule, nil), ended)
	graph.Run(ctx, order.RunOptions{Rule: compile.Rule, Parallel: parallel, KeepGoing: true, FailFast: true}, r.visit)
	calls := r.log.close()
	if ctx.Err() == nil && !r.stopped.Load() {
		r.listeners(ctx)
	}
	results := make([]Result, 0, len(low.Calls))
	for _, call := range calls {
		results = append(results, r.states[call].result)
	}
	for i := range r.states {
		if !r.states[i].ended {
			results = append(results, Result{Call: low.Calls[i], Comment: "The run was stopped before."})
		}
	}
	return results
}

type run struct {
	*compile.Low
	opts    Options
	states  []state // each written by the work of the nodes of its call alone
	log     *eventLog
	stopped atomic.Bool
}

// state is the state of one call in the run.
type state struct {
	result Result
	ended  bool
	would  bool // the trial has shown that the call would change something

	// changed says that the call has changed something, which one that fails may have done, too.
	// Reactions at the end do not count.
	changed bool
}

var errFailhard = errors.New("a call has failed that stops the run")

// visit is the work of one node of the graph. An error stops the run.
func (r *run) visit(ctx context.Context, n int) error {
	at := r.Node(n)
	s := &r.states[at.Call]
	if s.ended {
		r.log.visited(n, -1)
		return nil
	}
	if at.Trial {
		r.try(ctx, at.Call)
	} else {
		r.make(ctx, at.Call)
	}
	if !s.ended {
		r.log.visited(n, -1)
		return nil
	}
	stops := !s.result.Status.Success() && r.stops(at.Call)
	if stops {
		r.stopped.Store(true)
	}
	r.log.visited(n, at.Call)
	if stops {
		return errFailhard
	}
	return nil
}

// stops reports whether the failure of a call stops the run (line C-38).
func (r *run) stops(call int) bool {
	if own := r.Calls[call].Failhard; own != nil {
		return *own
	}
	return r.opts.Failhard
}

func (r *run) end(call int, result Result) {
	result.Call = r.Calls[call]
	r.states[call].result, r.states[call].ended = result, true
}

// endBy ends a call that is not made.
func (r *run) endBy(call int, v verdict) {
	r.end(call, Result{Status: v.status, Because: v.because, Comment: v.comment})
}

// try makes a call in test mode, for those that are to be made before it if it would change
// something (line C-43). If it would not, it is made in its turn all the same: a trial may not
// foresee everything.
func (r *run) try(ctx context.Context, call int) {
	v := r.decide(call, true)
	if v.status != OK {
		r.endBy(call, v)
		return
	}
	outcome := r.call(ctx, call, true, r.reacts(call))
	if outcome.Failed {
		r.end(call, Result{Status: Failed, Comment: outcome.Comment})
		return
	}
	r.states[call].would = outcome.Changed
}

// make makes a call, if its requisites are met.
func (r *run) make(ctx context.Context, call int) {
	v := r.decide(call, false)
	if v.status != OK {
		r.endBy(call, v)
		return
	}
	if r.opts.Started != nil {
		r.log.report(func() { r.opts.Started(r.Calls[call]) })
	}
	began := time.Now()
	outcome := r.call(ctx, call, r.opts.Test, r.reacts(call))
	r.end(call, Result{Status: outcome.status(), Changes: outcome.Changes, Comment: outcome.Comment, Took: time.Since(began)})
	r.states[call].changed = outcome.Changed
}

func (o Outcome) status() Status {
	switch {
	case o.Failed:
		return Failed
	case o.Changed:
		return Changed
	}
	return OK
}

// call makes a call, and its reaction after it if that is due.
func (r *run) call(ctx context.Context, call int, test, reaction bool) Outcome {
	req := RequestFor(r.Calls[call], test)
	outcome := r.attempts(ctx, r.Calls[call], req)
	if outcome.Needless || !reaction || outcome.Failed && (outcome.Changed || ctx.Err() != nil) {
		return outcome
	}
	req.Reaction, req.Changes = true, outcome.Changes
	later := r.attempts(ctx, r.Calls[call], req)
	if outcome.Failed { // without a change: the reaction counts, as of a service that does not run before the restart
		outcome.Failed = later.Failed
	}
	return outcome.and(later)
}

// and adds the outcome of a later call.
func (o Outcome) and(later Outcome) Outcome {
	sum := Outcome{Failed: o.Failed || later.Failed, Changed: o.Changed || later.Changed, Changes: &compile.Map{}}
	for _, changes := range []*compile.Map{o.Changes, later.Changes} {
		if changes != nil {
			for _, entry := range changes.Entries {
				sum.Changes.Set(entry.Key, entry.Value)
			}
		}
	}
	sum.Comment = joinSentences(o.Comment, later.Comment)
	return sum
}

func joinSentences(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	}
	return a + " " + b
}

// reacts reports whether something that a call watches has changed, and there is a reaction to that
// (line C-42).
func (r *run) reacts(call int) bool {
	c := r.Calls[call]
	changed := func(target int) bool { return r.states[target].result.Status == Changed }
	watched := slices.ContainsFunc(r.Requisites(call, compile.Watch), changed) ||
		slices.ContainsFunc(r.Requisites(call, compile.WatchAny), changed)
	return watched && r.opts.Functions.Reacts(c.Module, c.Function)
}

// listeners make reactions at the very end of the run: those of calls that listen to one that has
// changed something until then, even if it has failed after that. The changes of reactions do not
// count, so that it does not matter which one is first.
func (r *run) listeners(ctx context.Context) {
	sequence := slices.DeleteFunc(r.Sequence(), func(call int) bool {
		c := r.Calls[call]
		due := slices.ContainsFunc(r.Requisites(call, compile.Listen), func(target int) bool { return r.states[target].changed })
		return !due || !r.states[call].result.Status.Success() || !r.opts.Functions.Reacts(c.Module, c.Function)
	})
	for _, call := range sequence {
		if ctx.Err() != nil {
			return
		}
		s, c := &r.states[call], r.Calls[call]
		if r.opts.Started != nil {
			r.opts.Started(c)
		}
		req := RequestFor(c, r.opts.Test)
		req.Reaction, req.Late, req.Changes = true, true, s.result.Changes
		before := Outcome{Changed: s.result.Status == Changed, Changes: s.result.Changes, Comment: s.result.Comment}
		began := time.Now()
		after := r.attempts(ctx, c, req)
		if after.Comment != "" {
			after.Comment = "At the end of the run: " + after.Comment
		}
		sum := before.and(after)
		s.result = Result{Call: c, Status: sum.status(), Changes: sum.Changes, Comment: sum.Comment, Took: s.result.Took + time.Since(began)}
		if r.opts.Ended != nil {
			r.opts.Ended(s.result)
		}
		if !s.result.Status.Success() && r.stops(call) {
			return
		}
	}
}
