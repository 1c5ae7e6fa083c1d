// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/promising/changeexec"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/applying"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/components"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/diagnostics"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/foreach"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/maintask"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/work"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// Applyable is implemented by objects with something to report while applying.
type Applyable interface {
	// CheckApply waits for what concerns the object and returns what is wrong. To
	// be called by the walk only (rule V1).
	CheckApply(ctx context.Context) hcl.Diagnostics

	// RequiredComponents are all components whose results the object depends on, however indirectly. An apply has to have
	// changed them before. The caller must not change the set.
	RequiredComponents(ctx context.Context) components.Set
}

// ComponentResult is what applying left of one component instance.
type ComponentResult struct {
	Outputs  map[string]cty.Value // nil when there are none
	Module   engine.State
	Complete bool // everything planned was done
	Skipped  bool // nothing was tried, because of another component
	Deferred bool // nothing was planned that could be done
	Counts   stackplan.Counts

	Interrupted bool // it is not complete, and was being applied when the operation was interrupted

	work  engine.WorkID // to acknowledge; empty for none
	stage stackplan.Stage
	diags hcl.Diagnostics
}

type (
	changeResults = changeexec.Results[stackaddrs.AbsComponentInstance, *ComponentResult]
	change        = changeexec.Change[stackaddrs.AbsComponentInstance, *ComponentResult]
)

// ApplyStack carries out the plan. Without error diagnostics everything was done.
//
// The results tell of each component instance in the plan how it went.
func (m *Main) ApplyStack(ctx context.Context) (map[stackaddrs.AbsComponentInstance]*ComponentResult, hcl.Diagnostics) {
	if !m.applying.Plan.Applyable {
		return nil, hcl.Diagnostics{{
			Severity: hcl.DiagError,
			Summary:  "Plan cannot be applied",
			Detail:   "There were errors while it was made. Fix them and make a new plan.",
		}}
	}
	if diags := m.checkEngines(); diags.HasErrors() {
		return nil, diags
	}
	results, diags := maintask.Run(ctx, &m.panics, m.applyAll)
	if ctx.Err() != nil && (diags.HasErrors() || !m.isAllDone(results)) {
		diags = diags.Append(interrupted(ctx, "applied"))
	}
	return results, diags
}

// checkEngines reports component instances that were planned by engines which are not there.
func (m *Main) checkEngines() hcl.Diagnostics {
	var diags hcl.Diagnostics
	there := m.session.Engines()
	for _, plan := range m.applying.Plan.Components {
		if len(plan.EnginePlan) == 0 || slices.Contains(there, plan.Engine) {
			continue
		}
		diags = diags.Append(&hcl.Diagnostic{
			Severity: hcl.DiagError,
			Summary:  "Plan of another engine",
			Detail: fmt.Sprintf("%s was planned with %s %s, which is not in use now. Nothing was done. Use the engine that made the plan, or make a new plan.",
				plan.Addr, plan.Engine.Name, plan.Engine.Version),
			Extra: diagnostics.Address{Component: plan.Addr},
		})
	}
	return diags
}

// isAllDone reports whether nothing of the plan is left: an interrupt may come when the last component is nearly done.
func (m *Main) isAllDone(results map[stackaddrs.AbsComponentInstance]*ComponentResult) bool {
	return !slices.ContainsFunc(m.applying.Plan.Components, func(plan *stackplan.Component) bool {
		result := results[plan.Addr]
		return result == nil || !result.Complete && !result.Deferred
	})
}

func (m *Main) applyAll(ctx context.Context) (map[stackaddrs.AbsComponentInstance]*ComponentResult, hcl.Diagnostics) {
	if diags := m.checkInputs(ctx, (*stackplan.InputChange).IsUnknown); diags.HasErrors() {
		return nil, diags
	}
	if diags := m.recordMoves(ctx); diags.HasErrors() {
		return nil, diags
	}
	order := applying.NewOrder(m.applying.Plan)
	changeexec.ChangeExec(ctx, func(results *changeResults, add func(change)) {
		m.changes = results // before any change begins and asks
		for _, plan := range m.applying.Plan.Components {
			applier := &componentApplier{main: m, plan: plan, order: order, results: results}
			add(change{Addr: plan.Addr, Run: applier.run})
		}
	})

	var w walker
	visit := func(ctx context.Context, object dynamic) { w.Add(object.CheckApply(ctx)) }
	walkDynamic(ctx, &w, m.stack, visit)
	results := make(map[stackaddrs.AbsComponentInstance]*ComponentResult)
	for _, plan := range m.applying.Plan.Components {
		result, err := m.changes.Await(ctx, plan.Addr)
		if err != nil {
			w.Add(m.brokenOff(plan.Addr, err))
			continue
		}
		results[plan.Addr] = result
		w.Add(result.diags)
	}
	w.tasks.Wait()
	w.Add(m.saveRootValues(ctx))
	return results, m.explainCycles(w.All())
}

// CheckInputs reports what is wrong with the values of root variables, without doing anything.
func (m *Main) CheckInputs(ctx context.Context) hcl.Diagnostics {
	_, diags := maintask.Run(ctx, &m.panics, func(ctx context.Context) (struct{}, hcl.Diagnostics) {
		return struct{}{}, m.checkInputs(ctx, func(*stackplan.InputChange) bool { return true })
	})
	return diags
}

// checkInputs checks those planned root variables that are asked for.
func (m *Main) checkInputs(ctx context.Context, wanted func(*stackplan.InputChange) bool) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for name, planned := range m.applying.Plan.Inputs {
		if variable, declared := m.stack.variables[name]; declared && wanted(planned) {
			_, moreDiags := variable.CheckValue(ctx)
			diags = diags.Extend(moreDiags)
		}
	}
	return diags
}

// brokenOff reports a change without a result. Its error may show the value of a panic, which is reported apart.
func (m *Main) brokenOff(addr stackaddrs.AbsComponentInstance, err error) hcl.Diagnostics {
	diag := diagnostics.Bug("Internal evaluation error", "The change of %s broke off, and what it did may not be in the state.", addr)
	if cycle, ok := errors.AsType[*promising.CycleError](err); ok {
		diag = diagnostics.Bug("Internal evaluation error", "The change of %s came to no result: %s.", addr, cycle)
	}
	diag.Extra = diagnostics.Address{Component: addr}
	if hook := m.hooks.ComponentStatus; hook != nil {
		hook(addr, hooks.Failed)
	}
	return hcl.Diagnostics{diag}
}

// NotSaved is the Extra of diagnostics that say that a change was not saved. Who saves may know more about the reason.
type NotSaved struct{ Err error }

// save hands a change of the state to the caller, one at a time. After an error
// nothing more is begun; what runs goes on to its end.
func (m *Main) save(ctx context.Context, change StateChange) hcl.Diagnostics {
	m.saving <- struct{}{}
	defer func() { <-m.saving }()
	if err := m.applying.Save(ctx, change); err != nil {
		m.works.Halt()
		if errors.Is(err, ErrBeginNothing) {
			return nil
		}
		return hcl.Diagnostics{{
			Severity: hcl.DiagError,
			Summary:  "State not saved",
			Detail:   fmt.Sprintf("A change was made but could not be recorded: %s. No further change was begun.", err),
			Extra:    NotSaved{Err: err},
		}}
	}
	return nil
}

// saveRootValues records the root variables and outputs that have changed.
func (m *Main) saveRootValues(ctx context.Context) hcl.Diagnostics {
	prior := m.applying.Prior
	change := StateChange{Inputs: make(map[string]cty.Value), Outputs: make(map[string]cty.Value), Discard: prior.Discarded}
	for name, planned := range m.applying.Plan.Inputs {
		variable, declared := m.stack.variables[name]
		if planned.DeleteOnApply || planned.Action == stackplan.Delete || !declared {
			change.Inputs[name] = cty.NilVal
			continue
		}
		if value, diags := variable.CheckValue(ctx); !diags.HasErrors() {
			change.Inputs[name] = variable.inPlan(value)
		}
	}
	for name, planned := range m.applying.Plan.Outputs {
		output, declared := m.stack.outputs[name]
		if planned.Action == stackplan.Delete || !declared {
			change.Outputs[name] = cty.NilVal
			continue
		}
		value, diags := output.CheckValue(ctx)
		if diags.HasErrors() {
			continue // what it would be cannot be told
		}
		change.Outputs[name] = expr.WithoutFailed(value)
	}
	dropUnchanged(change.Inputs, prior.Inputs)
	dropUnchanged(change.Outputs, prior.Outputs)
	var diags hcl.Diagnostics
	if len(change.Inputs)+len(change.Outputs)+len(change.Discard) > 0 {
		diags = m.save(ctx, change)
	}
	for _, addr := range m.applying.Plan.Removed {
		if before := prior.Components[addr]; before != nil { // else an earlier apply of the plan has removed it
			diags = diags.Extend(m.save(ctx, StateChange{Before: before}))
		}
	}
	return diags
}

func dropUnchanged(values, prior map[string]cty.Value) {
	maps.DeleteFunc(values, func(name string, value cty.Value) bool {
		before, existed := prior[name]
		if value == cty.NilVal {
			return !existed
		}
		return existed && before.RawEquals(value)
	})
}

// CheckApply implements [Applyable].
func (v *InputVariable) CheckApply(ctx context.Context) hcl.Diagnostics {
	_, diags := v.CheckValue(ctx)
	return diags
}

// CheckApply implements [Applyable].
func (l *LocalValue) CheckApply(ctx context.Context) hcl.Diagnostics { return l.CheckValue(ctx) }

// CheckApply implements [Applyable].
func (o *OutputValue) CheckApply(ctx context.Context) hcl.Diagnostics {
	if o.stack.main.destroying() && o.stack.addr.IsRoot() {
		return nil // it goes away, and so may what it is made of
	}
	_, diags := o.CheckValue(ctx)
	return diags
}

// CheckApply implements [Applyable].
func (p *ProviderInstance) CheckApply(ctx context.Context) hcl.Diagnostics { return p.CheckArgs(ctx) }

// CheckApply implements [Applyable].
func (c *StackCallInstance) CheckApply(ctx context.Context) hcl.Diagnostics {
	return c.CheckInputs(ctx)
}

// CheckApply implements [Applyable].
func (c *ComponentInstance) CheckApply(ctx context.Context) hcl.Diagnostics {
	if !c.main.changes.Has(c.addr) {
		if plan := c.main.applying.Plan; !plan.Complete || plan.Partial {
			return nil // not known while planning, or left out: for another plan
		}
		if c.isRemoved() && c.prior() == nil {
			return nil // of a set that was not known while planning, or is not now: there is nothing of it
		}
		return hcl.Diagnostics{diagnostics.Bug("Plan does not match the configuration", "The configuration produces %s, of which the plan knows nothing.", c.addr)}
	}
	inputs, diags := c.inputs.Check(ctx, c.inputsAspect)
	_, moreDiags := c.providers.Check(ctx, c.providersAspect)
	diags = diags.Extend(moreDiags)
	if !diags.HasErrors() && failedInputs(inputs) {
		diags = diags.Append(&hcl.Diagnostic{
			Severity: hcl.DiagError,
			Summary:  "Input could not be computed",
			Detail:   fmt.Sprintf("An input of %s refers to something that is in error, so the component was not applied.", c.addr),
			Subject:  c.component.config.decl.Range.Ptr(),
		})
	}
	return diags
}

// appliedOutputs are the results once the instance is applied. What goes away
// has those it was planned with, at once.
func (c *ComponentInstance) appliedOutputs(ctx context.Context) map[string]cty.Value {
	plan := c.main.planFor(c.addr)
	switch {
	case plan == nil && c.main.isPartial():
		return c.priorOutputs()
	case plan == nil:
		return nil
	}
	if plan.Action == stackplan.Delete || plan.Action == stackplan.Forget {
		return plan.Outputs
	}
	result, err := c.main.changes.Await(ctx, c.addr)
	if err != nil || !result.Complete {
		return resultOutputs(result)
	}
	return result.Outputs
}

func resultOutputs(result *ComponentResult) map[string]cty.Value {
	if result == nil || result.Skipped {
		return nil // those of an earlier apply are not results of this one
	}
	return result.Outputs
}

// planFor finds the plan of an instance; nil when there is none.
func (m *Main) planFor(addr stackaddrs.AbsComponentInstance) *stackplan.Component {
	i, found := slices.BinarySearchFunc(m.applying.Plan.Components, addr, func(c *stackplan.Component, addr stackaddrs.AbsComponentInstance) int {
		return c.Addr.Compare(addr)
	})
	if !found {
		return nil
	}
	return m.applying.Plan.Components[i]
}

// componentApplier applies the plan of one component instance.
type componentApplier struct {
	main    *Main
	plan    *stackplan.Component
	order   *applying.Order
	results *changeResults

	saved *stackstate.Component // the record as it is in the state now; nil for none
}

func (a *componentApplier) prior() *stackstate.Component {
	return a.main.applying.Prior.Components[a.plan.Addr]
}

func (a *componentApplier) setStatus(status hooks.Status) {
	if hook := a.main.hooks.ComponentStatus; hook != nil {
		hook(a.plan.Addr, status)
	}
}

// run waits for the predecessors, applies, and records what came of it. The
// error is always nil: what went wrong is in the result.
func (a *componentApplier) run(ctx context.Context) (*ComponentResult, error) {
	if a.isDone() {
		return a.done(), nil
	}
	a.setStatus(hooks.Pending)
	if stackaddrs.HasWildcard(a.plan.Addr) {
		a.setStatus(hooks.Deferred)
		return &ComponentResult{Complete: true, Deferred: true}, nil // there is nothing to apply, and nothing to record
	}
	a.saved = a.prior()
	ready := a.awaitPredecessors(ctx)
	subject, diags := a.subject(ctx)
	if subject == nil && ready && a.endsNothing() {
		result := &ComponentResult{Complete: true}
		a.record(ctx, nil, result)
		a.setStatus(hooks.Applied)
		return result, nil
	}
	if subject == nil {
		return a.withoutSubject(diags), nil
	}
	if !ready {
		result := a.unchanged()
		result.Skipped = true
		a.record(ctx, subject, result)
		a.setStatus(hooks.Skipped)
		return result, nil
	}
	result := a.apply(ctx, subject)
	a.record(ctx, subject, result)
	switch {
	case result.Skipped:
		a.setStatus(hooks.Skipped)
	case result.Interrupted:
		a.setStatus(hooks.Interrupted)
	case !result.Complete:
		a.setStatus(hooks.Failed)
	case result.Deferred:
		a.setStatus(hooks.Deferred)
	default:
		if hook := a.main.hooks.ComponentApplied; hook != nil {
			hook(a.plan.Addr, result.Counts)
		}
		a.setStatus(hooks.Applied)
	}
	return result, nil
}

// endsNothing reports whether there is no more to do than dropping a record without objects. No block need produce
// the instance for that: in a stack that goes away, it may have come from a set that was not known while planning.
func (a *componentApplier) endsNothing() bool {
	idle := len(a.plan.EnginePlan) == 0 || a.isBegun()
	return applying.Ends(a.plan) && a.plan.Complete && idle && !hasResources(a.baseState())
}

// withoutSubject is the result where no block is known to produce the instance.
func (a *componentApplier) withoutSubject(diags hcl.Diagnostics) *ComponentResult {
	if a.isDeferred() {
		a.setStatus(hooks.Deferred)
		return a.deferred()
	}
	a.setStatus(hooks.Failed)
	result := a.unchanged()
	result.diags = diags
	return result
}

// awaitPredecessors reports whether everything that has to be done before was done.
func (a *componentApplier) awaitPredecessors(ctx context.Context) bool {
	ready := true
	for _, addr := range a.order.Predecessors(a.plan) {
		result, err := a.results.Await(ctx, addr)
		if err != nil || !result.Complete {
			ready = false
		}
	}
	return ready
}

// changeSubject is an object that drives the change of a component instance.
type changeSubject interface {
	managed() *managedInstance

	// finalInputs are the values to apply with. One that could not be computed is a placeholder.
	finalInputs(ctx context.Context) map[string]cty.Value

	// recordInputs are the values to keep in the state: none where one could not be computed.
	recordInputs(ctx context.Context) map[string]cty.Value
}

var (
	_ changeSubject = (*ComponentInstance)(nil)
	_ changeSubject = (*RemovedComponentInstance)(nil)
)

func (c *ComponentInstance) finalInputs(ctx context.Context) map[string]cty.Value {
	if c.main.planFor(c.addr).Action == stackplan.Delete && c.prior() != nil {
		return c.destroyInputs(c.Inputs(ctx))
	}
	return c.Inputs(ctx)
}

func (c *ComponentInstance) recordInputs(ctx context.Context) map[string]cty.Value {
	inputs := c.Inputs(ctx)
	if failedInputs(inputs) {
		return nil
	}
	return c.storedInputs(ctx, inputs)
}

// subject finds the object that the configuration produces for the plan; nil when there is none.
func (a *componentApplier) subject(ctx context.Context) (changeSubject, hcl.Diagnostics) {
	stack, found := a.main.findStack(ctx, a.plan.Addr.Stack)
	if found == certaintyFailed {
		return nil, nil // because of an error reported elsewhere
	}
	if stack != nil {
		if subject, found := stack.changeSubject(ctx, a.plan.Addr); found != certaintyNo {
			return subject, nil
		}
	}
	if a.isDeferred() {
		return nil, nil // it was not known which block produces it, and now none does
	}
	return nil, hcl.Diagnostics{{
		Severity: hcl.DiagError,
		Summary:  "Plan does not match the configuration",
		Detail:   fmt.Sprintf("The plan has changes for %s, which no block of the configuration produces. Make a new plan.", a.plan.Addr),
		Extra:    diagnostics.Address{Component: a.plan.Addr},
	}}
}

// changeSubject finds the object that a component instance comes from. It is nil if that is not known.
//
// Removed blocks are asked only if the component block does not say: what they name may depend on the instance.
func (s *Stack) changeSubject(ctx context.Context, addr stackaddrs.AbsComponentInstance) (changeSubject, certainty) {
	name, key := addr.Item.Component.Name, addr.Item.Key
	var instances foreach.Expansion[*ComponentInstance]
	if component := s.components[name]; component != nil {
		instances = component.Instances(ctx)
		if instances.Kind == foreach.Failed {
			return nil, certaintyFailed
		}
		if inst, ok := instances.Instances[key]; ok {
			return inst, certaintyYes
		}
	}
	if removals := s.componentRemovals[name]; removals != nil {
		claims := removals.Claims(ctx)
		if inst := claims.instances[key]; inst != nil {
			return inst, certaintyYes
		}
		if claims.failed {
			return nil, certaintyFailed
		}
	}
	if inst, ok := instances.StandIns[key]; ok {
		return inst, certaintyYes
	}
	return nil, certaintyNo
}

// isDeferred reports whether there is nothing to apply because everything was deferred.
func (a *componentApplier) isDeferred() bool { return len(a.plan.EnginePlan) == 0 && !a.plan.Complete }

// unchanged is the result of doing nothing.
func (a *componentApplier) unchanged() *ComponentResult {
	result := &ComponentResult{}
	if prior := a.prior(); prior != nil {
		result.Module, result.Outputs = prior.Module, prior.Outputs
	}
	return result
}

// deferred is the result of a plan with nothing but deferred changes: what there
// is stays as it is.
func (a *componentApplier) deferred() *ComponentResult {
	result := a.unchanged()
	result.Complete, result.Deferred = true, true
	if a.prior() == nil {
		result.Outputs = a.plan.Outputs
	}
	return result
}

// apply runs the engine, or keeps what planning found where that is all.
func (a *componentApplier) apply(ctx context.Context, subject changeSubject) *ComponentResult {
	inst := subject.managed()
	inputs := subject.finalInputs(ctx)
	providers := inst.providers.Value(ctx, inst.providersAspect)
	if failedInputs(inputs) || failedProviders(providers) {
		return a.unchanged()
	}
	if a.isDeferred() {
		return a.deferred()
	}
	result := a.unchanged()
	if a.isBegun() {
		began, diags := a.planRest(ctx, inst, inputs, providers)
		if !began || diags.HasErrors() {
			result.Skipped, result.diags = !began, diags
			return result
		}
	}
	if len(a.plan.EnginePlan) == 0 {
		a.setStatus(hooks.Applying)
		result.Outputs, result.Module, result.Complete, result.Counts = a.plan.Outputs, a.plan.RefreshedState, true, a.plan.Counts()
		if a.isBegun() {
			result.stage = stackplan.Done
		}
		return result
	}
	var applied *engine.ApplyResult
	var diags hcl.Diagnostics
	var done applying.Tally
	newest := &checkpoint{applier: a, objects: applying.Objects{Before: a.baseState()}, last: time.Now()}
	id := a.main.works.ID(work.Apply, a.plan.Addr)
	began := a.main.works.Run(ctx, id, func(working context.Context, began func() bool) {
		applied, diags = a.main.session.Apply(working, &engine.ApplyRequest{
			Work:       id,
			Component:  a.plan.Addr,
			ModuleDir:  inst.use.source.Dir,
			Mode:       a.plan.Mode,
			Engine:     a.plan.Engine,
			Plan:       a.plan.EnginePlan,
			Inputs:     inputs,
			Providers:  providers,
			PriorState: a.baseState(),
		}, func(event engine.Event) {
			switch {
			case event.Type == engine.ObjectChanged:
				newest.change(ctx, event.Object)
			case event.Type != engine.WorkBegan:
				done.Count(event)
				inst.show(event)
			case began():
				a.setStatus(hooks.Applying)
			}
		})
	})
	if !began {
		result.Skipped = true
		return result
	}
	result.diags = inst.engineDiagnostics(ctx, diags)
	if applied != nil {
		result.stage = stackplan.Begun
		result.Module, result.Outputs, result.work = applied.State, applied.Outputs, id
		if a.plan.Action == stackplan.Delete {
			result.Outputs = a.plan.Outputs // nobody sees others while it goes, nor if some of it could not
		}
		result.Counts = done.Of(a.plan)
		if hook := a.main.hooks.ComponentChecks; hook != nil {
			hook(a.plan.Addr, applied.Checks)
		}
	}
	if !diags.HasErrors() {
		result.Complete, result.stage = true, stackplan.Done
		result.Counts = a.plan.Counts()
	}
	result.Interrupted = !result.Complete && maintask.StopContext(ctx).Err() != nil // of errors after that, nobody can say what else they come from
	return result
}

// baseState is the state that the plan was made from.
func (a *componentApplier) baseState() engine.State {
	if len(a.plan.BaseState) > 0 && !a.isBegun() {
		return a.plan.BaseState
	}
	if prior := a.prior(); prior != nil {
		return prior.Module
	}
	return nil
}

// checkpointInterval is how often the state of a component is saved while it is
// being applied. The engine keeps it safe in between ([engine.Session]); writing
// down each of many quick resources would cost more than making them.
const checkpointInterval = time.Second

// checkpoint saves the objects of the instance while it is being applied. What
// cannot be saved now is saved at the end, or reported then.
type checkpoint struct {
	applier *componentApplier
	objects applying.Objects
	last    time.Time // when they were saved
}

func (c *checkpoint) change(ctx context.Context, change *engine.ObjectChange) {
	c.objects.Change(change)
	if time.Since(c.last) < checkpointInterval {
		return
	}
	c.last = time.Now()
	a := c.applier
	state, err := c.objects.State()
	if err != nil {
		return // the engine has said what is no object; the whole state, which comes at the end, is read again then
	}
	next := a.newRecord(&ComponentResult{Module: state})
	if a.saved != nil {
		next.Outputs = a.saved.Outputs
	}
	if diags := a.main.save(ctx, StateChange{Before: a.saved, After: next, Stage: stackplan.Begun}); !diags.HasErrors() {
		a.saved = next
	}
}

// record saves the result. The subject is needed only where the instance stays.
func (a *componentApplier) record(ctx context.Context, subject changeSubject, result *ComponentResult) {
	change := StateChange{Before: a.saved, Stage: result.stage}
	gone := a.plan.Complete && applying.Ends(a.plan) && !hasResources(result.Module) && !result.diags.HasErrors()
	if change.Before == nil && (applying.Ends(a.plan) || a.plan.Mode == engine.RefreshOnly) {
		return // neither looking at what was never made nor removing it leaves a trace
	}
	if !gone {
		change.After = a.newRecord(result)
		if !a.isDeferred() || a.prior() == nil {
			change.After.Inputs = a.knownInputs(subject.recordInputs(ctx))
		}
	}
	if change.Before == nil && change.After == nil {
		return
	}
	saveDiags := a.main.save(ctx, change)
	result.diags = result.diags.Extend(saveDiags)
	if result.diags.HasErrors() {
		result.Complete = false
	}
	if !saveDiags.HasErrors() && result.work != "" {
		if err := a.main.session.Acknowledge(ctx, result.work); err != nil {
			result.diags = result.diags.Append(&hcl.Diagnostic{
				Severity: hcl.DiagWarning,
				Summary:  "Apply leftovers not removed",
				Detail:   fmt.Sprintf("The state of %s is saved, but what the engine kept of the apply could not be removed: %s.", a.plan.Addr, err),
				Extra:    diagnostics.Address{Component: a.plan.Addr},
			})
		}
	}
}

// knownInputs replaces values that are not known by those in the state: of what is deferred or skipped, the objects
// that exist were made with them, and they may be needed to destroy these.
func (a *componentApplier) knownInputs(inputs map[string]cty.Value) map[string]cty.Value {
	prior := a.prior()
	if prior == nil {
		return inputs
	}
	return lastKnown(inputs, prior.Inputs)
}

// lastKnown returns the values with those that are not known replaced by earlier ones.
func lastKnown(values, earlier map[string]cty.Value) map[string]cty.Value {
	known := make(map[string]cty.Value, len(values))
	for name, value := range values {
		if last, ok := earlier[name]; ok && !value.IsWhollyKnown() && last.IsWhollyKnown() {
			value = last
		}
		known[name] = value
	}
	return known
}

func (a *componentApplier) newRecord(result *ComponentResult) *stackstate.Component {
	record := &stackstate.Component{
		Addr:         a.plan.Addr,
		Dependencies: recordable(a.plan.Requires),
		Dependents:   recordable(a.order.Dependents(stackaddrs.ComponentOf(a.plan.Addr))),
		Outputs:      result.Outputs,
		Module:       result.Module,
	}
	if prior := a.prior(); prior != nil {
		record.Inputs = prior.Inputs
	}
	return record
}

// recordable leaves out the components of stacks that stand for those not known yet. There is nothing in them, and
// no address of a state can name them.
func recordable(addrs []stackaddrs.AbsComponent) []stackaddrs.AbsComponent {
	return slices.DeleteFunc(slices.Clone(addrs), func(addr stackaddrs.AbsComponent) bool {
		return slices.ContainsFunc(addr.Stack.Path(), func(step stackaddrs.StackCallInstance) bool { return step.Key.IsWildcard() })
	})
}
