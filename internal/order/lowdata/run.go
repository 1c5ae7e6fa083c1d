// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lowdata

import (
	"context"
	"errors"
	"slices"

	"github.com/cairnstacks/cairn/internal/order"
)

// RunOptions say how calls are made.
type RunOptions struct {
	Functions Functions
	Test      bool // makes all calls in test mode
	Failhard  bool // stops at the first failure, unless the call says otherwise

	// Started and Ended are told of each call that is made, and of each result, in order; either may be nil.
	Started func(*Call)
	Ended   func(Result)
}

// Run makes the calls one after the other, each after its requisites, and decides by what became of these whether
// it is made. The results are in the order in which they were known, those of calls that were not reached at the end.
//
// Once ctx ends, nothing more is started.
func (l *Low) Run(ctx context.Context, opts RunOptions) []Result {
	r := &run{Low: l, opts: opts, states: make([]state, len(l.Calls))}
	l.graph.Run(ctx, order.RunOptions{Rule: order.ByDemand, Parallel: 1, KeepGoing: true, FailFast: true}, r.visit)
	if ctx.Err() == nil && !r.stopped {
		r.listeners(ctx)
	}
	results := make([]Result, 0, len(l.Calls))
	for _, call := range r.ended {
		results = append(results, r.states[call].result)
	}
	for i := range r.states {
		if !r.states[i].ended {
			results = append(results, Result{Call: l.Calls[i], Comment: "The run was stopped before."})
		}
	}
	return results
}

type run struct {
	*Low
	opts    RunOptions
	states  []state
	ended   []int // calls in the order in which they ended
	stopped bool
}

// state is what is known of one call.
type state struct {
	result Result
	ended  bool
	would  bool // the trial has shown that the call would change something
}

var errFailhard = errors.New("a call has failed that stops the run")

// visit is the work of one node of the graph. An error stops the run.
func (r *run) visit(ctx context.Context, n int) error {
	at := r.nodes[n]
	switch {
	case r.states[at.call].ended:
	case at.trial:
		r.try(ctx, at.call)
	default:
		r.make(ctx, at.call)
	}
	if s := &r.states[at.call]; s.ended && !s.result.Status.Success() && r.stops(at.call) {
		r.stopped = true
		return errFailhard
	}
	return nil
}

// stops tells whether the failure of a call stops the run (line C-38).
func (r *run) stops(call int) bool {
	if own := r.Calls[call].Failhard; own != nil {
		return *own
	}
	return r.opts.Failhard
}

func (r *run) end(call int, result Result) {
	result.Call = r.Calls[call]
	r.states[call].result, r.states[call].ended = result, true
	r.ended = append(r.ended, call)
	if r.opts.Ended != nil {
		r.opts.Ended(result)
	}
}

// endBy ends a call that is not made.
func (r *run) endBy(call int, v verdict) {
	r.end(call, Result{Status: v.status, Because: v.because, Comment: v.comment})
}

// try makes a call in test mode, for those that are to be made before it if it would change something (line C-43).
func (r *run) try(ctx context.Context, call int) {
	v := r.decide(call, true)
	if v.status != OK {
		r.endBy(call, v)
		return
	}
	outcome := r.call(ctx, call, true, r.reacts(call))
	switch {
	case outcome.Failed:
		r.end(call, Result{Status: Failed, Comment: outcome.Comment})
	case !outcome.Changed:
		r.end(call, Result{Status: NotNeeded, Comment: "Nothing would change. " + outcome.Comment})
	default:
		r.states[call].would = true
	}
}

// make makes a call, if its requisites are met.
func (r *run) make(ctx context.Context, call int) {
	v := r.decide(call, false)
	if v.status != OK {
		r.endBy(call, v)
		return
	}
	if r.opts.Started != nil {
		r.opts.Started(r.Calls[call])
	}
	outcome := r.call(ctx, call, r.opts.Test, r.reacts(call))
	r.end(call, Result{Status: outcome.status(), Changes: outcome.Changes, Comment: outcome.Comment})
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
	req := r.Calls[call].request(test)
	outcome := r.opts.Functions.Call(ctx, req)
	if outcome.Failed || !reaction {
		return outcome
	}
	req.Reaction, req.Changes = true, outcome.Changes
	return outcome.and(r.opts.Functions.Call(ctx, req))
}

// and adds what a later call has done.
func (o Outcome) and(later Outcome) Outcome {
	sum := Outcome{Failed: o.Failed || later.Failed, Changed: o.Changed || later.Changed, Changes: &Map{}}
	for _, changes := range []*Map{o.Changes, later.Changes} {
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

// reacts tells whether something that a call watches has changed, and there is a reaction to that (line C-42).
func (r *run) reacts(call int) bool {
	c := r.Calls[call]
	changed := func(target int) bool { return r.states[target].result.Status == Changed }
	watched := slices.ContainsFunc(c.targets[watch], changed) || slices.ContainsFunc(c.targets[watchAny], changed)
	return watched && r.opts.Functions.Reacts(c.Module, c.Function)
}

// listeners make reactions at the very end of the run: those of calls that listen to what has changed.
func (r *run) listeners(ctx context.Context) {
	for _, call := range r.Sequence() {
		s, c := &r.states[call], r.Calls[call]
		due := slices.ContainsFunc(c.targets[listen], func(target int) bool { return r.states[target].result.Status == Changed })
		if !due || !s.result.Status.Success() || !r.opts.Functions.Reacts(c.Module, c.Function) || ctx.Err() != nil {
			continue
		}
		if r.opts.Started != nil {
			r.opts.Started(c)
		}
		req := c.request(r.opts.Test)
		req.Reaction, req.Changes = true, s.result.Changes
		before := Outcome{Changed: s.result.Status == Changed, Changes: s.result.Changes, Comment: s.result.Comment}
		sum := before.and(r.opts.Functions.Call(ctx, req))
		s.result = Result{Call: c, Status: sum.status(), Changes: sum.Changes, Comment: sum.Comment}
		if r.opts.Ended != nil {
			r.opts.Ended(s.result)
		}
		if !s.result.Status.Success() && r.stops(call) {
			return
		}
	}
}
