// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/memo"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/planning"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// RemovedComponentInstance is a component instance that a removed block claims.
// It is there only if the state knows the instance.
type RemovedComponentInstance struct {
	removed *RemovedInstance
	standIn bool // it is not known yet whether the block means this one
	managedInstance

	plan memo.Memo[*stackplan.Component]
}

func newRemovedComponentInstance(removed *RemovedInstance, addr stackaddrs.AbsComponentInstance) *RemovedComponentInstance {
	block := removed.removed
	return &RemovedComponentInstance{
		removed: removed,
		managedInstance: managedInstance{
			main:  block.stack.main,
			addr:  addr,
			use:   &block.config.moduleUse,
			scope: repetitionScope{block.stack, removed.repetition},
		},
	}
}

// PlanChanges implements [Plannable].
func (r *RemovedComponentInstance) PlanChanges(ctx context.Context) ([]PlannedChange, hcl.Diagnostics) {
	if !r.main.isSelected(ctx, r.addr) {
		return nil, nil
	}
	_, diags := r.providers.Check(ctx, r.providersAspect)
	plan, moreDiags := r.plan.Check(ctx, r.planAspect)
	diags = diags.Extend(moreDiags)
	if plan == nil {
		return nil, diags
	}
	return []PlannedChange{plannedComponent{plan}}, diags
}

// Check implements [Checkable].
func (r *RemovedComponentInstance) Check(ctx context.Context) hcl.Diagnostics {
	_, diags := r.providers.Check(ctx, r.providersAspect)
	return diags
}

// Plan is the plan of the removal; nil when it could not be planned.
func (r *RemovedComponentInstance) Plan(ctx context.Context) *stackplan.Component {
	return r.plan.Value(ctx, r.planAspect)
}

func (r *RemovedComponentInstance) planAspect() memo.Aspect[*stackplan.Component] {
	return memo.Aspect[*stackplan.Component]{
		Name: r.addr.String() + " (removed) plan",
		Compute: func(ctx context.Context) (*stackplan.Component, hcl.Diagnostics) {
			r.setStatus(hooks.Pending)
			providers := r.providers.Value(ctx, r.providersAspect)
			module := r.use.Module(ctx)
			if module == nil || failedProviders(providers) {
				r.setStatus(hooks.Failed)
				return nil, nil
			}
			planning := r.main.planning
			req := &engine.PlanRequest{
				Component:   r.addr,
				ModuleDir:   r.use.source.Dir,
				Mode:        engine.Destroy,
				Inputs:      r.recordedInputs(module),
				Providers:   providers,
				PriorState:  r.priorModule(),
				SkipRefresh: planning.SkipRefresh,
				Timestamp:   planning.Timestamp,
				DeferAll:    r.standIn,
			}
			if planning.Mode.KeepsObjects() {
				req.Mode = engine.RefreshOnly
			} else if r.dependentsState(ctx) != planComplete {
				req.DeferAll = true
			}
			if !r.removed.removed.config.decl.Destroy && req.Mode == engine.Destroy {
				return r.planForget(ctx, req, r.RequiredComponents(ctx))
			}
			return r.planRemoval(ctx, req)
		},
	}
}

// recordedInputs are the values of the last apply: the removed objects were made with them, and the
// configuration has none any more.
func (r *RemovedComponentInstance) recordedInputs(module *engine.Module) map[string]cty.Value {
	prior := r.prior()
	inputs := make(map[string]cty.Value, len(module.Variables))
	for name, variable := range module.Variables {
		value, ok := prior.Inputs[name]
		ty := variable.Type.WithoutOptionalAttributesDeep()
		switch {
		case ok && value.Type().Equals(ty):
			inputs[name] = value
		case ok && ty == cty.DynamicPseudoType:
			inputs[name] = value
		case variable.Default != cty.NilVal:
			inputs[name] = variable.Default
		default:
			inputs[name] = cty.UnknownVal(ty)
		}
	}
	return inputs
}

func (r *RemovedComponentInstance) planRemoval(ctx context.Context, req *engine.PlanRequest) (*stackplan.Component, hcl.Diagnostics) {
	if !planning.HasObjects(req.PriorState) && req.Mode == engine.Destroy {
		return r.finish(ctx, req, stackplan.Delete, planning.EndOfNothing(req)), nil
	}
	result, diags := r.runPlan(ctx, hooks.WorkPlan, req)
	if result == nil || diags.HasErrors() {
		r.setStatus(hooks.Failed)
		return nil, diags
	}
	action := stackplan.Delete
	if req.Mode == engine.RefreshOnly {
		action = stackplan.Read
	}
	return r.finish(ctx, req, action, result), diags
}

func (r *RemovedComponentInstance) finish(
	ctx context.Context, req *engine.PlanRequest, action stackplan.Action, result *engine.PlanResult,
) *stackplan.Component {
	prior := r.prior()
	plan := r.planned(ctx, req, r.RequiredComponents(ctx)).NewComponent(req, result)
	plan.Action = action
	plan.Outputs = prior.Outputs
	r.finishPlan(plan)
	return plan
}
