// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
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
	req, err := o.request()
	if err != nil {
		return 0, err
	}
	ctx, stop := o.interruptible(ctx, func() string { return "Nothing will be lost: planning changes nothing." })
	defer stop()
	plan, diags := o.stack().Plan(ctx, req, o.caller(), out)
	if !diags.HasErrors() {
		o.view.next(plan, out)
	}
	status, err := o.finish(diags)
	if err == nil && status == exitOK && detailed && !plan.IsEmpty() {
		return exitChanges, nil
	}
	return status, err
}
