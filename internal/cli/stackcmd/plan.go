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
	var out, generate cmdline.File
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
			f.Var(&generate, "generate-config-out",
				"write resource blocks for objects that import blocks name, and that have none, to this new `FILE`")
			f.BoolVar(&detailed, "detailed-exitcode", false, "exit with 2 when there are changes, 0 when there are none")
			session.JSONFlag(f, "write one JSON object a line")
		},
		Interruptible: true,
		Run: func(ctx context.Context, s *session.Session, _ []string) (int, error) {
			op := NewExecution(s, "plan", &o)
			return op.runPlan(ctx, planFiles{string(out), string(generate)}, detailed)
		},
	}
}

// planFiles are those that a plan is to write; "" for none.
type planFiles struct {
	plan     string
	generate string // configuration of objects to import
}

// check refuses options that exclude each other.
func (f planFiles) check(flags *PlanFlags) error {
	switch {
	case f.generate == "":
		return nil
	case f.plan != "":
		return failure.Error("Conflicting options",
			"With -generate-config-out there is no -out: the modules lack the blocks that the plan is made with. Make another plan when they "+
				"have them.")
	case flags.destroy || flags.refreshOnly || len(flags.invoke) > 0:
		return failure.Error("Conflicting options",
			"Only ordinary plans import objects: -generate-config-out cannot be combined with -destroy, -refresh-only or -invoke.")
	}
	return nil
}

// ofOne refuses files of one deployment for several.
func (f planFiles) ofOne(all *chosen) error {
	names := strings.Join(all.Names(), ", ")
	switch {
	case f.plan != "":
		return failure.Error("Several deployments",
			"A plan file is that of one deployment, and this plans %s. Name one of them with -deployment.", names)
	case f.generate != "":
		return failure.Error("Several deployments", "Configuration is generated for the objects of one deployment, and this plans %s. Name one "+
			"of them with -deployment.", names)
	}
	return nil
}

func (o *Execution) runPlan(ctx context.Context, files planFiles, detailed bool) (int, error) {
	req, err := o.request()
	if err == nil {
		err = files.check(o.flags)
	}
	if err != nil {
		return 0, err
	}
	req.Generate = files.generate
	if all, err := o.chooseDeployments(); err != nil || all != nil {
		if err == nil {
			err = files.ofOne(all)
		}
		return o.runSeveral(ctx, all, severalRequest{Request: req, mode: "plan", detailed: detailed}, err)
	}
	ctx, stop := o.Interruptible(ctx, session.LooksOnly)
	defer stop()
	planned, diags := o.Stack().Plan(ctx, req, o.Caller(), files.plan)
	plan := planned.Plan
	switch {
	case files.generate != "":
		o.View.generated(files.generate, planned.Generated, diags)
	case !diags.HasErrors():
		o.View.next(planned, files.plan)
	}
	status, err := o.finish(diags)
	if err == nil && status == cmdline.ExitOK && detailed && !plan.IsEmpty() {
		return cmdline.ExitChanges, nil
	}
	return status, err
}
