// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/promising/changeexec"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/applying"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/diagnostics"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/maintask"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Checkable is implemented by all objects that dynamic walks visit.
type Checkable interface {
	// Check waits for the results that concern the object and returns its diagnostics: while applying,
	// and while planning, too, if the object is not [Plannable]. To be called by the walk only (rule
	// V1).
	Check(ctx context.Context) hcl.Diagnostics
}

// ApplyStack carries out the plan. Without error diagnostics everything was done.
//
// The results say of each component instance in the plan how it ended.
func (m *Main) ApplyStack(ctx context.Context) (map[stackaddrs.AbsComponentInstance]*applying.Result, hcl.Diagnostics) {
	if !m.applying.Plan.Applyable {
		return nil, hcl.Diagnostics{failure.New("Plan cannot be applied", "There were errors while it was made. Fix them and make a new plan.")}
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
	for _, plan := range m.applying.Plan.Components {
		if len(plan.EnginePlan) == 0 || m.session.CanApply(plan.Engine) {
			continue
		}
		diags = diags.Append(failure.With(fault.Address{Component: plan.Addr}, failure.New("Plan of another engine",
			"%s was planned with %s %s, which is not in use now. Nothing was done. Use the engine that made the plan, or make a new plan.",
			plan.Addr, plan.Engine.Name, plan.Engine.Version)))
	}
	return diags
}

// isAllDone reports whether nothing of the plan is left: an interrupt may come when the last
// component is nearly done.
func (m *Main) isAllDone(results map[stackaddrs.AbsComponentInstance]*applying.Result) bool {
	return !slices.ContainsFunc(m.applying.Plan.Components, func(plan *stackplan.Component) bool {
		result := results[plan.Addr]
		return result == nil || !result.Complete && !result.Deferred
	})
}

func (m *Main) applyAll(ctx context.Context) (map[stackaddrs.AbsComponentInstance]*applying.Result, hcl.Diagnostics) {
	if diags := m.checkInputs(ctx, (*stackplan.InputChange).IsUnknown); diags.HasErrors() {
		return nil, diags
	}
	if diags := m.recordMoves(ctx); diags.HasErrors() {
		return nil, diags
	}
	operation := applying.Operation{
		Session:  m.session,
		Works:    m.works,
		Hooks:    m.hooks,
		Plan:     m.applying.Plan,
		Prior:    m.applying.Prior,
		Progress: m.applying.Progress,
		Save:     m.save,
		Subject:  m.changeSubject,
	}
	changeexec.ChangeExec(ctx, func(results *applying.Results, add func(applying.Change)) {
		m.changes = results // before any change begins and asks
		operation.Begin(results, add)
	})

	var w walker
	visit := func(ctx context.Context, object Checkable) { w.Add(object.Check(ctx)) }
	walkDynamic(ctx, &w, m.stack, visit)
	results := make(map[stackaddrs.AbsComponentInstance]*applying.Result)
	for _, plan := range m.applying.Plan.Components {
		result, err := m.changes.Await(ctx, plan.Addr)
		if err != nil {
			w.Add(m.brokenOff(plan.Addr, err))
			continue
		}
		results[plan.Addr] = result
		w.Add(result.Diags)
	}
	w.tasks.Wait()
	w.Add(m.saveRootValues(ctx))
	return results, m.explainCycles(w.All())
}

// CheckInputs reports mistakes in the values of root variables, without doing anything.
func (m *Main) CheckInputs(ctx context.Context) hcl.Diagnostics {
	_, diags := maintask.Run(ctx, &m.panics, func(ctx context.Context) (struct{}, hcl.Diagnostics) {
		if m.planning != nil {
			return struct{}{}, m.checkPlanInputs(ctx)
		}
		return struct{}{}, m.checkInputs(ctx, func(*stackplan.InputChange) bool { return true })
	})
	return diags
}

// checkPlanInputs checks the values of root variables before providers are there. The results of
// their functions are not known to rules then.
func (m *Main) checkPlanInputs(ctx context.Context) hcl.Diagnostics {
	m.functions.Optional = true
	var diags hcl.Diagnostics
	for _, variable := range m.stack.variables {
		if variable.config.Validate(ctx).HasErrors() {
			continue // the static walk reports that, and plans come to no values then
		}
		_, moreDiags := variable.CheckValue(ctx)
		diags = diags.Extend(moreDiags)
	}
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

// brokenOff reports a change without a result. Its error may show the value of a panic, which is
// reported apart.
func (m *Main) brokenOff(addr stackaddrs.AbsComponentInstance, err error) hcl.Diagnostics {
	diag := diagnostics.Bug("Internal evaluation error", "The change of %s broke off, and its effects may not be in the state.", addr)
	if cycle, ok := errors.AsType[*promising.CycleError](err); ok {
		diag = diagnostics.Bug("Internal evaluation error", "The change of %s came to no result: %s.", addr, cycle)
	}
	diag.Extra = fault.Address{Component: addr}
	if hook := m.hooks.ComponentStatus; hook != nil {
		hook(addr, hooks.Failed)
	}
	return hcl.Diagnostics{diag}
}

// save hands a change of the state to the caller, one at a time if it wants that. After an error
// nothing more is begun; running work goes on to its end.
func (m *Main) save(ctx context.Context, change applying.StateChange) hcl.Diagnostics {
	if !m.applying.SavesTogether {
		m.saving <- struct{}{}
		defer func() { <-m.saving }()
	}
	if err := m.applying.Save(ctx, change); err != nil {
		m.works.Halt()
		if errors.Is(err, ErrBeginNothing) {
			return nil
		}
		return hcl.Diagnostics{failure.With(fault.NotSaved{Err: err}, failure.New("State not saved",
			"A change was made but could not be recorded: %s. No further change was begun.", err))}
	}
	return nil
}

// saveRootValues records the root variables and outputs that have changed.
func (m *Main) saveRootValues(ctx context.Context) hcl.Diagnostics {
	prior := m.applying.Prior
	change := applying.StateChange{Inputs: make(map[string]cty.Value), Outputs: make(map[string]cty.Value), Discard: prior.Discarded}
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
			continue // its value is unknown
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
			diags = diags.Extend(m.save(ctx, applying.StateChange{Before: before}))
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

// Check implements [Checkable].
func (v *InputVariable) Check(ctx context.Context) hcl.Diagnostics {
	_, diags := v.CheckValue(ctx)
	return diags
}

// Check implements [Checkable].
func (o *OutputValue) Check(ctx context.Context) hcl.Diagnostics {
	if o.stack.main.destroying() && o.stack.addr.IsRoot() {
		return nil // it is removed, and so may be the objects it is made of
	}
	_, diags := o.CheckValue(ctx)
	return diags
}

// Check implements [Checkable].
func (c *ComponentInstance) Check(ctx context.Context) hcl.Diagnostics {
	if !c.main.changes.Has(c.addr) {
		if plan := c.main.applying.Plan; !plan.Complete || plan.Partial {
			return nil // not known while planning, or left out: for another plan
		}
		if c.isRemoved() && c.prior() == nil {
			return nil // of a set that was not known while planning, or is not now: there is nothing of it
		}
		return hcl.Diagnostics{diagnostics.Bug("Plan does not match the configuration",
			"The configuration produces %s, of which the plan knows nothing.", c.addr)}
	}
	inputs, diags := c.inputs.Check(ctx, c.inputsAspect)
	_, moreDiags := c.providers.Check(ctx, c.providersAspect)
	diags = diags.Extend(moreDiags)
	if !diags.HasErrors() && failedInputs(inputs) {
		diags = diags.Append(failure.At(c.component.config.decl.Range, "Input could not be computed",
			"An input of %s refers to something that is in error, so the component was not applied.", c.addr))
	}
	if module := c.component.module(ctx); module != nil && hasEphemeralOutputs(module) && c.main.isRequired(ctx, c.component.addr) {
		_, moreDiags = c.again.Check(ctx, c.againAspect)
		diags = diags.Extend(moreDiags)
	}
	return diags
}

// appliedOutputs are the results once the instance is applied. A removed instance has those it was
// planned with, at once.
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

func resultOutputs(result *applying.Result) map[string]cty.Value {
	if result == nil || result.Skipped {
		return nil // those of an earlier apply are not results of this one
	}
	return result.Outputs
}

// planFor finds the plan of an instance; nil when there is none.
func (m *Main) planFor(addr stackaddrs.AbsComponentInstance) *stackplan.Component {
	components := m.applying.Plan.Components
	i, found := slices.BinarySearchFunc(components, addr, func(c *stackplan.Component, addr stackaddrs.AbsComponentInstance) int {
		return c.Addr.Compare(addr)
	})
	if !found {
		return nil
	}
	return components[i]
}
