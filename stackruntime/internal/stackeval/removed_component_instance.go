// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/memo"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// RemovedComponentInstance is a component instance that a removed block claims.
// It is there only if the state knows the instance.
type RemovedComponentInstance struct {
	removed *RemovedInstance
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
	switch r.main.produces(ctx, r.addr) {
	case yes:
		return nil, hcl.Diagnostics{r.stillDeclared()}
	case unsure:
		return nil, nil // something is in error, which is reported where it is
	case open, no:
	}
	if r.prior() == nil {
		return nil, nil // it has never been there, or is gone
	}
	if _, found := r.main.findStack(ctx, r.addr.Stack); found == no {
		return nil, hcl.Diagnostics{r.missingStack()}
	}
	_, diags := r.providers.Check(ctx, r.providersAspect)
	plan, moreDiags := r.plan.Check(ctx, r.planAspect)
	diags = diags.Extend(moreDiags)
	if plan == nil {
		return nil, diags
	}
	return []PlannedChange{plannedComponent{plan}}, diags
}

// CheckApply implements [Applyable].
func (r *RemovedComponentInstance) CheckApply(ctx context.Context) hcl.Diagnostics {
	if r.prior() == nil {
		return nil
	}
	_, diags := r.providers.Check(ctx, r.providersAspect)
	return diags
}

func (r *RemovedComponentInstance) stillDeclared() *hcl.Diagnostic {
	detail := fmt.Sprintf("%s is still produced by a component block.", r.addr)
	if stack := r.main.config.descendant(r.addr.Stack.Config()); stack != nil {
		if component := stack.components[r.addr.Item.Component.Name]; component != nil {
			detail = fmt.Sprintf("%s is still produced by the block at %s.", r.addr, component.decl.Range)
		}
	}
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Instance both declared and removed",
		Detail:   detail,
		Subject:  r.removed.removed.config.decl.From.Range.Ptr(),
		Extra:    DiagnosticAddress{Component: r.addr},
	}
}

func (r *RemovedComponentInstance) missingStack() *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Removal target lies in a missing stack",
		Detail:   fmt.Sprintf("%s exists in the state, but nothing in the configuration produces %s any more. Put the stack back until the removal is applied.", r.addr, r.addr.Stack),
		Subject:  r.removed.removed.config.decl.From.Range.Ptr(),
		Extra:    DiagnosticAddress{Component: r.addr},
	}
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
				Progress:    r.progress(),
			}
			if planning.Mode == engine.RefreshOnly {
				req.Mode = engine.RefreshOnly
			}
			if !r.removed.removed.config.decl.Destroy && req.Mode == engine.Destroy {
				return r.planForget(ctx, req, r.prior().Dependencies)
			}
			return r.planRemoval(ctx, req)
		},
	}
}

// recordedInputs are the values of the last apply: what is removed was made with
// them, and the configuration has none any more.
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
	if !hasResources(req.PriorState) && req.Mode == engine.Destroy {
		return r.finish(ctx, req, stackplan.Delete, &engine.PlanResult{Applyable: true, Complete: true}), nil
	}
	result, diags := r.runPlan(ctx, req)
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

func (r *RemovedComponentInstance) finish(ctx context.Context, req *engine.PlanRequest, action stackplan.Action, result *engine.PlanResult) *stackplan.Component {
	prior := r.prior()
	plan := r.newPlan(ctx, req, prior.Dependencies, result)
	plan.Action = action
	plan.Outputs = prior.Outputs
	r.finishPlan(plan)
	return plan
}

// finalInputs implements [changeSubject].
func (r *RemovedComponentInstance) finalInputs(ctx context.Context) map[string]cty.Value {
	module := r.use.Module(ctx)
	if module == nil {
		return map[string]cty.Value{"": expr.Placeholder(cty.DynamicPseudoType)}
	}
	return r.recordedInputs(module)
}

// recordInputs implements [changeSubject].
func (r *RemovedComponentInstance) recordInputs(context.Context) map[string]cty.Value {
	return r.prior().Inputs
}
