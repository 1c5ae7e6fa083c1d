// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"context"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/maintask"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/planning"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// applier applies the plan of one component instance.
type applier struct {
	op   *Operation
	plan *stackplan.Component

	// planned is the plan that the engine applies: of the whole instance, or of the rest of it.
	planned *engine.PlanResult

	saved *stackstate.Component // the record as it is in the state now; nil for none
}

func (a *applier) prior() *stackstate.Component {
	return a.op.Prior.Components[a.plan.Addr]
}

func (a *applier) setStatus(status hooks.Status) {
	if hook := a.op.Hooks.ComponentStatus; hook != nil {
		hook(a.plan.Addr, status)
	}
}

// show passes on progress of the engine.
func (a *applier) show(event engine.Event) {
	if hook := a.op.Hooks.ComponentEvent; hook != nil {
		hook(a.plan.Addr, event)
	}
}

// run waits for the predecessors, applies, and records the result. The error is always nil: the
// diagnostics are in the result.
func (a *applier) run(ctx context.Context) (*Result, error) {
	if a.isDone() {
		return a.done(), nil
	}
	a.setStatus(hooks.Pending)
	if stackaddrs.HasWildcard(a.plan.Addr) {
		a.setStatus(hooks.Deferred)
		return &Result{Complete: true, Deferred: true}, nil // there is nothing to apply, and nothing to record
	}
	a.saved = a.prior()
	ready := a.awaitPredecessors(ctx)
	subject, diags := a.op.Subject(ctx, a.plan)
	if subject == nil && ready && a.endsNothing() {
		result := &Result{Complete: true}
		a.record(ctx, nil, result)
		a.setStatus(hooks.Applied)
		return result, nil
	}
	if subject == nil {
		return a.withoutSubject(diags), nil
	}
	if !ready {
		result := a.unchanged()
		result.Skipped = true
		a.record(ctx, subject, result)
		a.setStatus(hooks.Skipped)
		return result, nil
	}
	result := a.apply(ctx, subject)
	a.record(ctx, subject, result)
	switch {
	case result.Skipped:
		a.setStatus(hooks.Skipped)
	case result.Interrupted:
		a.setStatus(hooks.Interrupted)
	case !result.Complete:
		a.setStatus(hooks.Failed)
	case result.Deferred:
		a.setStatus(hooks.Deferred)
	default:
		if hook := a.op.Hooks.ComponentApplied; hook != nil {
			hook(a.plan.Addr, result.Counts)
		}
		a.setStatus(hooks.Applied)
	}
	return result, nil
}

// endsNothing reports whether there is no more to do than dropping a record without objects. No
// block need produce the instance for that: in a stack that is removed, it may have come from a set
// that was not known while planning.
func (a *applier) endsNothing() bool {
	idle := len(a.plan.EnginePlan) == 0 || a.isBegun()
	return ends(a.plan) && a.plan.Complete && idle && !planning.HasObjects(a.baseState())
}

// withoutSubject is the result where no block is known to produce the instance.
func (a *applier) withoutSubject(diags hcl.Diagnostics) *Result {
	if IsDeferred(a.plan) {
		a.setStatus(hooks.Deferred)
		return a.deferred()
	}
	a.setStatus(hooks.Failed)
	result := a.unchanged()
	result.Diags = diags
	return result
}

// awaitPredecessors reports whether everything that has to be done before was done.
func (a *applier) awaitPredecessors(ctx context.Context) bool {
	ready := true
	for _, addr := range a.op.order.predecessors(a.plan) {
		result, err := a.op.results.Await(ctx, addr)
		if err != nil || !result.Complete {
			ready = false
		}
	}
	return ready
}

// IsDeferred reports whether there is nothing to apply of a plan because everything was deferred.
func IsDeferred(plan *stackplan.Component) bool { return len(plan.EnginePlan) == 0 && !plan.Complete }

// unchanged is the result of doing nothing.
func (a *applier) unchanged() *Result {
	result := &Result{}
	if prior := a.prior(); prior != nil {
		result.Module, result.Outputs = prior.Module, prior.Outputs
	}
	return result
}

// deferred is the result of a plan with nothing but deferred changes: existing objects stay as they
// are.
func (a *applier) deferred() *Result {
	result := a.unchanged()
	result.Complete, result.Deferred = true, true
	if a.prior() == nil {
		result.Outputs = a.plan.Outputs
	}
	return result
}

// apply runs the engine, or keeps the result of planning where that is all.
func (a *applier) apply(ctx context.Context, subject Subject) *Result {
	args, ok := subject.Arguments(ctx)
	if !ok {
		return a.unchanged()
	}
	if IsDeferred(a.plan) {
		return a.deferred()
	}
	// An earlier apply of this plan may have been cut off. The engine's plan is stale then,
	// as the objects have moved on, and a new one is made of the rest.
	result := a.unchanged()
	a.planned = a.plan.Result()
	if a.isBegun() {
		began, diags := a.planRest(ctx, subject, args)
		if !began || diags.HasErrors() {
			result.Skipped, result.Diags = !began, diags
			return result
		}
	}
	if len(a.plan.EnginePlan) == 0 {
		a.setStatus(hooks.Applying)
		result.Outputs, result.Module, result.Complete, result.Counts = a.plan.Outputs, a.plan.RefreshedState, true, a.plan.Counts()
		if a.isBegun() {
			result.stage = stackplan.Done
		}
		return result
	}
	var applied *engine.ApplyResult
	var diags hcl.Diagnostics
	var done tally
	newest := &checkpoint{applier: a, objects: Objects{Before: a.baseState()}, last: time.Now()}
	piece := a.op.Works.Piece(hooks.WorkApply, a.plan.Addr)
	began := a.op.Works.Run(ctx, piece, func(working context.Context, began func() bool) hcl.Diagnostics {
		applied, diags = a.op.Session.Apply(working, &engine.ApplyRequest{
			Work:          piece.ID,
			Component:     a.plan.Addr,
			ModuleDir:     args.ModuleDir,
			Mode:          a.plan.Mode,
			Planned:       a.planned,
			PlannedInputs: a.plan.Inputs,
			Timestamp:     a.op.Plan.Timestamp,
			Inputs:        args.Inputs,
			Providers:     args.Providers,
			PriorState:    a.baseState(),
		}, func(event engine.Event) {
			switch {
			case event.Type == engine.ObjectChanged:
				newest.change(ctx, event.Object)
			case event.Type != engine.WorkBegan:
				done.count(event)
				a.show(event)
			case began():
				newest.last = time.Now() // it may have waited for long
				a.setStatus(hooks.Applying)
			}
		})
		return diags
	})
	if !began {
		result.Skipped = true
		return result
	}
	result.Diags = subject.EngineDiagnostics(ctx, diags)
	if applied != nil {
		result.stage = stackplan.Begun
		result.Module, result.Outputs, result.Ephemeral, result.work = applied.State, applied.Outputs, applied.Ephemeral, piece.ID
		if a.plan.Action == stackplan.Delete {
			result.Outputs = a.plan.Outputs // nobody sees others while it is removed, nor if some of it could not
		}
		result.Counts = done.of(a.plan)
		if hook := a.op.Hooks.ComponentChecks; hook != nil {
			hook(a.plan.Addr, applied.Checks)
		}
	}
	if !diags.HasErrors() {
		result.Complete, result.stage = true, stackplan.Done
		result.Counts = a.plan.Counts()
		result.Counts.Invoke, result.Counts.InvokeFailed = done.Invoke, done.InvokeFailed // a condition may have been against one
	}
	result.Interrupted = !result.Complete && maintask.StopContext(ctx).Err() != nil // of errors after that, nobody can name another cause
	return result
}

// baseState is the state that the plan was made from.
func (a *applier) baseState() engine.State {
	if len(a.plan.BaseState) > 0 && !a.isBegun() {
		return a.plan.BaseState
	}
	if prior := a.prior(); prior != nil {
		return prior.Module
	}
	return nil
}
