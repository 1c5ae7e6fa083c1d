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
	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/planfile"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
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

	validateName = "validate" // which neither locks nor has a history
	queryName    = "query"    // likewise
)

// nameOf names the operation that applies plans of a mode.
func nameOf(mode engine.Mode) string {
	if mode == engine.Destroy {
		return destroyName
	}
	return applyName
}

// task is the work of a run. It stays as it was given.
type task struct {
	name   string // planName, applyName or destroyName
	req    Request
	caller Caller
	saved  string // identity of the saved plan that is applied; "" for none
	notYet bool   // published values of upstream stacks are not asked for
}

// run is an operation that plans or applies, while it is carried out.
type run struct {
	task
	stack    *Stack
	values   *values
	recovery *recovery
	interim
}

// interim is what a run has read and done so far.
type interim struct {
	runtime stackruntime.Options
	stored  *deployment.Stored
	calls   int // of the runtime
	round   int // of an apply, from 1; 0 with a saved plan
	outcome outcome
}

// outcome is what has become of the latest plan.
type outcome struct {
	judged     approval.Judgement
	approvedBy string // for the history; "" where nobody has said
	waiting    bool   // it waits for approval
	identity   string // of the plan in its file; "" if it was not saved
	unsaved    bool   // changes are not in the state
	generated  bool   // [Request.Generate] is written
}

// newRun begins an operation. A deployment of which the block says that it is to be destroyed is
// destroyed.
func (s *Stack) newRun(t task) *run {
	var block *deployconfig.Deployment
	if deployment, err := s.sources.Deployment(); err == nil {
		block, _ = s.sources.Block(deployment) //nolint:errcheck // loadDeployment reports it
	}
	if block != nil && block.Destroy && t.req.Mode == engine.Normal {
		t.req.Mode = engine.Destroy
		if t.name == applyName {
			t.name = destroyName
		}
	}
	s.opened.accepted = t.req.AcceptRecovery
	other := *s
	other.parallelism = t.req.Parallelism
	r := &run{
		task: t, stack: &other,
		values: &values{task: t, stack: &other, block: block, answers: map[string]cty.Value{}},
	}
	r.recovery = &recovery{run: r, lost: map[*engine.Recovered]string{}}
	return r
}

// load gets the values of a phase, "plan" or "apply", and the engine for them. All mistakes are
// reported together, except that no engine is asked, and nothing installed, where the values have
// some.
func (r *run) load(ctx context.Context, phase string) hcl.Diagnostics {
	given, moreDiags := r.loadGiven(ctx, phase)
	if moreDiags.HasErrors() {
		return moreDiags.Extend(r.mistakes(ctx))
	}
	runtime, diags := r.stack.Runtime(ctx)
	r.runtime = runtime
	if !diags.HasErrors() {
		moreDiags = moreDiags.Extend(r.values.renew(ctx, given, phase))
	}
	return diags.Extend(moreDiags)
}

// loadGiven reads and checks all values for the stack: the block of the deployment, the sources of
// its inputs, and the values of variables. None of it needs an engine. Mistakes in the
// configuration itself are reported by [Stack.Runtime], or by [run.mistakes] where that is not
// reached.
func (r *run) loadGiven(ctx context.Context, phase string) (given *Given, diags hcl.Diagnostics) {
	config, found := r.stack.sources.Config()
	if config != nil && (len(config.Files) > 0 || !found.HasErrors()) {
		r.runtime.Config = config
	}
	diags = r.loadDeployment(ctx)
	if !found.HasErrors() && !diags.HasErrors() {
		var moreDiags hcl.Diagnostics
		given, moreDiags = r.values.take(ctx, phase)
		diags = diags.Extend(moreDiags)
	}
	if r.values.config != nil {
		diags = diags.Extend(r.values.read())
	}
	if !found.HasErrors() && !diags.HasErrors() {
		if moreDiags := r.values.check(ctx); moreDiags.HasErrors() { // the plan has the warnings
			diags = diags.Extend(moreDiags)
		}
	}
	return given, diags
}

// loadDeployment checks the block of the deployment.
func (r *run) loadDeployment(ctx context.Context) hcl.Diagnostics {
	r.values.config = r.runtime.Config
	name, err := r.stack.sources.Deployment()
	if err != nil {
		return Diagnostics(err)
	}
	block, diags := r.stack.sources.Block(name)
	if block == nil {
		return diags
	}
	if r.runtime.Config != nil {
		diags = diags.Extend(r.stack.sources.CheckDeployments(r.runtime.Config))
	}
	if block.Import {
		diag := failure.New("Deployment being imported", "The state of the deployment %q is still being moved here, as import = true in its "+
			"block says. Remove that when it is complete.", name)
		diag.Subject = block.Range.Ptr()
		diags = diags.Append(diag)
	}
	if r.stack.env.NamedDeployment() == "" {
		diags = diags.Extend(r.stack.states.CheckLeft(ctx))
	}
	return diags
}

// mistakes returns those of the configuration that show without an engine.
func (r *run) mistakes(ctx context.Context) hcl.Diagnostics {
	config, diags := r.stack.sources.Config()
	if r.runtime.Config == nil {
		return diags
	}
	if unsupported := (checks{r.stack, config}).unsupported(ctx); unsupported.HasErrors() {
		return diags.Extend(unsupported)
	}
	return diags.Extend(checks{r.stack, config}.sources(ctx))
}

// loadSaved is [run.load] for a saved plan. That is compared before values are asked for: in
// another checkout, states that they come from may be as far away as that of the plan.
func (r *run) loadSaved(ctx context.Context, plan *stackplan.Plan, made stackplan.FileContext) (*deployment.Stored, hcl.Diagnostics) {
	stored, diags := loadTarget(ctx, r)
	if diags.HasErrors() || stored.HasDone(made.Identity) {
		return stored, diags
	}
	if err := r.target(ctx, stored).Check(plan, made); err != nil {
		return nil, diags.Extend(Diagnostics(err))
	}
	diags = diags.Extend(r.values.evaluate(ctx, applyName))
	return stored, diags.Extend(r.values.read())
}

// loadTarget loads all that a saved plan is compared with.
func loadTarget(ctx context.Context, r *run) (*deployment.Stored, hcl.Diagnostics) {
	runtime, diags := r.stack.Runtime(ctx)
	r.runtime = runtime
	if diags = diags.Extend(r.loadDeployment(ctx)); diags.HasErrors() {
		return nil, diags
	}
	stored, err := r.stack.states.Read(ctx)
	return stored, diags.Extend(Diagnostics(err))
}

// plan makes a plan on the stored state.
func (r *run) plan(ctx context.Context) (*stackplan.Plan, hcl.Diagnostics) {
	if diags := r.values.checkStable(r.stored); diags.HasErrors() {
		return nil, diags
	}
	var plan *stackplan.Plan
	var diags hcl.Diagnostics
	r.caller.during(planName, func(watch hooks.Hooks) {
		runtime := r.named()
		runtime.Hooks = tracedHooks(ctx, planName, r.logged(watch))
		request := r.planRequest(r.stored.State)
		request.Options = runtime
		plan, diags = stackruntime.Plan(ctx, request)
	})
	if !WasInterrupted(ctx) {
		diags = diags.Extend(checks{r.stack, r.runtime.Config}.otherMistakes(ctx, r.runtime, diags))
	}
	if plan != nil && plan.Mode == engine.Destroy && isEmpty(r.stored.State) {
		plan.Components = nil // they are to be destroyed, but nothing of them exists
	}
	if plan == nil {
		return nil, diags
	}
	plan.Reason = r.stack.engines.Reason()
	return plan, diags.Extend(r.review(plan, diags))
}

// planRequest is the request for a plan on a state.
func (r *run) planRequest(prior *stackstate.State) stackruntime.PlanRequest {
	return stackruntime.PlanRequest{
		Options:     r.runtime,
		Mode:        r.req.Mode,
		Inputs:      r.values.given.Values,
		Prior:       prior,
		SkipRefresh: r.req.SkipRefresh,
		Replace:     r.req.Replace,
		Targets:     r.req.Targets,
		Excludes:    r.req.Excludes,
		Requested:   r.req.Requested,

		GenerateConfig: r.req.Generate != "",
	}
}

// review judges a finished plan, before it is shown. With errors it is neither approved, nor saved,
// nor applied.
func (r *run) review(plan *stackplan.Plan, planned hcl.Diagnostics) hcl.Diagnostics {
	var diags hcl.Diagnostics
	if len(r.req.Targets)+len(r.req.Excludes) > 0 && !planned.HasErrors() {
		diags = diags.Append(failure.With(CodePartial, failure.Warning("Partial plan of the stack",
			"The rest of the stack stays as it is, and root outputs may be out of date. This is for getting out of trouble; plan the whole stack "+
				"after it.")))
	}
	return diags.Extend(r.nothingToReplace(r.stored.State.Renamed(plan.Moved)))
}

// named returns the options for one call of the runtime. The operation has the name of the lock,
// which the store has recorded before anything is begun: a program that takes over the lock knows
// by it which work may be unfinished. A state that is not locked has nothing recorded, and the
// runtime makes up a name.
func (r *run) named() stackruntime.Options {
	runtime := r.runtime
	if id := r.stored.Lock().Name(); id != "" {
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
func (r *run) target(ctx context.Context, stored *deployment.Stored) planfile.Target {
	target := r.stack.PlanTarget(r.runtime)
	target.Deployment, target.Lineage, target.Serial, target.State = stored.Deployment, stored.Lineage, stored.Serial, stored.State
	target.Past = func(serial int64) (*stackstate.State, error) { return stored.At(ctx, serial) }
	target.StateFile = planfile.StatePlace(r.stack.states.File())
	target.Begun = slices.Collect(maps.Keys(stored.Begun))
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
		return "Earlier changes are done and saved, and the rest can be planned again at any time."
	}
	return "Nothing was changed."
}

// logged makes hooks also log the status of components.
func (r *run) logged(watch hooks.Hooks) hooks.Hooks {
	show := watch.ComponentStatus
	watch.ComponentStatus = func(component stackaddrs.AbsComponentInstance, status hooks.Status) {
		r.stack.env.Log.Info("component", "address", component.String(), "status", fmt.Sprint(status))
		if show != nil {
			show(component, status)
		}
	}
	return watch
}
