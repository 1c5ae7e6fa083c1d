// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/wire"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// CodeNoWorkers is of work in a pool for which no workers are configured.
const CodeNoWorkers fault.Code = "engine/no-workers"

// job is work that has begun to take its turn.
type job struct {
	ctx     context.Context //nolint:containedctx // for the time of one call
	work    *engine.Work
	pool    string
	observe engine.Observer // of all but the beginning
}

// begin waits until a piece of work may begin, here or in a pool. Without diagnostics the work of
// the result must be ended.
func (s *Session) begin(ctx context.Context, id engine.WorkID, observe engine.Observer, pool string, diags hcl.Diagnostics) (
	*job, hcl.Diagnostics,
) {
	if diags.HasErrors() {
		return nil, diags
	}
	if pool != "" && s.opts.Transport == nil {
		return nil, append(diags, failure.With(CodeNoWorkers, failure.New("No workers configured",
			"The component is in the pool %q, and no workers are configured. Add a workers block beside the pool block, or remove that.", pool)))
	}
	ctx, work, passOn, err := s.works.BeginIn(ctx, id, observe, s.Session)
	if err != nil {
		return nil, append(diags, failure.New("Interrupted work", "It was stopped before it began: %s.", err))
	}
	if pool != "" {
		s.stopNow(ctx, work, string(id))
	}
	return &job{ctx, work, pool, passOn}, diags
}

// stopNow has workers know when somebody waits for the end of a call.
func (s *Session) stopNow(ctx context.Context, work *engine.Work, call string) {
	work.OnNow(func() { _ = s.opts.Transport.StopNow(context.WithoutCancel(ctx), call) }) //nolint:errcheck // it may have ended
}

// Plan implements [engine.Session].
func (s *Session) Plan(ctx context.Context, req *engine.PlanRequest, observe engine.Observer) (*engine.PlanResult, hcl.Diagnostics) {
	pool, diags := s.opts.Pool(req.Component, req.Providers)
	j, diags := s.begin(ctx, req.Work, observe, pool, diags)
	if j == nil {
		return nil, diags
	}
	defer j.work.End()
	if j.pool == "" {
		result, moreDiags := s.Session.Plan(j.ctx, req, j.observe)
		return result, diags.Extend(moreDiags)
	}
	a, moreDiags := s.ask(j, Call{Name: string(req.Work), About: req.Component.String()}, request{Plan: req})
	return a.Plan, diags.Extend(moreDiags)
}

// querier queries here or in pools.
type querier struct{ session *Session }

// Query implements [engine.Querier].
func (q querier) Query(ctx context.Context, req *engine.QueryRequest, observe engine.Observer) (*engine.QueryResult, hcl.Diagnostics) {
	s := q.session
	pool, diags := s.opts.Pool(req.Component, req.Providers)
	j, diags := s.begin(ctx, req.Work, observe, pool, diags)
	if j == nil {
		return nil, diags
	}
	defer j.work.End()
	if j.pool == "" {
		result, moreDiags := s.abilities.Querier.Query(j.ctx, req, j.observe)
		return result, diags.Extend(moreDiags)
	}
	a, moreDiags := s.ask(j, Call{Name: string(req.Work), About: req.Component.String()}, request{Query: req})
	return a.Query, diags.Extend(moreDiags)
}

// ask makes a call that changes nothing. The answer is never nil.
func (s *Session) ask(j *job, call Call, req request) (*answer, hcl.Diagnostics) {
	content, err := s.encode(req)
	if err != nil {
		return &answer{}, hcl.Diagnostics{notSent(err)}
	}
	call.Pool, call.Request = j.pool, content
	a, err := s.call(j.ctx, call, j.observe, nil)
	if err != nil {
		return &answer{}, unanswered(err, failure.New("Worker without answer", "The work in the pool %q has no result: %s.", j.pool, err))
	}
	return a, a.Diags
}

// unanswered returns the diagnostics of an error of a transport, as of one that cannot be used:
// those which it holds, else another one.
func unanswered(err error, other *hcl.Diagnostic) hcl.Diagnostics {
	if held, ok := errors.AsType[hcl.Diagnostics](err); ok {
		return held
	}
	return hcl.Diagnostics{other}
}

func notSent(err error) *hcl.Diagnostic {
	return failure.New("Work not sent", "The work could not be sent to a worker: %s. This is a bug in cairn; please report it.", err)
}

func (s *Session) encode(req request) ([]byte, error) {
	req.Session, req.Prepare = s.name, s.prepared()
	sent, err := from(s.stackDir).request(req)
	if err != nil {
		return nil, err
	}
	return encodeRequest(s.opts.Version, sent)
}

// call makes a call and passes on its events and the record of its work. After an error of record,
// the worker is asked to stop; the error is returned together with the answer.
//
// Errors: those of [Transport.Call], without an answer.
func (s *Session) call(ctx context.Context, call Call, observe engine.Observer, record func([]byte) error) (*answer, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var failed error
	content, err := s.opts.Transport.Call(ctx, call, func(reports [][]byte) {
		if err := passOn(reports, observe, record); err != nil && failed == nil {
			failed = err
			stop(err)
		}
	})
	if err != nil {
		return nil, errors.Join(err, failed)
	}
	var received answer
	if err := wire.Decode(content, &received); err != nil {
		return nil, errors.Join(fmt.Errorf("its answer cannot be read: %w", err), failed)
	}
	a, err := below(s.stackDir).answer(received)
	return a, errors.Join(err, failed)
}

// errNotRecorded says that the record of work is not complete, and can be completed by another
// call.
var errNotRecorded = errors.New("the reports of the worker could not be recorded")

// passOn passes on reports. Observe may be nil, and record if there is none.
func passOn(reports [][]byte, observe engine.Observer, record func([]byte) error) error {
	var recorded []byte // the parts of a record can be recorded as one
	var unread error
	for _, content := range reports {
		var r report
		if err := wire.Decode(content, &r); err != nil {
			unread = fmt.Errorf("a report of the worker cannot be read: %w", err)
			break
		}
		for _, event := range r.Events {
			observe.Observe(event)
		}
		recorded = append(recorded, r.Record...)
	}
	if len(recorded) == 0 || record == nil {
		return unread
	}
	if err := record(recorded); err != nil {
		return errors.Join(errNotRecorded, err)
	}
	return unread
}

// Apply implements [engine.Session].
func (s *Session) Apply(ctx context.Context, req *engine.ApplyRequest, observe engine.Observer) (*engine.ApplyResult, hcl.Diagnostics) {
	pool, diags := s.opts.Pool(req.Component, req.Providers)
	j, diags := s.begin(ctx, req.Work, observe, pool, diags)
	if j == nil {
		return nil, diags
	}
	defer j.work.End()
	if j.pool == "" {
		result, moreDiags := s.Session.Apply(j.ctx, req, j.observe)
		return result, diags.Extend(moreDiags)
	}
	result, moreDiags := s.apply(j, req)
	return result, diags.Extend(moreDiags)
}

// apply has a worker apply a plan, once the record of the local session has it (rule R2).
func (s *Session) apply(j *job, req *engine.ApplyRequest) (*engine.ApplyResult, hcl.Diagnostics) {
	content, err := s.encode(request{Apply: req})
	if err != nil {
		return nil, hcl.Diagnostics{notSent(err)}
	}
	call := Call{Name: string(req.Work), Pool: j.pool, About: req.Component.String(), Changes: true, Request: content}
	ctx := context.WithoutCancel(j.ctx)
	var record func([]byte) error
	if delegator := s.abilities.Delegator; delegator != nil {
		about, err := json.Marshal(place{call.Pool, call.Name})
		if err == nil {
			err = delegator.Delegate(ctx, req, about)
		}
		if err != nil {
			return nil, hcl.Diagnostics{failure.New("Unusable apply journal", "The work could not be recorded, so nothing was begun: %s.", err)}
		}
		record = func(content []byte) error { return delegator.Reported(ctx, req.Work, content) }
	}
	a, err := s.call(j.ctx, call, j.observe, record)
	switch {
	case a == nil && errors.Is(err, errNotRecorded): // which leaves it to another program
		return nil, hcl.Diagnostics{failure.Of("Result not recorded", err)}
	case a == nil:
		return s.settle(ctx, req, unanswered(err, withoutAnswer(j.pool, err)))
	case err != nil:
		a.Diags = append(a.Diags, failure.Of("Result not recorded", err))
	}
	if a.Apply == nil {
		return s.settle(ctx, req, a.Diags)
	}
	return a.Apply, a.Diags
}

// withoutAnswer explains the error of a call that changes something.
func withoutAnswer(pool string, err error) *hcl.Diagnostic {
	switch {
	case errors.Is(err, ErrNotBegun):
		return failure.New("Work not begun", "The pool %q has not taken the work, so nothing was done: %s.", pool, err)
	case errors.Is(err, ErrWorkerLost):
		return failure.New("Worker lost", "A worker of the pool %q was lost while it applied the component. All that it has reported is "+
			"saved, and nothing of it is begun again: %s.", pool, err)
	}
	return failure.New("Worker without answer", "A worker of the pool %q may have applied more of the component than it has reported: %s. "+
		"Compare the objects that really exist with the state before you plan again.", pool, err)
}

// settle returns the result of an apply of which there is no more than its record (rule R4).
func (s *Session) settle(ctx context.Context, req *engine.ApplyRequest, diags hcl.Diagnostics) (*engine.ApplyResult, hcl.Diagnostics) {
	if s.abilities.Delegator == nil {
		return nil, diags
	}
	s.abilities.Delegator.Settle(req.Work)
	recovered, err := s.abilities.Recoverer.Resume(ctx, req.Work, 0, nil)
	if err != nil {
		return nil, append(diags, failure.Of("Unreadable record of work", err))
	}
	if recovered == nil { // nothing was done
		return nil, diags
	}
	result := &engine.ApplyResult{State: recovered.State, Outputs: map[string]cty.Value{}, Ephemeral: map[string]cty.Value{}}
	for name, planned := range req.Planned.Outputs {
		result.Outputs[name] = cty.UnknownVal(planned.Type()).WithMarks(planned.Marks())
	}
	if module, _ := s.Module(ctx, req.ModuleDir); module != nil { //nolint:errcheck // it was planned
		for name, output := range module.Outputs {
			if output.Ephemeral {
				result.Ephemeral[name] = cty.DynamicVal.Mark(marks.Ephemeral)
			}
		}
	}
	return result, append(diags, recovered.Diagnostics...)
}
