// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/planning"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// A plan that was applied in part is applied from where that has ended. The engine cannot go on
// with a plan of its own of which it has done a part, so the rest of it is planned anew, and
// applied only if the whole plan has all of it. Nothing is asked of the world for that, just as
// nothing is when a plan is applied at once.

// isDone reports whether an earlier apply has done all of an instance.
func (a *applier) isDone() bool {
	return a.op.Progress[a.plan.Addr] == stackplan.Done
}

// isBegun reports whether an earlier apply may have done a part of an instance.
func (a *applier) isBegun() bool {
	return a.op.Progress[a.plan.Addr] == stackplan.Begun
}

// done is the result of an earlier apply.
func (a *applier) done() *Result {
	result := a.unchanged()
	result.Complete = true
	return result
}

// planRest puts the rest of the plan in its place. It returns false if that was not begun since the
// operation shall stop already.
func (a *applier) planRest(ctx context.Context, subject Subject, args Arguments) (bool, hcl.Diagnostics) {
	if a.plan.Mode == engine.Invoke {
		return true, a.stale(errors.New("which of its actions were invoked is not known"))
	}
	rest := *a.plan
	rest.EnginePlan, rest.BaseState, rest.RefreshedState, rest.Changes = nil, nil, nil, nil
	if a.plan.Mode == engine.Destroy && !planning.HasObjects(a.unchanged().Module) {
		a.plan = &rest
		return true, nil
	}
	if err := checkFinalInputs(a.plan, subject.StoredInputs(ctx, args.Inputs)); err != nil {
		return true, a.stale(err)
	}
	again, began, diags := a.planAgain(ctx, hooks.WorkRest, args, nil)
	if began && !diags.HasErrors() {
		if left := replacementsLeft(a.plan.Changes, again.Changes); len(left) > 0 {
			again, began, diags = a.planAgain(ctx, hooks.WorkRestReplaced, args, left)
		}
	}
	if !began || diags.HasErrors() {
		return began, subject.EngineDiagnostics(ctx, diags)
	}
	if err := checkRest(a.plan.Changes, again.Changes); err != nil {
		return true, a.stale(err)
	}
	a.planned, rest.Changes, rest.RefreshedState = again, again.Changes, again.RefreshedState
	if planning.NeedsApply(again) {
		rest.Engine, rest.EnginePlan = again.Engine, again.Plan
	}
	if a.plan.Action != stackplan.Delete {
		rest.Outputs = again.Outputs
	}
	a.plan = &rest
	return true, nil
}

// planAgain has the engine plan from the state that was left behind, with some resource instances
// to be replaced. It returns false if that was not begun.
func (a *applier) planAgain(
	ctx context.Context, kind hooks.WorkKind, args Arguments, replace []string,
) (result *engine.PlanResult, began bool, diags hcl.Diagnostics) {
	piece := a.op.Works.Piece(kind, a.plan.Addr)
	began = a.op.Works.Run(ctx, piece, func(ctx context.Context, began func() bool) hcl.Diagnostics {
		result, diags = a.op.Session.Plan(ctx, &engine.PlanRequest{
			Work:        piece.ID,
			Component:   a.plan.Addr,
			ModuleDir:   args.ModuleDir,
			Mode:        a.plan.Mode,
			Inputs:      args.Inputs,
			Providers:   args.Providers,
			PriorState:  a.unchanged().Module,
			SkipRefresh: true,
			Replace:     replace,
			Timestamp:   a.op.Plan.Timestamp,
		}, func(event engine.Event) {
			if event.Type == engine.WorkBegan && began() {
				a.setStatus(hooks.Applying)
			}
		})
		return diags
	})
	return result, began, diags
}

// checkFinalInputs checks that inputs are those that the plan was made with. The engine cannot, for
// a plan that is made anew.
func checkFinalInputs(plan *stackplan.Component, inputs map[string]cty.Value) error {
	if plan.Mode == engine.Destroy {
		return nil // a destruction does not depend on them
	}
	for _, name := range slices.Sorted(maps.Keys(plan.Inputs)) {
		final, ok := inputs[name]
		if !ok || engine.CheckRefines(plan.Inputs[name], final) != nil || !final.IsWhollyKnown() {
			return fmt.Errorf("input %q is not as planned", name)
		}
	}
	return nil
}

// stale says why an instance of which a part was done cannot go on.
func (a *applier) stale(reason error) hcl.Diagnostics {
	return hcl.Diagnostics{failure.With(fault.Address{Component: a.plan.Addr, Inner: fault.StalePlan}, failure.New("Stale plan",
		"%s was applied in part, and the rest of its changes is not that of the plan: %s. Nothing more was done with it. Make a new plan.",
		a.plan.Addr, reason))}
}
