// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/operation/planfile"
	"github.com/cairnstacks/cairn/internal/operation/variables"
)

func planCommand() *command {
	var o planFlags
	var out fileValue
	var detailed bool
	return &command{
		name:    "plan",
		summary: "Shows what an apply would do to the whole stack.",
		long: `
Plans all components at once; values that one component gets from another one which is not applied yet are
"(known after apply)". Nothing is changed.

Variables take their values from -var and -var-file, from CAIRN_VAR_name, and from TF_VAR_name, in this order.`,
		example: "cairn plan -var=region=eu-west-1 -out=stack.plan\ncairn apply stack.plan",
		flags: func(f *flagSet) {
			o.register(f)
			f.BoolVar(&o.destroy, "destroy", false, "plan to destroy everything")
			f.Var(&out, "out", "save the plan in this `FILE`, to be applied as it is")
			f.BoolVar(&detailed, "detailed-exitcode", false, "exit with 2 when there are changes, 0 when there are none")
			f.jsonFlag("write one JSON object a line")
		},
		interruptible: true,
		run: func(ctx context.Context, s *session, _ []string) (int, error) {
			op := s.newExecution("plan", &o)
			return op.runPlan(ctx, string(out), detailed)
		},
	}
}

func (o *execution) runPlan(ctx context.Context, out string, detailed bool) (int, error) {
	if _, err := o.flags.mode(); err != nil {
		return 0, err
	}
	if out != "" {
		if err := planfile.CheckPath(out); err != nil {
			return 0, err
		}
	}
	ctx, stop := o.interruptible(ctx, func() string { return "Nothing will be lost: planning changes nothing." })
	defer stop()

	diags := o.load(ctx)
	diags = diags.Extend(variables.WarnUnread(".", o.flags.arguments))
	if !diags.HasErrors() {
		diags = diags.Extend(o.askMissing(ctx, variables.Missing(o.config.Root.Variables, o.given), o.given))
	}
	if diags.HasErrors() {
		return o.finish(o.interrupted(ctx, diags))
	}
	stored, err := o.stack().LockToPlan(ctx)
	if err == nil && out != "" {
		err = stored.MaySavePlan()
	}
	if err != nil {
		return o.finish(diags.Extend(asDiagnostics(err)))
	}
	o.stored = stored
	diags = diags.Extend(stored.MayBeStale())
	status, moreDiags := o.planAndShow(ctx, out, detailed)
	diags = diags.Extend(moreDiags)
	if err := o.stored.Unlock(ctx); err != nil {
		diags = diags.Extend(asDiagnostics(err))
	}
	if code, err := o.finish(diags); err != nil || code != exitOK {
		return code, err
	}
	return status, nil
}

func (o *execution) planAndShow(ctx context.Context, out string, detailed bool) (int, hcl.Diagnostics) {
	diags := o.recover(ctx)
	if diags.HasErrors() {
		return exitError, diags
	}
	plan, moreDiags := o.plan(ctx)
	diags = diags.Extend(moreDiags)
	if plan == nil || wasInterrupted(ctx) {
		return exitError, o.interrupted(ctx, diags)
	}
	if err := o.view.plan(plan); err != nil {
		return exitError, diags.Extend(asDiagnostics(err))
	}
	if diags.HasErrors() {
		return exitError, diags
	}
	if out != "" {
		if err := planfile.Write(out, plan, o.target(o.stored), version()); err != nil {
			return exitError, diags.Extend(asDiagnostics(err))
		}
	}
	o.view.next(plan, out)
	if detailed && !planEmpty(plan) {
		return exitChanges, diags
	}
	return exitOK, diags
}
