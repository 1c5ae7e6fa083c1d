// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/operation/planfile"
	"github.com/cairnstacks/cairn/internal/operation/variables"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Plan makes a plan and saves it in a file, unless the name of that is empty. Nothing is changed
// but by the recovery of applies that were cut off.
//
// The plan is nil if there is none; with errors it is incomplete, and not saved.
func (s *Stack) Plan(ctx context.Context, req Request, caller Caller, file string) (*stackplan.Plan, hcl.Diagnostics) {
	if file != "" {
		if err := planfile.CheckPath(file); err != nil {
			return nil, Diagnostics(err)
		}
	}
	r := s.newRun(planName, req, caller)
	diags := r.load(ctx, planName)
	diags = diags.Extend(variables.WarnUnread(s.dir, s.valueSources(req.Variables)))
	if !diags.HasErrors() {
		diags = diags.Extend(r.ask(ctx, variables.Missing(r.runtime.Config.Root.Variables, r.given), r.given))
	}
	if diags.HasErrors() {
		return nil, r.interrupted(ctx, diags)
	}
	take := s.lockToPlan
	if req.Beside {
		take = s.readBeside
	}
	stored, err := take(ctx)
	if err == nil && file != "" {
		err = stored.MaySavePlan()
	}
	if err != nil {
		return nil, diags.Extend(Diagnostics(err))
	}
	r.stored = stored
	diags = diags.Extend(stored.MayBeStale())
	plan, moreDiags := r.planAndSave(ctx, file)
	diags = diags.Extend(moreDiags)
	if err := r.stored.Unlock(ctx); err != nil {
		diags = diags.Extend(Diagnostics(err))
	}
	return plan, diags
}

func (r *run) planAndSave(ctx context.Context, file string) (*stackplan.Plan, hcl.Diagnostics) {
	prepare := r.recover
	if r.req.Beside {
		prepare = func(ctx context.Context) hcl.Diagnostics { return Diagnostics(r.bindRuns(ctx)) }
	}
	diags := prepare(ctx)
	if diags.HasErrors() {
		return nil, diags
	}
	plan, moreDiags := r.plan(ctx)
	diags = diags.Extend(moreDiags)
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
	if err := planfile.Write(file, plan, r.target(r.stored), r.req.Version); err != nil {
		return plan, diags.Extend(Diagnostics(err))
	}
	return plan, diags
}
