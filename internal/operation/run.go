// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/deployments/approval"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/planfile"
	"github.com/cairnstacks/cairn/internal/operation/variables"
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

// The names of operations, as locks and the history have them. The first two are those of phases,
// too.
const (
	planName    = deployment.Plan
	applyName   = "apply"
	destroyName = "destroy"
	publishName = "publish"
)

// run is an operation that plans or applies, while it is carried out.
type run struct {
	*Stack
	req    Request
	caller Caller
	name   string // planName, applyName or destroyName

	runtime stackruntime.Options
	given   variables.Given
	inputs  *inputs // of the deployment; nil without deployment files
	stored  *deployment.Stored
	answers map[string]cty.Value // values of variables that were asked for
	calls   int                  // of the runtime
	round   int                  // of an apply, from 1; 0 with a saved plan
	saved   string               // identity of the saved plan that is applied; "" for none

	judged     approval.Judgement // of the latest plan
	approvedBy string             // for the history; "" where nobody has said
	notYet     bool               // published values of upstream stacks are not asked for
	waiting    bool               // the latest plan waits for approval

	unsaved bool   // changes are not in the state
	secret  []byte // of the state, by which it knows applies
}

func (s *Stack) newRun(name string, req Request, caller Caller) *run {
	s.acceptRecovery, s.parallelism = req.AcceptRecovery, req.Parallelism
	return &run{Stack: s, name: name, req: req, caller: caller, answers: map[string]cty.Value{}}
}

// load gets the values of a phase, "plan" or "apply", and the engine for them. All mistakes are
// reported together, except that no engine is asked, and nothing installed, where the values have
// some.
func (r *run) load(ctx context.Context, phase string) hcl.Diagnostics {
	given := r.loadGiven(ctx, phase)
	if given.HasErrors() {
		return given.Extend(r.mistakes(ctx))
	}
	runtime, diags := r.loadRuntime(ctx)
	r.runtime = runtime
	if !diags.HasErrors() {
		given = given.Extend(r.renewInputs(ctx, phase))
	}
	return diags.Extend(given)
}

// loadGiven reads and checks all values for the stack: the block of the deployment, the sources of
// its inputs, and the values of variables. None of it needs an engine. Mistakes in the
// configuration itself are reported by [Stack.loadRuntime], or by [run.mistakes] where that is not
// reached.
func (r *run) loadGiven(ctx context.Context, phase string) hcl.Diagnostics {
	config, found := r.config()
	if config != nil && (len(config.Files) > 0 || !found.HasErrors()) {
		r.runtime.Config = config
	}
	diags := r.loadDeployment(ctx)
	if !found.HasErrors() && !diags.HasErrors() {
		diags = diags.Extend(r.takeInputs(ctx, phase))
	}
	if r.runtime.Config != nil {
		diags = diags.Extend(r.readValues())
	}
	if !found.HasErrors() && !diags.HasErrors() {
		if moreDiags := r.checkValues(ctx); moreDiags.HasErrors() { // the plan has the warnings
			diags = diags.Extend(moreDiags)
		}
	}
	return diags
}

// checkValues reports the variables that have no value, and the values that validation rules
// reject. Those that somebody is asked for later count as given.
func (r *run) checkValues(ctx context.Context) hcl.Diagnostics {
	if r.opts.ModulesEngine != nil {
		return nil // there is nothing to install before the plan, which reports the same
	}
	values := maps.Clone(r.given.Values)
	if r.caller.Value != nil {
		for _, missing := range variables.Missing(r.runtime.Config.Root.Variables, r.given) {
			values[missing.Name] = cty.DynamicVal
		}
	}
	return stackruntime.CheckPlanInputs(ctx, stackruntime.PlanRequest{Options: r.withoutProviders(r.runtime.Config), Mode: r.req.Mode, Inputs: values})
}

// mistakes returns those of the configuration that show without an engine.
func (r *run) mistakes(ctx context.Context) hcl.Diagnostics {
	config, diags := r.config()
	if r.runtime.Config == nil {
		return diags
	}
	if unsupported := r.unsupportedModules(ctx, config); unsupported.HasErrors() {
		return diags.Extend(unsupported)
	}
	return diags.Extend(r.checkSources(ctx, config))
}

// CheckGiven finds mistakes in the values that the deployment has for a plan, without installing
// anything. The values fetched for it are used by the plan that follows, on this stack or on one
// that is [Options.Like] it. The caller is that of the plan, and is not asked yet.
func (s *Stack) CheckGiven(ctx context.Context, req Request, caller Caller) hcl.Diagnostics {
	r := s.newRun(planName, req, caller)
	diags := r.loadGiven(ctx, planName)
	if !diags.HasErrors() {
		return nil // the plan has the warnings
	}
	return diags.Extend(r.mistakes(ctx))
}

// loadSaved is [run.load] for a saved plan. That is compared before values are asked for: in
// another checkout, states that they come from may be as far away as that of the plan.
func (r *run) loadSaved(ctx context.Context, plan *stackplan.Plan, made stackplan.FileContext) (*deployment.Stored, hcl.Diagnostics) {
	if plan.Mode == engine.Destroy {
		r.req.Mode = engine.Destroy // by which inputs are evaluated
	}
	runtime, diags := r.loadRuntime(ctx)
	r.runtime = runtime
	if diags = diags.Extend(r.loadDeployment(ctx)); diags.HasErrors() {
		return nil, diags
	}
	stored, err := r.ReadState(ctx)
	if err == nil && stored.HasDone(made.Identity) {
		return stored, diags
	}
	if err == nil {
		err = r.target(stored).Check(plan, made)
	}
	if err != nil {
		return nil, diags.Extend(Diagnostics(err))
	}
	diags = diags.Extend(r.evaluateInputs(ctx, applyName))
	return stored, diags.Extend(r.readValues())
}

// readValues reads the values of variables, by all sources. Those that were asked for stay.
func (r *run) readValues() hcl.Diagnostics {
	sources := r.valueSources(r.req.Variables)
	if r.inputs != nil {
		sources.Inputs = r.inputs.values
	}
	given, diags := variables.Read(r.runtime.Config.Root.Variables, sources, r.opts.Files)
	for name, value := range r.answers {
		given.Set(name, value)
	}
	r.given = given
	return diags
}

// ask asks for values, where there is someone to ask. Where there is nobody, the evaluator reports
// all that are missing.
func (r *run) ask(ctx context.Context, needed []*stackconfig.InputVariable, given variables.Given) hcl.Diagnostics {
	if r.caller.Value == nil {
		return nil
	}
	var diags hcl.Diagnostics
	for _, declared := range needed {
		value, moreDiags := r.caller.Value(ctx, declared)
		diags = diags.Extend(moreDiags)
		if moreDiags.HasErrors() {
			return diags
		}
		given.Set(declared.Name, value)
		r.answers[declared.Name] = value
	}
	return diags
}

// plan makes a plan on the stored state.
func (r *run) plan(ctx context.Context) (*stackplan.Plan, hcl.Diagnostics) {
	if diags := r.checkStable(); diags.HasErrors() {
		return nil, diags
	}
	var plan *stackplan.Plan
	var diags hcl.Diagnostics
	r.caller.during(planName, func(watch hooks.Hooks) {
		runtime := r.named()
		runtime.Hooks = r.logged(watch)
		plan, diags = stackruntime.Plan(ctx, stackruntime.PlanRequest{
			Options:     runtime,
			Mode:        r.req.Mode,
			Inputs:      r.given.Values,
			Prior:       r.stored.State,
			SkipRefresh: r.req.SkipRefresh,
			Replace:     r.req.Replace,
			Targets:     r.req.Targets,
			Excludes:    r.req.Excludes,
		})
	})
	if !WasInterrupted(ctx) {
		diags = diags.Extend(r.otherMistakes(ctx, r.runtime, diags))
	}
	if plan != nil && plan.Mode == engine.Destroy && isEmpty(r.stored.State) {
		plan.Components = nil // they are to be destroyed, but nothing of them exists
	}
	if len(r.req.Targets)+len(r.req.Excludes) > 0 && !diags.HasErrors() {
		diags = diags.Append(failure.WithCode(CodePartial, failure.Warning("Partial plan of the stack",
			"What is left out stays as it is, and root outputs may be out of date. This is for getting out of trouble; plan the whole stack after it.")))
	}
	if plan == nil {
		return nil, diags
	}
	plan.Reason = r.engines.Reason()
	return plan, diags.Extend(r.nothingToReplace(r.stored.State.Renamed(plan.Moved)))
}

// named returns the options for one call of the runtime. The operation has the name of the lock,
// which the store has recorded before anything is begun: a program that takes over the lock knows
// by it which work may be unfinished. A state that is not locked has nothing recorded, and the
// runtime makes up a name.
func (r *run) named() stackruntime.Options {
	runtime := r.runtime
	if id := r.stored.LockID(); id != "" {
		r.calls++
		runtime.Operation = fmt.Sprintf("%s/%d", id, r.calls)
	}
	return runtime
}

// CodePartial is of a plan that leaves components out, as the caller has asked.
const CodePartial fault.Code = "operation/partial-plan"

// nothingToReplace warns of resource instances to replace that the state does not have.
func (r *run) nothingToReplace(state *stackstate.State) hcl.Diagnostics {
	var diags hcl.Diagnostics
	warn := func(detail string, args ...any) {
		diags = diags.Append(failure.Warning("No resource to replace", detail, args...))
	}
	for _, addr := range slices.SortedFunc(maps.Keys(r.req.Replace), stackaddrs.AbsComponentInstance.Compare) {
		component := state.Components[addr]
		if component == nil {
			warn("A resource of %s is to be replaced, which the state does not have.", addr)
			continue
		}
		objects, err := tfstate.ParseObjects(component.Module)
		if err != nil {
			continue // planning reports the mistake
		}
		known := make([]string, len(objects))
		for i, object := range objects {
			known[i] = object.Addr.String()
		}
		for _, resource := range r.req.Replace[addr] {
			if !slices.Contains(known, resource) {
				warn("%s.%s is to be replaced, which the state does not have.%s",
					addr, resource, nearest.DidYouMeanBelow(addr.String()+".", resource, known))
			}
		}
	}
	return diags
}

// target is the target that a plan is made for, and applied to.
func (r *run) target(stored *deployment.Stored) planfile.Target {
	target := r.PlanTarget(r.runtime)
	target.Deployment, target.Lineage, target.Serial, target.State = stored.Deployment, stored.Lineage, stored.Serial, stored.State
	target.StateFile = planfile.StatePlace(r.StateFile())
	if stored.Begun != nil {
		target.Begun = stored.Begun.Plan
	}
	return target
}

func isEmpty(state *stackstate.State) bool {
	return len(state.Components) == 0 && len(state.Inputs) == 0 && len(state.Outputs) == 0
}

// interrupted says so of an operation that was interrupted before anything was changed.
func (r *run) interrupted(ctx context.Context, diags hcl.Diagnostics) hcl.Diagnostics {
	if !WasInterrupted(ctx) {
		return diags
	}
	return hcl.Diagnostics{failure.New("Operation interrupted", "Planning was interrupted. %s", r.untouched())}
}

// withUntouched adds the work done until then to the reason why a plan is not carried out.
func (r *run) withUntouched(reason hcl.Diagnostics) hcl.Diagnostics {
	first := *reason[0]
	first.Detail += " " + r.untouched()
	return append(hcl.Diagnostics{&first}, reason[1:]...)
}

// untouched returns in words the work done before the plan of a round that is not carried out.
func (r *run) untouched() string {
	if r.round > 1 {
		return "What was applied before it is done and saved, and the rest can be planned again at any time."
	}
	return "Nothing was changed."
}

// logged makes hooks also log the status of components.
func (r *run) logged(watch hooks.Hooks) hooks.Hooks {
	show := watch.ComponentStatus
	watch.ComponentStatus = func(component stackaddrs.AbsComponentInstance, status hooks.Status) {
		r.log.Info("component", "address", component.String(), "status", fmt.Sprint(status))
		if show != nil {
			show(component, status)
		}
	}
	return watch
}
