// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/components"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/diagnostics"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/memo"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/planning"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Plan is the plan of the instance; nil when it could not be planned.
func (c *ComponentInstance) Plan(ctx context.Context) *stackplan.Component {
	return c.plan.Value(ctx, c.planAspect)
}

// PlanChanges implements [Plannable].
func (c *ComponentInstance) PlanChanges(ctx context.Context) ([]PlannedChange, hcl.Diagnostics) {
	if !c.main.isSelected(ctx, c.addr) {
		return nil, nil
	}
	var diags, moreDiags hcl.Diagnostics
	if !c.isRemoved() || planning.HasObjects(c.priorModule()) {
		_, diags = c.inputs.Check(ctx, c.inputsAspect)
		_, moreDiags = c.providers.Check(ctx, c.providersAspect)
		diags = diags.Extend(moreDiags)
	}
	plan, moreDiags := c.plan.Check(ctx, c.planAspect)
	diags = diags.Extend(moreDiags)
	if plan == nil {
		plan = c.failed.Load()
	}
	if plan == nil {
		return nil, diags
	}
	return []PlannedChange{plannedComponent{plan}}, diags
}

func (c *ComponentInstance) planAspect() memo.Aspect[*stackplan.Component] {
	return memo.Aspect[*stackplan.Component]{
		Name: c.addr.String() + " plan",
		Compute: func(ctx context.Context) (*stackplan.Component, hcl.Diagnostics) {
			c.setStatus(hooks.Pending)
			if c.isRemoved() {
				return c.planEnd(ctx)
			}
			requirements := c.requirementsState(ctx)
			if requirements == planFailed {
				c.setStatus(hooks.Skipped)
				return nil, nil
			}
			req, ok := c.planRequest(ctx)
			if !ok {
				c.setStatus(hooks.Failed)
				return nil, nil
			}
			if req.Mode.KeepsObjects() && c.prior() == nil {
				return c.planNothing(ctx, req)
			}
			req.DeferAll = requirements == planDeferred || c.isDeferred()
			return c.planNormal(ctx, req)
		},
	}
}

// planRequest makes the request to the engine; ok is false when a part of it could not be computed,
// which is reported where it happened.
func (c *ComponentInstance) planRequest(ctx context.Context) (req *engine.PlanRequest, ok bool) {
	inputs := c.Inputs(ctx)
	providers := c.providers.Value(ctx, c.providersAspect)
	if c.component.module(ctx) == nil || failedInputs(inputs) || failedProviders(providers) {
		return nil, false
	}
	planning := c.main.planning
	return &engine.PlanRequest{
		Component:   c.addr,
		ModuleDir:   c.use.source.Dir,
		Mode:        planning.Mode,
		Inputs:      inputs,
		Providers:   providers,
		PriorState:  c.priorModule(),
		SkipRefresh: planning.SkipRefresh,
		Replace:     planning.Replace[c.addr],
		Timestamp:   planning.Timestamp,
		Requested:   c.main.requested(c.addr),
	}, true
}

// planNothing is the plan to look at something that is not there. Actions of it cannot be invoked.
func (c *ComponentInstance) planNothing(ctx context.Context, req *engine.PlanRequest) (*stackplan.Component, hcl.Diagnostics) {
	if req.Mode == engine.Invoke {
		c.setStatus(hooks.Failed)
		return nil, hcl.Diagnostics{failure.With(fault.Address{Component: c.addr}, failure.New("Component not applied yet",
			"%s has no objects, so that no action of it can be invoked. Apply it first.", c.addr))}
	}
	plan := c.planned(ctx, req, c.component.RequiredComponents(ctx)).NewStaying(req, &engine.PlanResult{Complete: true})
	c.finishPlan(plan)
	return plan, nil
}

func (c *ComponentInstance) planNormal(ctx context.Context, req *engine.PlanRequest) (*stackplan.Component, hcl.Diagnostics) {
	req.GenerateConfig = c.main.planning.GenerateConfig
	planned := c.planned(ctx, req, c.component.RequiredComponents(ctx))
	result, diags := c.runPlan(ctx, hooks.WorkPlan, req)
	if result == nil || diags.HasErrors() {
		if diags.HasErrors() {
			c.failed.Store(planned.NewFailed(req, result))
		}
		c.setStatus(hooks.Failed)
		return nil, diags
	}
	c.fleeting.Store(&result.Ephemeral)
	plan := planned.NewStaying(req, result)
	c.finishPlan(plan)
	return plan, diags
}

// planEnd plans to remove the instance.
func (c *ComponentInstance) planEnd(ctx context.Context) (*stackplan.Component, hcl.Diagnostics) {
	requires := c.component.RequiredComponents(ctx)
	if stackaddrs.HasWildcard(c.addr) {
		return nil, nil // there is nothing of it
	}
	bare := &engine.PlanRequest{
		Component: c.addr, Mode: engine.Destroy, PriorState: c.priorModule(),
		DeferAll: c.isDeferred() || c.dependentsState(ctx) != planComplete,
	}
	if c.component.stack.disposition == forgotten {
		return c.planForget(ctx, bare, requires)
	}
	refreshed, diags := c.refreshBefore(ctx)
	if diags.HasErrors() {
		c.setStatus(hooks.Failed)
		return nil, diags
	}
	plan := c.planned(ctx, bare, requires).NewComponent(bare, planning.EndOfNothing(bare))
	if planning.HasObjects(bare.PriorState) {
		var moreDiags hcl.Diagnostics
		plan, moreDiags = c.planDestroy(ctx, bare.DeferAll, requires, refreshed)
		diags = diags.Extend(moreDiags)
	}
	if plan == nil {
		c.setStatus(hooks.Failed)
		return nil, diags
	}
	plan.Action = stackplan.Delete
	plan.Outputs = c.destroyOutputs(refreshed)
	c.finishPlan(plan)
	return plan, diags
}

// refreshBefore finds out the current results, if something that exists depends
// on them. The result is nil if not.
func (c *ComponentInstance) refreshBefore(ctx context.Context) (*engine.PlanResult, hcl.Diagnostics) {
	if c.main.planning.SkipRefresh || !c.main.dependents(ctx)[c.component.addr] {
		return nil, nil
	}
	refreshed, diags := c.refresh.Check(ctx, c.refreshAspect)
	if c.prior() == nil {
		return refreshed, nil // dependents get unknown values where it could not be planned
	}
	return refreshed, diags
}

// planDestroy plans the destruction of everything the instance has. The plan is
// nil if that failed.
func (c *ComponentInstance) planDestroy(
	ctx context.Context, deferAll bool, requires components.Set, refreshed *engine.PlanResult,
) (*stackplan.Component, hcl.Diagnostics) {
	req, ok := c.planRequest(ctx)
	if !ok {
		return nil, nil
	}
	req.Mode, req.DeferAll = engine.Destroy, deferAll
	req.Inputs = c.destroyInputs(req.Inputs)
	if refreshed != nil {
		req.PriorState, req.SkipRefresh = refreshed.RefreshedState, true
	}
	result, diags := c.runPlan(ctx, hooks.WorkPlan, req)
	if result == nil || diags.HasErrors() {
		return nil, diags
	}
	plan := c.planned(ctx, req, requires).NewComponent(req, result)
	plan.Applyable = result.Applyable && len(result.Changes) > 0 // the engine also counts outputs that are removed
	if refreshed != nil && len(plan.EnginePlan) > 0 {
		plan.BaseState = req.PriorState
	}
	return plan, diags
}

// destroyOutputs are the results that others see while the instance is removed.
func (c *ComponentInstance) destroyOutputs(refreshed *engine.PlanResult) map[string]cty.Value {
	if refreshed == nil {
		return c.priorOutputs()
	}
	return refreshed.Outputs
}

// destroyInputs replaces values that are not known by those of the last apply: the objects to
// destroy were made with them.
func (c *ComponentInstance) destroyInputs(inputs map[string]cty.Value) map[string]cty.Value {
	return planning.LastKnown(inputs, c.prior().Inputs)
}

// refreshedOutputs are the results of an instance that is about to be
// destroyed, as they are now. ok is false when it could not be refreshed.
func (c *ComponentInstance) refreshedOutputs(ctx context.Context) (outputs map[string]cty.Value, ok bool) {
	if c.main.planning.SkipRefresh {
		return c.priorOutputs(), true
	}
	result := c.refresh.Value(ctx, c.refreshAspect)
	if result == nil {
		// Not reported for an instance that was never created; a caller that needs the values gets
		// unknown ones.
		return nil, c.prior() == nil
	}
	return result.Outputs, true
}

// refreshAspect makes the hidden plan of a destroy: a normal one, to learn the
// current results, which others need to be destroyed.
func (c *ComponentInstance) refreshAspect() memo.Aspect[*engine.PlanResult] {
	return memo.Aspect[*engine.PlanResult]{
		Name: c.addr.String() + " result",
		Compute: func(ctx context.Context) (*engine.PlanResult, hcl.Diagnostics) {
			req, ok := c.planRequest(ctx)
			if !ok {
				return nil, nil
			}
			req.Mode, req.Replace = engine.Normal, nil
			result, diags := c.runPlan(ctx, hooks.WorkRefresh, req)
			if result == nil || diags.HasErrors() {
				return nil, diags
			}
			diags = nil // warnings about a plan that nobody carries out, failed checks among them
			if len(result.RefreshedState) == 0 && len(req.PriorState) > 0 {
				return nil, diags.Append(diagnostics.Bug("Internal evaluation error",
					"The engine has not reported the result of refreshing %s.", c.addr))
			}
			return result, diags
		},
	}
}
