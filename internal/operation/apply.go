// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/notice"
	"github.com/cairnstacks/cairn/internal/operation/planfile"
	"github.com/cairnstacks/cairn/internal/operation/variables"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// Apply plans, has the plan approved and applies it, in rounds until nothing is deferred any more:
// changes deferred in one round may become known after it.
func (s *Stack) Apply(ctx context.Context, req Request, caller Caller) (diags hcl.Diagnostics) {
	ctx, end := traced(ctx, s, nameOf(req.Mode))
	defer func() { end(diags) }()
	req.Generate = "" // a plan with blocks that the modules lack cannot be applied
	r := s.newRun(task{name: nameOf(req.Mode), req: req, caller: caller})
	diags = r.load(ctx, planName)
	diags = diags.Extend(variables.WarnUnread(s.env.Dir, s.valueSources(req.Variables)))
	if !diags.HasErrors() {
		diags = diags.Extend(r.values.complete(ctx))
	}
	if diags.HasErrors() {
		return r.interrupted(ctx, diags)
	}
	return diags.Extend(r.withLock(ctx, nil, func() hcl.Diagnostics {
		diags := r.recovery.recover(ctx)
		if diags.HasErrors() {
			return diags
		}
		return diags.Extend(r.applyRounds(ctx))
	}))
}

func (r *run) applyRounds(ctx context.Context) hcl.Diagnostics {
	rounds := r.req.Rounds
	switch {
	case r.req.Mode == engine.Invoke:
		rounds = 1 // another one would invoke the actions again
	case rounds == 0:
		rounds = DefaultRounds
	}
	var diags hcl.Diagnostics
	for round := 1; ; round++ {
		r.round = round
		before := r.stored.Serial
		plan, moreDiags := r.applyRound(ctx)
		diags = diags.Extend(moreDiags)
		if diags.HasErrors() || plan.Complete || r.outcome.waiting {
			return diags
		}
		if err := r.stored.Reload(ctx); err != nil {
			return diags.Extend(Diagnostics(err))
		}
		if r.stored.Serial == before || round == rounds {
			return diags.Append(stillDeferred())
		}
		if r.caller.NextRound != nil {
			r.caller.NextRound()
		}
		if diags = diags.Extend(r.values.refresh(ctx, planName)); diags.HasErrors() {
			return diags
		}
	}
}

func stillDeferred() *hcl.Diagnostic {
	return failure.Warning("Changes still deferred", "The stack is not as the configuration says yet: the changes that the last plan lists "+
		"as deferred could not be planned. "+
		"Plan again when the values that they wait for are known.")
}

// applyRound makes a plan, has it approved, and applies it. The plan is nil only with error
// diagnostics.
func (r *run) applyRound(ctx context.Context) (*stackplan.Plan, hcl.Diagnostics) {
	plan, diags := r.plan(ctx)
	if plan == nil || WasInterrupted(ctx) {
		return plan, r.interrupted(ctx, diags)
	}
	if err := r.caller.planned(plan, diags); err != nil {
		return plan, diags.Extend(Diagnostics(err))
	}
	if diags.HasErrors() {
		return plan, diags
	}
	if !changesState(plan, r.stored.State) {
		return plan, diags.Extend(r.unchanged(ctx))
	}
	if diags = diags.Extend(r.judge(ctx, plan, diags)); diags.HasErrors() {
		return plan, diags
	}
	if apply, moreDiags := r.decide(ctx, plan, diags); !apply {
		return plan, diags.Extend(moreDiags)
	}
	if diags = diags.Extend(r.values.refresh(ctx, applyName)); diags.HasErrors() {
		return plan, diags
	}
	if r.caller.Applying != nil {
		r.caller.Applying()
	}
	return plan, diags.Extend(r.apply(ctx, plan, r.values.given))
}

// unchanged ends an apply that has nothing to apply. The records that the state keeps besides
// components may be new nevertheless.
func (r *run) unchanged(ctx context.Context) hcl.Diagnostics {
	defer r.publishing()()
	records, diags := r.keptRecords(ctx, r.stored, r.stored.State)
	if len(records) > 0 && !diags.HasErrors() {
		diags = diags.Extend(Diagnostics(r.stored.Write(ctx, publishName, records)))
	}
	return diags.Extend(r.tellUnchanged(false))
}

// tellUnchanged tells the caller that there was nothing to apply, and whether that is because all
// was applied before.
func (r *run) tellUnchanged(before bool) hcl.Diagnostics {
	if r.caller.Unchanged == nil {
		return nil
	}
	return Diagnostics(r.caller.Unchanged(r.stored.State, before))
}

// ApplySaved applies a plan that was read from a file, with the context that it was made for. Of
// the request, only values of variables, the number of components at a time and the accepted
// recovery count.
func (s *Stack) ApplySaved(ctx context.Context, plan *stackplan.Plan, made stackplan.FileContext, req Request,
	caller Caller,
) (diags hcl.Diagnostics) {
	ctx, end := traced(ctx, s, nameOf(plan.Mode))
	defer func() { end(diags) }()
	r := s.forPlan(plan, made).newSaved(plan, task{name: nameOf(plan.Mode), req: req, caller: caller, saved: made.Identity})
	r.outcome.approvedBy = cmp.Or(req.ApprovedBy, BySavedPlan)
	stored, diags := r.loadSaved(ctx, plan, made)
	if diags.HasErrors() {
		return r.interrupted(ctx, diags)
	}
	if stored.HasDone(made.Identity) {
		r.stored = stored
		return diags.Extend(r.tellUnchanged(true))
	}
	inputs := r.applyInputs(plan)
	diags = diags.Extend(r.warnOtherValues(plan, inputs))
	diags = diags.Extend(r.values.ask(ctx, neededOnApply(plan, r.runtime.Config, inputs), inputs))
	if !diags.HasErrors() {
		diags = diags.Extend(stackruntime.CheckInputs(ctx, stackruntime.ApplyRequest{
			Options: r.runtime, Plan: plan, Prior: stored.State, Inputs: inputs.Values, LeaveUnknown: plan.LeavesUnknown(),
		}))
	}
	if diags.HasErrors() {
		return r.interrupted(ctx, diags)
	}
	parts := planfile.Parts(plan, stored.State)
	return diags.Extend(r.withLock(ctx, parts, func() hcl.Diagnostics { return r.applyFitting(ctx, plan, made, inputs) }))
}

// newSaved is [Stack.newRun] for a saved plan.
func (s *Stack) newSaved(plan *stackplan.Plan, t task) *run {
	if plan.Mode == engine.Destroy {
		t.req.Mode = engine.Destroy // by which inputs are evaluated
	}
	return s.newRun(t)
}

// CheckSaved reports whether [Stack.ApplySaved] would find that a plan does not fit, as far as that
// can be known without the values of variables that were not known while planning. Nothing is done.
func (s *Stack) CheckSaved(ctx context.Context, plan *stackplan.Plan, made stackplan.FileContext, req Request) hcl.Diagnostics {
	r := s.forPlan(plan, made).newSaved(plan, task{name: applyName, req: req, saved: made.Identity, notYet: true})
	_, diags := r.loadSaved(ctx, plan, made)
	return r.interrupted(ctx, diags)
}

// Unfit returns why a saved plan of a stack does not fit the configuration, the engine or the state
// any more; nil if it fits, or was applied. It is for looks at many plans: nothing is installed,
// and no value is asked for.
//
// Errors: the reason why that cannot be known, as where a package of the stack is not installed.
func Unfit(ctx context.Context, s *Stack, plan *stackplan.Plan, made stackplan.FileContext) (reason, err error) {
	r := s.forPlan(plan, made).newSaved(plan, task{name: applyName, saved: made.Identity})
	stored, diags := loadTarget(ctx, r)
	if diags.HasErrors() || stored.HasDone(made.Identity) {
		return nil, failure.AsError(diags)
	}
	return r.target(ctx, stored).Check(plan, made), nil
}

// applyFitting applies a saved plan, with the state locked. That may have changed before it was.
func (r *run) applyFitting(ctx context.Context, plan *stackplan.Plan, made stackplan.FileContext, inputs variables.Given) hcl.Diagnostics {
	if err := r.target(ctx, r.stored).Check(plan, made); err != nil {
		return Diagnostics(err)
	}
	before := r.stored.Serial
	diags := r.recovery.recover(ctx)
	diags = diags.Extend(r.values.checkStable(r.stored))
	progress := r.progress()
	if r.stored.Serial != before && progress == nil && r.target(ctx, r.stored).Check(plan, made) != nil {
		diags = diags.Append(planfile.Stale("The work of an earlier apply was recovered into the state, so this plan does not fit any more. " +
			"Make a new plan."))
	}
	if !diags.HasErrors() && !r.stored.Lock().MayChange(stackruntime.Writes(plan, r.stored.State)...) {
		diags = diags.Append(planfile.Stale("The state has changed while this plan was about to be applied, so that other components would be " +
			"changed than those that were locked. Nothing was done. Apply the plan again."))
	}
	if diags.HasErrors() {
		return diags
	}
	if len(progress) > 0 {
		r.stack.env.Notify.Send(notice.Resuming{
			Done: progress.Count(stackplan.Done), Begun: progress.Count(stackplan.Begun),
			Of: countChanged(plan),
		})
	}
	if changesState(plan, r.stored.State) {
		diags = diags.Extend(r.apply(ctx, plan, inputs))
	} else {
		diags = diags.Extend(r.unchanged(ctx))
	}
	if !diags.HasErrors() && !plan.Complete {
		diags = diags.Append(stillDeferred())
	}
	return diags
}

// progress returns how far earlier applies of the saved plan have come; nil if there was none, or
// if it had done nothing.
func (r *run) progress() stackplan.Progress {
	if r.saved == "" {
		return nil
	}
	return r.stored.Begun[r.saved]
}

// countChanged returns the number of component instances that the engine has something to do with.
func countChanged(plan *stackplan.Plan) int {
	n := 0
	for _, c := range plan.Components {
		if len(c.EnginePlan) > 0 {
			n++
		}
	}
	return n
}

// neededOnApply returns the variables whose values a plan file needs but does not hold, sorted by
// name.
func neededOnApply(plan *stackplan.Plan, config *stackconfig.Config, inputs variables.Given) []*stackconfig.InputVariable {
	var needed []*stackconfig.InputVariable
	for _, name := range slices.Sorted(maps.Keys(plan.Inputs)) {
		declared := config.Root.Variables[name]
		value, given := inputs.Values[name]
		if plan.LeavesUnknown() && !plan.Inputs[name].RequiredOnApply {
			continue
		}
		if plan.Inputs[name].NeededOnApply() && (!given || !value.IsWhollyKnown()) && declared != nil {
			needed = append(needed, declared)
		}
	}
	return needed
}

// applyInputs are the values to apply a plan file with: those of ephemeral variables, those that
// were not known while planning, and those given by an option.
func (r *run) applyInputs(plan *stackplan.Plan) variables.Given {
	inputs := variables.Given{Values: maps.Clone(r.values.given.Values), Explicit: r.values.given.Explicit, Unknown: r.values.given.Unknown}
	for name := range r.values.given.Values {
		declared, planned := r.runtime.Config.Root.Variables[name], plan.Inputs[name]
		if !declared.Ephemeral && !r.values.given.Explicit[name] && (planned == nil || !planned.IsUnknown()) {
			delete(inputs.Values, name)
		}
	}
	return inputs
}

// warnOtherValues warns of values in the environment that a plan file is applied without, because
// it holds others.
func (r *run) warnOtherValues(plan *stackplan.Plan, inputs variables.Given) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, name := range slices.Sorted(maps.Keys(r.values.given.Environment)) {
		planned := plan.Inputs[name]
		if _, used := inputs.Values[name]; used || planned == nil {
			continue
		}
		value, _ := r.values.given.Values[name].UnmarkDeep()
		held, _ := planned.After.UnmarkDeep()
		if value.RawEquals(held) || value.IsNull() { // null may stand for a default
			continue
		}
		diags = diags.Append(failure.Warning("Value differs from the plan",
			"The environment variable %s gives var.%s another value than the plan was made with. The plan is applied as it is, without that "+
				"value. To use it, make a new plan.", r.values.given.Environment[name], name))
	}
	return diags
}

// withLock does something with parts of the state locked; none stands for the whole state.
func (r *run) withLock(ctx context.Context, parts []statestore.Part, do func() hcl.Diagnostics) hcl.Diagnostics {
	stored, err := r.stack.states.Lock(ctx, statestore.LockRequest{Operation: r.name, Reserve: true, Parts: parts})
	if err != nil {
		return Diagnostics(err)
	}
	r.stored = stored
	diags := do()
	if err := r.stored.Unlock(ctx); err != nil && !r.outcome.unsaved { // of which the reason was said
		diags = diags.Extend(Diagnostics(err))
	}
	return diags
}

// apply carries out a plan that was approved.
func (r *run) apply(ctx context.Context, plan *stackplan.Plan, inputs variables.Given) hcl.Diagnostics {
	saver := deployment.NewSaver(r.stored, r.cause().String(), r.saved)
	if err := r.recovery.record(ctx, saver, countChanged(plan)); err != nil {
		return Diagnostics(err)
	}
	var result *stackruntime.ApplyResult
	var diags hcl.Diagnostics
	r.caller.during(r.name, func(watch hooks.Hooks) {
		runtime := r.named()
		runtime.Hooks, runtime.Session = tracedHooks(ctx, applyName, r.logged(watch)), r.recovery.session(runtime.Session, saver)
		result, diags = stackruntime.Apply(ctx, stackruntime.ApplyRequest{
			Options: runtime,
			Plan:    plan,
			Prior:   r.stored.State,
			Inputs:  inputs.Values,
			Save:    saver.Save,

			LeaveUnknown: plan.LeavesUnknown(),

			SavesTogether: true,

			Progress: r.progress(),
		})
	})
	ending := &ending{run: r, plan: plan, inputs: inputs, after: result.State, failed: diags.HasErrors()}
	if !ending.failed {
		saver.EndPlan()
	}
	err := ending.finish(ctx, saver)
	diags = diags.Extend(ending.diags)
	if err != nil {
		saved, moreDiags := r.rescueState(ctx, err, saver, result.State)
		r.outcome.unsaved = !saved
		diags = withoutNotSaved(diags).Extend(moreDiags)
	}
	if !r.outcome.unsaved {
		diags = diags.Extend(Diagnostics(r.recovery.forgetRecord(ctx)))
	}
	diags = diags.Extend(saver.DiskFull())
	if r.caller.Applied == nil {
		return diags
	}
	return diags.Extend(Diagnostics(r.caller.Applied(Applied{
		Plan: plan, Result: result,
		Failed: diags.HasErrors(), Interrupted: WasInterrupted(ctx) && diags.HasErrors(), Unsaved: r.outcome.unsaved,
		InDoubt: slices.ContainsFunc(diags, isInDoubt),
	})))
}

func isInDoubt(diag *hcl.Diagnostic) bool {
	data, ok := hcl.DiagnosticExtra[*engine.DiagnosticData](diag)
	return ok && len(data.InDoubt) > 0
}

// withoutNotSaved leaves out the evaluator's reports of changes that were not saved: the saver
// knows more of the reason.
func withoutNotSaved(diags hcl.Diagnostics) hcl.Diagnostics {
	return slices.DeleteFunc(diags, func(diag *hcl.Diagnostic) bool {
		_, notSaved := hcl.DiagnosticExtra[fault.NotSaved](diag)
		return notSaved
	})
}

// changesState reports whether applying a plan changes anything, if only the state.
func changesState(plan *stackplan.Plan, state *stackstate.State) bool {
	return !plan.IsEmpty() || changesInputs(plan) || dropsObjects(plan, state)
}

// changesInputs reports whether the state is to have other values of root variables, also of those
// that no component uses.
func changesInputs(plan *stackplan.Plan) bool {
	for _, input := range plan.Inputs {
		if input.Action != stackplan.NoOp && !input.RequiredOnApply {
			return true
		}
	}
	return false
}

// dropsObjects reports whether a plan, though it may change nothing, takes objects out of the
// state: data sources that a module no longer has, and resources that both the module and the world
// have lost.
func dropsObjects(plan *stackplan.Plan, state *stackstate.State) bool {
	return slices.ContainsFunc(plan.Components, func(c *stackplan.Component) bool {
		prior := state.Components[c.Addr]
		if prior == nil || len(c.EnginePlan) > 0 || len(c.RefreshedState) == 0 {
			return false
		}
		before, err := tfstate.ParseObjects(prior.Module)
		if err != nil {
			return false // the plan could not have been made
		}
		after, err := tfstate.ParseObjects(c.RefreshedState)
		if err != nil {
			return false
		}
		type object struct {
			addr    stackaddrs.ResourceInstance
			deposed stackaddrs.DeposedKey
		}
		kept := make(map[object]bool, len(after))
		for _, o := range after {
			kept[object{o.Addr, o.Deposed}] = true
		}
		return slices.ContainsFunc(before, func(o tfstate.Object) bool { return !kept[object{o.Addr, o.Deposed}] })
	})
}
