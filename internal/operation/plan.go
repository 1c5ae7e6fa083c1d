// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/deployments/approval"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/generated"
	"github.com/cairnstacks/cairn/internal/operation/planfile"
	"github.com/cairnstacks/cairn/internal/operation/variables"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// Planned is a plan with all that is known of it.
type Planned struct {
	Plan   *stackplan.Plan    // nil if there is none
	Judged approval.Judgement // by the rules for the deployment

	// Taken are the published values of other stacks that it was made with, by references. Unknown:
	// values that are only planned there.
	Taken map[string]cty.Value

	Generated bool // [Request.Generate] is written

	Identity string // of the plan in its file; "" if it was not saved
}

// Plan makes a plan and saves it in a file, unless the name of that is empty. Nothing is changed
// but by the recovery of applies that were cut off. With errors the plan is incomplete, and not
// saved.
func (s *Stack) Plan(ctx context.Context, req Request, caller Caller, file string) (_ Planned, diags hcl.Diagnostics) {
	ctx, end := traced(ctx, s, planName)
	defer func() { end(diags) }()
	if file != "" {
		if err := planfile.CheckPath(file); err != nil {
			return Planned{}, Diagnostics(err)
		}
	}
	r := s.newRun(task{name: planName, req: req, caller: caller})
	if err := r.mayGenerate(); err != nil {
		return Planned{}, Diagnostics(err)
	}
	diags = r.load(ctx, planName)
	diags = diags.Extend(variables.WarnUnread(s.env.Dir, s.valueSources(req.Variables)))
	if !diags.HasErrors() {
		diags = diags.Extend(r.values.askMissing(ctx))
	}
	if diags.HasErrors() {
		return Planned{}, r.interrupted(ctx, diags)
	}
	stored, err := r.stateToPlan(ctx)
	if err == nil && file != "" {
		err = stored.MaySavePlan()
	}
	if err != nil {
		return Planned{}, diags.Extend(Diagnostics(err))
	}
	r.stored = stored
	diags = diags.Extend(stored.MayBeStale())
	plan, moreDiags := r.planAndSave(ctx, file)
	diags = diags.Extend(moreDiags)
	if err := r.stored.Unlock(ctx); err != nil {
		diags = diags.Extend(Diagnostics(err))
	}
	return Planned{
		Plan: plan, Judged: r.outcome.judged, Taken: r.values.taken(), Generated: r.outcome.generated, Identity: r.outcome.identity,
	}, diags
}

// mayGenerate refuses a plan that cannot have configuration generated.
func (r *run) mayGenerate() error {
	switch {
	case r.req.Generate == "":
		return nil
	case r.req.Mode != engine.Normal:
		return failure.Error("Nothing to generate",
			"Only ordinary plans import objects, for which configuration can be generated. This one is to destroy everything, to refresh the "+
				"state, or to invoke actions.")
	}
	return generated.CheckPath(r.req.Generate)
}

// stateToPlan locks and reads the state. An operation that changes nothing does without the lock if
// it must, and one beside others neither waits for them nor keeps them from anything.
func (r *run) stateToPlan(ctx context.Context) (*deployment.Stored, error) {
	opened, err := r.stack.states.Deployment(ctx)
	if err != nil {
		return nil, err
	}
	if r.req.Beside {
		return opened.ReadBeside(ctx)
	}
	return opened.LockToPlan(ctx, func(state *stackstate.State) []statestore.Part { return partsToPlan(ctx, r.planRequest(state)) })
}

// partsToPlan returns the parts of the state that a plan looks at, so that nobody changes them
// meanwhile.
func partsToPlan(ctx context.Context, request stackruntime.PlanRequest) []statestore.Part {
	selected := stackruntime.SelectedComponents(ctx, request)
	if len(selected) == 0 {
		return []statestore.Part{deployment.Everything}
	}
	parts := make([]statestore.Part, 0, len(selected))
	for _, component := range selected {
		parts = append(parts, deployment.Component(component))
	}
	for name := range request.Config.Root.Variables {
		parts = append(parts, deployment.Variable(name, false))
	}
	return planfile.Limited(parts, deployment.Everything)
}

func (r *run) planAndSave(ctx context.Context, file string) (*stackplan.Plan, hcl.Diagnostics) {
	prepare := r.recovery.recover
	if r.req.Beside {
		prepare = func(ctx context.Context) hcl.Diagnostics { return Diagnostics(r.recovery.bindRuns(ctx)) }
	}
	diags := prepare(ctx)
	if diags.HasErrors() {
		return nil, diags
	}
	plan, moreDiags := r.plan(ctx)
	diags = diags.Extend(moreDiags)
	if plan != nil && r.req.Generate != "" { // also with errors, which may be about the blocks
		r.outcome.generated, moreDiags = generated.Write(r.req.Generate, plan)
		diags = diags.Extend(moreDiags)
	}
	if plan == nil || WasInterrupted(ctx) {
		return nil, r.interrupted(ctx, diags)
	}
	if err := r.caller.planned(plan, diags); err != nil {
		return plan, diags.Extend(Diagnostics(err))
	}
	if !diags.HasErrors() {
		diags = diags.Extend(r.judge(ctx, plan, diags))
	}
	if diags.HasErrors() || file == "" {
		return plan, diags
	}
	return plan, diags.Extend(Diagnostics(r.savePlan(ctx, file, plan)))
}

// savePlan saves the plan that was made.
func (r *run) savePlan(ctx context.Context, file string, plan *stackplan.Plan) error {
	keys, err := r.stack.env.Keys()
	if err != nil {
		return err
	}
	to := planfile.File{Path: file, CairnVersion: r.req.Version, Keys: keys}
	r.outcome.identity, err = planfile.Write(ctx, to, plan, r.target(ctx, r.stored))
	return err
}

// ReadPlan reads a saved plan, also one that a client of the RPC API has kept, and the context that
// it was made for.
func (s *Stack) ReadPlan(ctx context.Context, file string) (*stackplan.Plan, stackplan.FileContext, error) {
	keys, err := s.env.Keys()
	if err != nil {
		return nil, stackplan.FileContext{}, err
	}
	return planfile.Read(ctx, file, keys)
}
