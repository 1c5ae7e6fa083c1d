// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/diagnostics"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/inputs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/maintask"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/planning"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Plannable is implemented by objects that say something else while planning than while applying.
type Plannable interface {
	// PlanChanges returns the changes that the object wants to make, and its diagnostics. To be called
	// by the walk only (rule V1).
	PlanChanges(ctx context.Context) ([]PlannedChange, hcl.Diagnostics)
}

// PlannedChange is one entry of a plan.
type PlannedChange interface {
	addTo(plan *stackplan.Plan)
}

type plannedComponent struct{ *stackplan.Component }

func (c plannedComponent) addTo(plan *stackplan.Plan) {
	plan.Components = append(plan.Components, c.Component)
}

type plannedInput struct {
	name   string
	change *stackplan.InputChange
}

func (c plannedInput) addTo(plan *stackplan.Plan) { plan.Inputs[c.name] = c.change }

type plannedOutput struct {
	name   string
	change *stackplan.OutputChange
}

func (c plannedOutput) addTo(plan *stackplan.Plan) { plan.Outputs[c.name] = c.change }

// PlanStack makes a plan of the whole stack. There is one even with errors; it
// is not applyable then.
func (m *Main) PlanStack(ctx context.Context) (*stackplan.Plan, hcl.Diagnostics) {
	plan := &stackplan.Plan{
		Mode:      m.planning.Mode,
		Partial:   m.isPartial(),
		Timestamp: m.planning.Timestamp,
		Engine:    m.session.Info(),
		Inputs:    make(map[string]*stackplan.InputChange),
		Outputs:   make(map[string]*stackplan.OutputChange),
	}
	_, diags := maintask.Run(ctx, &m.panics, func(ctx context.Context) (struct{}, hcl.Diagnostics) {
		diags := m.walkStatic(ctx, &walker{})
		if m.panics.Any() || slices.ContainsFunc(diags, func(diag *hcl.Diagnostic) bool {
			return diag.Severity == hcl.DiagError && !diagnostics.IsAboutProvider(diag)
		}) {
			return struct{}{}, diags
		}
		// A provider that refuses its configuration does not end the plan here: the diagnostics of others
		// come only when they are configured.
		moved, moreDiags := m.followMoves()
		diags = diags.Extend(moreDiags)
		if moreDiags.HasErrors() {
			return struct{}{}, diags
		}
		plan.Moved = moved
		changes, moreDiags := m.walkPlan(ctx)
		diags = diags.Extend(moreDiags)
		for _, change := range changes {
			change.addTo(plan)
		}
		planning.DropUndeclared(plan, m.planning.Prior.Inputs, m.planning.Prior.Outputs, m.stack.variables, m.stack.outputs)
		if plan.Partial {
			return struct{}{}, m.explainCycles(diags.Extend(m.checkSelection(ctx)))
		}
		diags = diags.Extend(m.planOrphans(ctx, plan))
		return struct{}{}, m.explainCycles(diags)
	})
	if ctx.Err() != nil {
		diags = diags.Append(interrupted(ctx, "planned"))
	}

	plan.FunctionResults = m.functions.Results()
	slices.SortFunc(plan.Components, func(a, b *stackplan.Component) int { return a.Addr.Compare(b.Addr) })
	plan.Applyable = !diags.HasErrors()
	plan.Complete = plan.Applyable && !slices.ContainsFunc(plan.Components, func(c *stackplan.Component) bool { return !c.Complete })
	planning.KeepUnknownOutputs(plan, m.planning.Prior.Outputs)
	return plan, diags
}

func interrupted(ctx context.Context, what string) *hcl.Diagnostic {
	return failure.New("Operation interrupted", "The stack was not %s completely: %s.", what, context.Cause(ctx))
}

// PlanChanges implements [Plannable].
func (v *InputVariable) PlanChanges(ctx context.Context) ([]PlannedChange, hcl.Diagnostics) {
	value, diags := v.CheckValue(ctx)
	if !v.stack.addr.IsRoot() || diags.HasErrors() {
		return nil, diags
	}
	main := v.stack.main
	name := v.addr.Item.Name
	stored := v.inPlan(value)
	change := planning.InputChange(planning.PriorOf(main.planning.Prior.Inputs, name), stored, v.config.decl.Ephemeral)
	change.RequiredOnApply = v.config.decl.Ephemeral && !inputs.IsNull(value) && !v.isDefault()
	change.DeleteOnApply = main.destroying() && !main.isPartial()
	return []PlannedChange{plannedInput{name, change}}, diags
}

// PlanChanges implements [Plannable].
//
// In a stack that is removed nobody may need the value, and computing it can mean
// planning a component for nothing but that.
func (l *LocalValue) PlanChanges(ctx context.Context) ([]PlannedChange, hcl.Diagnostics) {
	if l.stack.disposition != stays {
		return nil, nil
	}
	return nil, l.Check(ctx)
}

// PlanChanges implements [Plannable].
func (o *OutputValue) PlanChanges(ctx context.Context) ([]PlannedChange, hcl.Diagnostics) {
	main := o.stack.main
	name := o.addr.Item.Name
	if o.stack.addr.IsRoot() && main.destroying() && !main.isPartial() {
		before, existed := main.planning.Prior.Outputs[name]
		if !existed {
			return nil, nil
		}
		after := cty.NullVal(o.config.decl.Type.WithoutOptional())
		return []PlannedChange{plannedOutput{name, &stackplan.OutputChange{Action: stackplan.Delete, Before: before, After: after}}}, nil
	}
	if !o.stack.addr.IsRoot() && o.stack.disposition != stays {
		return nil, nil // as with local values
	}
	value, diags := o.CheckValue(ctx)
	if !o.stack.addr.IsRoot() || diags.HasErrors() {
		return nil, diags
	}
	value = expr.WithoutFailed(value)
	change := planning.OutputChange(planning.PriorOf(main.planning.Prior.Outputs, name), value)
	return []PlannedChange{plannedOutput{name, change}}, diags
}

// planOrphans deals with component instances in the prior state that the
// configuration does not produce: those without resources vanish, the others
// are errors, because destroying them needs somebody's word.
func (m *Main) planOrphans(ctx context.Context, plan *stackplan.Plan) hcl.Diagnostics {
	var left []stackaddrs.AbsComponentInstance
	prior := m.planning.Prior.Components
	for _, addr := range slices.SortedFunc(maps.Keys(prior), stackaddrs.AbsComponentInstance.Compare) {
		switch {
		case m.isClaimed(ctx, addr) != certaintyNo:
		case !planning.HasObjects(prior[addr].Module):
			plan.Removed = append(plan.Removed, addr)
		default:
			left = append(left, addr)
		}
	}
	return m.explainLeftOver(ctx, left)
}
