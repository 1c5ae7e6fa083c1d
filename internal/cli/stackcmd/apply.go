// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"context"
	"fmt"

	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/views/eventtext"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// applyFlags are the options of apply and destroy.
type applyFlags struct {
	PlanFlags
	autoApprove bool
	later       bool // save plans that no rule approves
}

func (o *applyFlags) register(f *session.Flags) {
	o.PlanFlags.register(f)
	f.BoolVar(&o.autoApprove, "auto-approve", false, "do not ask before applying")
	f.Only(&o.later, "approve", "later",
		"`later` asks nothing: plans that no rule approves are saved, to be applied when they were looked at; exit code 3")
	o.maxRounds = operation.DefaultRounds
	f.Var(&o.maxRounds, "max-rounds",
		fmt.Sprintf("plan and apply at most `N` times while changes are deferred (default: %d)", operation.DefaultRounds))
	session.JSONFlag(f, "write one JSON object a line; needs a plan file or -auto-approve")
}

// ApplyCommand returns the command that applies a plan, or plans and applies.
func ApplyCommand() *session.Command {
	var o applyFlags
	return &session.Command{
		Name:    "apply",
		Args:    "[PLAN]",
		Summary: "Carries out a plan: a saved one, or a new one after asking.",
		Long: `
Components are applied in the order of their dependencies. Results are saved as each component finishes. When
one fails, those that depend on it are skipped, and all others are still applied.`,
		Example: "cairn apply\ncairn plan -out=stack.plan && cairn apply stack.plan",
		MaxArgs: 1,
		Flags: func(f *session.Flags) {
			o.register(f)
			f.BoolVar(&o.destroy, "destroy", false, "destroy everything, like \"cairn destroy\"")
		},
		Interruptible: true,
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			name := "apply"
			if o.destroy {
				name = "destroy"
			}
			op := NewExecution(s, name, &o.PlanFlags)
			if len(args) == 1 && o.later {
				return 0, failure.Error("Conflicting options",
					"A saved plan is approved by being applied: -approve=later is for new plans. Leave one of the two out.")
			}
			if len(args) == 1 {
				return op.applySaved(ctx, args[0])
			}
			return op.applyNew(ctx, &o)
		},
	}
}

// DestroyCommand returns the command that destroys all objects of the stack.
func DestroyCommand() *session.Command {
	var o applyFlags
	return &session.Command{
		Name:          "destroy",
		Summary:       "Destroys everything that the stack manages, after asking.",
		Long:          "The same as \"cairn apply -destroy\". Dependents are destroyed before their dependencies.",
		Example:       "cairn destroy",
		Flags:         o.register,
		Interruptible: true,
		Run: func(ctx context.Context, s *session.Session, _ []string) (int, error) {
			o.destroy = true
			return NewExecution(s, "destroy", &o.PlanFlags).applyNew(ctx, &o)
		},
	}
}

// applyNew makes a plan, asks, and applies it.
func (o *Execution) applyNew(ctx context.Context, flags *applyFlags) (int, error) {
	req, err := o.request()
	if err != nil {
		return 0, err
	}
	if flags.autoApprove && flags.later {
		return 0, failure.Error("Conflicting options",
			"The options -auto-approve and -approve=later exclude each other: give one of them.")
	}
	o.autoApprove, req.ApproveLater = flags.autoApprove, flags.later
	if all, err := o.chooseDeployments(); err != nil || all != nil {
		return o.runSeveral(ctx, all, severalRequest{Request: req, mode: o.View.operation, autoApprove: o.autoApprove}, err)
	}
	if !flags.autoApprove && !req.ApproveLater && o.asksNobody() {
		// Without rules, planning would lead to nothing.
		if config, diags := o.Stack().Sources().Deployments(); config == nil && !diags.HasErrors() {
			return o.finish(operation.Diagnostics(errNobody()))
		}
	}
	ctx, stop := o.Interruptible(ctx, o.Running.InFlight())
	defer stop()
	return o.finish(o.Stack().Apply(ctx, req, o.Caller()))
}

// applySaved applies a plan file.
func (o *Execution) applySaved(ctx context.Context, path string) (int, error) {
	if !o.flags.isDefault() {
		return 0, failure.Error("Conflicting options", "The actions of a saved plan were decided when it was made: "+
			"-destroy, -refresh-only, -refresh, -replace, -target and -exclude belong to \"cairn plan\".")
	}
	req, err := o.request()
	if err != nil {
		return 0, err
	}
	switch given := o.Options.Deployments; {
	case len(given) > 1:
		return 0, failure.Error("Conflicting options", "A saved plan is that of one deployment: give -deployment once, or leave it out.")
	case len(given) == 1:
		o.ChooseDeployment(given[0])
	}
	ctx, stop := o.Interruptible(ctx, o.Running.InFlight())
	defer stop()
	plan, made, err := o.Stack().ReadPlan(ctx, path)
	if err != nil {
		return 0, err
	}
	o.View.operation, o.View.planFile = modeName(plan.Mode), path
	caller := o.Caller()
	caller.Unchanged = o.SavedChangesNothing
	return o.finish(o.Stack().ApplySaved(ctx, plan, made, req, caller))
}

// SavedChangesNothing says that there was nothing to do by a saved plan, which changes nothing or
// was applied before.
func (o *Execution) SavedChangesNothing(state *stackstate.State, before bool) error {
	switch {
	case o.Options.JSON && before:
		o.View.begin()
		o.View.events.AlreadyApplied()
	case before:
		o.Say("%s\n", eventtext.AlreadyApplied)
	case !o.Options.JSON:
		o.Say("The plan changes nothing.\n")
	}
	return failure.AsError(o.View.nothingDone(state))
}

// modeName names the operation of a plan.
func modeName(mode engine.Mode) string {
	if mode == engine.Destroy {
		return "destroy"
	}
	return "apply"
}
