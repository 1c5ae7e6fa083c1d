// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/planfile"
	"github.com/cairnstacks/cairn/internal/operation/variables"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// applyFlags are the options of apply and destroy.
type applyFlags struct {
	planFlags
	autoApprove bool
}

// defaultRounds is enough for what is deferred for a good reason, and ends what is deferred for ever.
const defaultRounds = 10

func (o *applyFlags) register(f *flagSet) {
	o.planFlags.register(f)
	f.BoolVar(&o.autoApprove, "auto-approve", false, "do not ask before applying")
	o.maxRounds = defaultRounds
	f.Var(&o.maxRounds, "max-rounds", fmt.Sprintf("plan and apply at most `N` times while changes are deferred (default: %d)", defaultRounds))
	f.jsonFlag("write one JSON object a line; needs a plan file or -auto-approve")
}

func applyCommand() *command {
	var o applyFlags
	return &command{
		name:    "apply",
		args:    "[PLAN]",
		summary: "Carries out a plan: a saved one, or a new one after asking.",
		long: `
Components are applied in the order of their dependencies. What was done is saved as each component finishes. When
one fails, those that depend on it are skipped, and all others are still applied.`,
		example: "cairn apply\ncairn plan -out=stack.plan && cairn apply stack.plan",
		maxArgs: 1,
		flags: func(f *flagSet) {
			o.register(f)
			f.BoolVar(&o.destroy, "destroy", false, "destroy everything, like \"cairn destroy\"")
		},
		interruptible: true,
		run: func(ctx context.Context, s *session, args []string) (int, error) {
			name := "apply"
			if o.destroy {
				name = "destroy"
			}
			op := s.newExecution(name, &o.planFlags)
			if len(args) == 1 {
				return op.applySaved(ctx, args[0])
			}
			return op.applyNew(ctx, o.autoApprove)
		},
	}
}

func destroyCommand() *command {
	var o applyFlags
	return &command{
		name:          "destroy",
		summary:       "Destroys everything that the stack manages, after asking.",
		long:          "The same as \"cairn apply -destroy\". What depends on something else is destroyed before it.",
		example:       "cairn destroy",
		flags:         o.register,
		interruptible: true,
		run: func(ctx context.Context, s *session, _ []string) (int, error) {
			o.destroy = true
			return s.newExecution("destroy", &o.planFlags).applyNew(ctx, o.autoApprove)
		},
	}
}

// applyNew makes a plan, asks, and applies it.
func (o *execution) applyNew(ctx context.Context, autoApprove bool) (int, error) {
	if _, err := o.flags.mode(); err != nil {
		return 0, err
	}
	if !autoApprove && (o.options.json || !o.flags.input) {
		return 0, fail("Approval needed", "Without someone to ask, give -auto-approve, or the file of a plan that was looked at before.")
	}
	running := newProgressTracker()
	ctx, stop := o.interruptible(ctx, running.lost)
	defer stop()

	diags := o.load(ctx)
	diags = diags.Extend(variables.WarnUnread(".", o.flags.arguments))
	if !diags.HasErrors() {
		diags = diags.Extend(o.completeValues(ctx))
	}
	if diags.HasErrors() {
		return o.finish(o.interrupted(ctx, diags))
	}
	return o.withLock(ctx, diags, func() hcl.Diagnostics {
		diags := o.recover(ctx)
		if diags.HasErrors() {
			return diags
		}
		return diags.Extend(o.applyRounds(ctx, autoApprove, running))
	})
}

// completeValues asks for the values that an apply without a saved plan needs. Those that are not known must be before
// anything is planned, since what is planned is applied at once.
func (o *execution) completeValues(ctx context.Context) hcl.Diagnostics {
	declared := o.config.Root.Variables
	needed := slices.Concat(variables.Missing(declared, o.given), variables.Unknown(declared, o.given))
	diags := o.askMissing(ctx, needed, o.given)
	if diags.HasErrors() {
		return diags
	}
	planCommand := "\"cairn plan -out=FILE\""
	if o.flags.destroy {
		planCommand = "\"cairn plan -destroy -out=FILE\""
	}
	return diags.Extend(variables.RequireKnown(declared, o.given, planCommand))
}

// applyRounds plans and applies until nothing is deferred any more: what could not be planned in one round may
// be known after it.
func (o *execution) applyRounds(ctx context.Context, autoApprove bool, running *progressTracker) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for round := 1; ; round++ {
		o.round = round
		before := o.stored.Serial
		plan, moreDiags := o.applyRound(ctx, autoApprove, running)
		diags = diags.Extend(moreDiags)
		if diags.HasErrors() || plan.Complete {
			return diags
		}
		if err := o.stored.Reload(ctx); err != nil {
			return diags.Extend(asDiagnostics(err))
		}
		if o.stored.Serial == before || round == int(o.flags.maxRounds) {
			return diags.Append(stillDeferred())
		}
		o.view.nextRound()
	}
}

func stillDeferred() *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagWarning,
		Summary:  "Changes are still deferred",
		Detail: "The stack is not as the configuration says yet: what the last plan lists as deferred could not be planned. " +
			"Plan again when what it waits for is there.",
	}
}

// applyRound makes a plan, asks, and applies it. The plan is nil only with error diagnostics.
func (o *execution) applyRound(ctx context.Context, autoApprove bool, running *progressTracker) (*stackplan.Plan, hcl.Diagnostics) {
	plan, diags := o.plan(ctx)
	if plan == nil || wasInterrupted(ctx) {
		return plan, o.interrupted(ctx, diags)
	}
	if err := o.view.plan(plan); err != nil {
		return plan, diags.Extend(asDiagnostics(err))
	}
	if diags.HasErrors() {
		return plan, diags
	}
	if planEmpty(plan) && !dropsObjects(plan, o.stored.State) {
		return plan, diags.Extend(o.view.nothingDone(o.stored.State))
	}
	if autoApprove || planEmpty(plan) {
		o.view.paragraph()
		return plan, diags.Extend(o.apply(ctx, plan, o.given, running))
	}
	if err := o.report(diags); err != nil { // warnings are part of what is approved
		return plan, asDiagnostics(err)
	}
	if err := o.approve(ctx, plan); err != nil {
		return plan, asDiagnostics(err)
	}
	return plan, o.apply(ctx, plan, o.given, running)
}

// applySaved applies a plan file.
func (o *execution) applySaved(ctx context.Context, path string) (int, error) {
	if !o.flags.isDefault() {
		return 0, fail("Options contradict", "What a saved plan does was decided when it was made: "+
			"-destroy, -refresh-only, -refresh, -replace, -target and -exclude belong to \"cairn plan\".")
	}
	running := newProgressTracker()
	ctx, stop := o.interruptible(ctx, running.lost)
	defer stop()

	plan, made, err := planfile.Read(path)
	if err != nil {
		return 0, err
	}
	o.name = modeName(plan.Mode)
	o.view.operation = o.name
	diags := o.load(ctx)
	if diags.HasErrors() {
		return o.finish(o.interrupted(ctx, diags))
	}
	stored, err := o.stack().ReadState(ctx)
	if err == nil {
		err = o.target(stored).Check(plan, made)
	}
	if err != nil {
		return o.finish(diags.Extend(asDiagnostics(err)))
	}
	inputs := o.applyInputs(plan)
	diags = diags.Extend(o.askMissing(ctx, neededOnApply(plan, o.config, inputs), inputs))
	if !diags.HasErrors() {
		diags = diags.Extend(stackruntime.CheckInputs(ctx, stackruntime.ApplyRequest{
			Options: o.opts, Plan: plan, Prior: stored.State, Inputs: inputs.Values,
		}))
	}
	if diags.HasErrors() {
		return o.finish(o.interrupted(ctx, diags))
	}
	return o.withLock(ctx, diags, func() hcl.Diagnostics {
		// The state may have changed before it was locked.
		if err := o.target(o.stored).Check(plan, made); err != nil {
			return asDiagnostics(err)
		}
		recovered := o.stored.Serial
		diags := o.recover(ctx)
		if o.stored.Serial != recovered {
			diags = diags.Append(problem("Plan is stale", "What an earlier apply had done was recovered into the state, so this plan does not fit any more. "+
				"Make a new plan."))
		}
		if diags.HasErrors() {
			return diags
		}
		if planEmpty(plan) && !dropsObjects(plan, o.stored.State) {
			if !o.options.json {
				o.say("The plan changes nothing.\n")
			}
			diags = diags.Extend(o.view.nothingDone(o.stored.State))
		} else {
			diags = diags.Extend(o.apply(ctx, plan, inputs, running))
		}
		if !diags.HasErrors() && !plan.Complete {
			diags = diags.Append(stillDeferred())
		}
		return diags
	})
}

// neededOnApply returns the variables whose values a plan file needs but does not hold, sorted by name.
func neededOnApply(plan *stackplan.Plan, config *stackconfig.Config, inputs variables.Given) []*stackconfig.InputVariable {
	var needed []*stackconfig.InputVariable
	for _, name := range slices.Sorted(maps.Keys(plan.Inputs)) {
		declared := config.Root.Variables[name]
		value, given := inputs.Values[name]
		if plan.Inputs[name].NeededOnApply() && (!given || !value.IsWhollyKnown()) && declared != nil {
			needed = append(needed, declared)
		}
	}
	return needed
}

// withLock does something with the state locked, and reports everything.
func (o *execution) withLock(ctx context.Context, diags hcl.Diagnostics, do func() hcl.Diagnostics) (int, error) {
	stored, err := o.stack().LockState(ctx, statestore.LockRequest{Operation: o.name, Reserve: true})
	if err != nil {
		return o.finish(diags.Extend(asDiagnostics(err)))
	}
	o.stored = stored
	diags = diags.Extend(do())
	if err := o.stored.Unlock(ctx); err != nil && !o.unsaved { // of which the reason was said
		diags = diags.Extend(asDiagnostics(err))
	}
	return o.finish(diags)
}

// approve asks whether the plan is to be applied.
func (o *execution) approve(ctx context.Context, plan *stackplan.Plan) error {
	o.say("%s", approvalQuestion(modeName(plan.Mode)))
	answer, err := o.ask(ctx, "  Enter a value: ", false)
	switch {
	case wasInterrupted(ctx):
		return fail("Interrupted", "The question was not answered. %s", o.untouched())
	case err != nil:
		return fail("Approval needed", "The plan was not approved: %s. Answer \"yes\", or give -auto-approve. %s", err, o.untouched())
	case strings.TrimSpace(answer) != "yes":
		return fail("Not approved", "The plan was not approved. %s", o.untouched())
	}
	o.stdout("\n")
	return nil
}

// untouched says what has happened when the plan of a round is not carried out.
func (o *execution) untouched() string {
	if o.round > 1 {
		return "What was applied before it is done and saved, and the rest can be planned again at any time."
	}
	return "Nothing was changed."
}

func approvalQuestion(operation string) string {
	if operation == "destroy" {
		return "\nDo you really want to destroy everything that is shown above?\n" +
			"  There is no undo. Only \"yes\" will be accepted to confirm.\n\n"
	}
	return "\nDo you want to perform these actions?\n" +
		"  They will be carried out as described above. Only \"yes\" will be accepted to approve.\n\n"
}

// apply carries out a plan that was approved.
func (o *execution) apply(ctx context.Context, plan *stackplan.Plan, inputs variables.Given, running *progressTracker) hcl.Diagnostics {
	saver := deployment.NewSaver(o.stored, o.name)
	var result *stackruntime.ApplyResult
	var diags hcl.Diagnostics
	o.view.during(o.name, func(watch hooks.Hooks) {
		opts := o.opts
		opts.Hooks = o.logged(running.track(watch))
		result, diags = stackruntime.Apply(ctx, stackruntime.ApplyRequest{
			Options: opts,
			Plan:    plan,
			Prior:   o.stored.State,
			Inputs:  inputs.Values,
			Save:    saver.Save,
		})
	})
	if err := saver.Finish(ctx); err != nil {
		saved, moreDiags := o.rescueState(ctx, err, saver, result.State)
		o.unsaved = !saved
		// The reason is explained better by who has tried to save.
		diags = slices.DeleteFunc(diags, func(diag *hcl.Diagnostic) bool {
			_, notSaved := hcl.DiagnosticExtra[stackruntime.NotSaved](diag)
			return notSaved
		}).Extend(moreDiags)
	}
	diags = diags.Extend(saver.DiskFull())
	moreDiags := o.view.applied(plan, result, outcome{
		failed:      diags.HasErrors(),
		interrupted: wasInterrupted(ctx) && diags.HasErrors(), // else it came too late to keep anything from being done
		unsaved:     o.unsaved,
	})
	return diags.Extend(moreDiags)
}
