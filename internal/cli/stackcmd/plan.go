// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"context"
	"strings"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
)

// PlanCommand returns the command that makes a plan.
func PlanCommand() *session.Command {
	var o PlanFlags
	var out cmdline.File
	var detailed bool
	return &session.Command{
		Name:    "plan",
		Summary: "Shows the changes that an apply would make to the whole stack.",
		Long: `
Plans all components at once; values that one component gets from another one which is not applied yet are
"(known after apply)". Nothing is changed.

Variables take their values from -var and -var-file, from CAIRN_VAR_name, and from TF_VAR_name, in this order.`,
		Example: "cairn plan -var=region=eu-west-1 -out=stack.plan\ncairn apply stack.plan",
		Flags: func(f *session.Flags) {
			o.register(f)
			f.BoolVar(&o.destroy, "destroy", false, "plan to destroy everything")
			f.Var(&out, "out", "save the plan in this `FILE`, to be applied as it is")
			f.BoolVar(&detailed, "detailed-exitcode", false, "exit with 2 when there are changes, 0 when there are none")
			session.JSONFlag(f, "write one JSON object a line")
		},
		Interruptible: true,
		Run: func(ctx context.Context, s *session.Session, _ []string) (int, error) {
			op := NewExecution(s, "plan", &o)
			return op.runPlan(ctx, string(out), detailed)
		},
	}
}

func (o *Execution) runPlan(ctx context.Context, out string, detailed bool) (int, error) {
	req, err := o.request()
	if err != nil {
		return 0, err
	}
	if all, err := o.chooseDeployments(); err != nil || all != nil {
		if out != "" && err == nil {
			err = failure.Error("Several deployments",
				"A plan file is that of one deployment, and this plans %s. Name one of them with -deployment.", strings.Join(all.Names(), ", "))
		}
		return o.runSeveral(ctx, all, severalRequest{Request: req, mode: "plan", detailed: detailed}, err)
	}
	ctx, stop := o.Interruptible(ctx, session.LooksOnly)
	defer stop()
	planned, diags := o.Stack().Plan(ctx, req, o.Caller(), out)
	plan := planned.Plan
	if !diags.HasErrors() {
		o.View.next(plan, out)
	}
	status, err := o.finish(diags)
	if err == nil && status == cmdline.ExitOK && detailed && !plan.IsEmpty() {
		return cmdline.ExitChanges, nil
	}
	return status, err
}
