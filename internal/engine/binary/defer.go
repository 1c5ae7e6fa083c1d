// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/binary/planfile"
	"github.com/cairnstacks/cairn/internal/engine/binary/workcopy"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/module/links"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// Why changes are deferred: because of their dependencies, because the number of instances or the
// id of the object to import is not known, or because the configuration of their provider is not.
const (
	reasonPrerequisite  = "deferred_prereq"
	reasonInstanceCount = "instance_count_unknown"
	reasonConfig        = "resource_config_unknown"
	reasonProvider      = "provider_config_unknown"
)

// mustDefer reports whether the component can't even be planned yet.
//
// With a configuration that is not wholly known a provider can plan, but not read: a data source
// would fail, or return wrong data.
func mustDefer(tree *module.Tree, req *engine.PlanRequest) bool {
	for slot, config := range req.Providers {
		if config.Unknown || tree.DataProviders[slot] && !isWhollyKnown(config.Config) {
			return true
		}
	}
	return false
}

func isWhollyKnown(value cty.Value) bool {
	if value == cty.NilVal {
		return true
	}
	value, _ = value.UnmarkDeep()
	return value.IsWhollyKnown()
}

// deferredPlan is the plan of a component of which nothing can be planned yet, because a provider
// configuration is not known.
func (e *Session) deferredPlan(tree *module.Tree, req *engine.PlanRequest, prior *tfstate.Document) *engine.PlanResult {
	result := &engine.PlanResult{
		Engine:         e.info,
		Outputs:        make(map[string]cty.Value, len(tree.Module.Outputs)),
		RefreshedState: req.PriorState,
		Deferred:       unplanned(tree, req, prior),
	}
	for name, output := range tree.Module.Outputs {
		result.Outputs[name] = markOutput(cty.DynamicVal, output.Sensitive)
	}
	return result
}

// unplanned describes all resources of a component as deferred, as far as their blocks and the
// state show them.
func unplanned(tree *module.Tree, req *engine.PlanRequest, prior *tfstate.Document) []engine.DeferredChange {
	if req.Mode == engine.RefreshOnly {
		return nil
	}
	p := &partial{links: links.New(tree), stored: prior.Resources()}
	p.links.Block(p.links.Places())
	unknown := map[stackaddrs.Provider]bool{}
	for _, config := range req.Providers {
		unknown[config.Provider] = unknown[config.Provider] || config.Unknown || !isWhollyKnown(config.Config)
	}
	changes := p.deferred()
	for i, change := range changes {
		if unknown[change.Change.Provider] {
			changes[i].Reason = reasonProvider
		}
	}
	if req.Mode == engine.Destroy {
		changes = slices.DeleteFunc(changes, func(change engine.DeferredChange) bool { return !p.isStored(change.Change) })
		for _, change := range changes {
			change.Change.Action = engine.ActionDelete
		}
	}
	return changes
}

// deferChanges defers all changes of a plan, since it rests on objects that are deferred
// themselves.
func deferChanges(result *engine.PlanResult, diags hcl.Diagnostics) *engine.PlanResult {
	if diags.HasErrors() {
		return result
	}
	for _, change := range result.Changes {
		if !change.IsNoOp() {
			result.Deferred = append(result.Deferred, engine.DeferredChange{Reason: reasonPrerequisite, Change: change})
		}
	}
	engine.SortDeferred(result.Deferred)
	result.Plan, result.Changes, result.Applyable, result.Complete = nil, nil, false, false
	return result
}

// isUnknownInstances recognises the errors about count and for_each arguments that are not known
// yet, about ids of import blocks, and about tofu's enabled argument.
func isUnknownInstances(diag *hcl.Diagnostic) bool {
	switch diag.Summary {
	case "Invalid count argument", "Invalid for_each argument", "Invalid import id argument":
		return strings.Contains(diag.Detail, "cannot be determined until apply")
	case "Invalid enabled argument":
		return strings.Contains(diag.Detail, "won't be known until the apply phase")
	default:
		return false
	}
}

// OnlyUnknownInstances reports whether there are errors, and all of them are about numbers of
// instances, or ids to import, that are not known while planning.
func OnlyUnknownInstances(diags hcl.Diagnostics) bool { return onlyUnknownInstances(diags) }

// onlyUnknownInstances reports whether there are errors, and all of them are such.
func onlyUnknownInstances(diags hcl.Diagnostics) bool {
	return diags.HasErrors() && !slices.ContainsFunc(diags, func(diag *hcl.Diagnostic) bool {
		return diag.Severity == hcl.DiagError && !isUnknownInstances(diag)
	})
}

func warnings(diags hcl.Diagnostics) hcl.Diagnostics {
	return slices.DeleteFunc(slices.Clone(diags), func(diag *hcl.Diagnostic) bool { return diag.Severity == hcl.DiagError })
}

// withoutTargeting drops the warnings about targets: they are ours.
func withoutTargeting(diags hcl.Diagnostics) hcl.Diagnostics {
	return slices.DeleteFunc(slices.Clone(diags), func(diag *hcl.Diagnostic) bool {
		return diag.Severity == hcl.DiagWarning &&
			(diag.Summary == "Resource targeting is in effect" || diag.Summary == "Applied changes may be incomplete")
	})
}

// deferInstances makes the best of a plan in which the only errors are numbers of instances that
// are not known yet: a second process plans all but their dependents.
func (p *planning) deferInstances(ctx context.Context, diags hcl.Diagnostics) (*engine.PlanResult, hcl.Diagnostics, error) {
	if p.req.Mode == engine.Destroy {
		// The error is one of the refresh before. Destroying doesn't depend on the number of instances.
		return p.destroyInstances(ctx)
	}
	_, plan, err := p.read(ctx)
	if err != nil {
		return nil, nil, err
	}
	if plan == nil {
		return p.conclude(ctx, diags)
	}
	part, err := newPartial(p.tree, plan, diags)
	if err != nil {
		return nil, nil, err
	}
	if part == nil {
		return p.conclude(ctx, diags)
	}
	result, err := p.describe(plan)
	if err != nil {
		return nil, nil, err
	}
	result.Deferred = part.deferred()
	if p.req.DeferAll || p.req.Mode == engine.RefreshOnly || !part.hasChanges() {
		return result, warnings(diags), nil // nothing to apply but the drift of the refresh
	}
	targetErrors, err := p.planTargets(ctx, part, result)
	if err != nil || targetErrors.HasErrors() {
		addRemedies(targetErrors)
		return nil, targetErrors, err
	}
	return result, warnings(diags), nil
}

// planTargets plans the plannable part once more, so that it can be applied, and completes the
// result.
func (p *planning) planTargets(ctx context.Context, part *partial, result *engine.PlanResult) (hcl.Diagnostics, error) {
	args := p.args()
	for _, target := range part.targets() {
		args = append(args, "-target="+target)
	}
	if !p.prior.IsEmpty() {
		// The state that the first plan has found needs no refreshing, and its objects no moving, which
		// the engine refuses unless all that moves is a target.
		if err := os.WriteFile(filepath.Join(p.copy.Root, workcopy.StateFile), part.plan.PriorState, 0o600); err != nil {
			return nil, fmt.Errorf("replacing the state: %w", err)
		}
		args = append(args, "-refresh=false")
	}
	diags, err := p.process(ctx, args, nil)
	if err != nil || diags.HasErrors() {
		return diags, err
	}
	data, plan, err := p.read(ctx)
	if err != nil {
		return nil, err
	}
	if plan == nil {
		return nil, errors.New("reading the plan: there is none")
	}
	result.Applyable = plan.Applyable
	result.Changes = describedChanges(plan.ResourceChanges, part.plan.ResourceChanges)
	known := p.mergeOutputs(result.Outputs, plan)
	result.Plan, err = p.store(data, known)
	return nil, err
}

// describedChanges returns the changes as the first plan describes them. It knows the moves and
// imports.
func describedChanges(changes, first []*engine.Change) []*engine.Change {
	object := func(change *engine.Change) stackaddrs.ResourceInstanceObject {
		return stackaddrs.ResourceInstanceObject{Instance: change.Addr, Deposed: change.Deposed}
	}
	byObject := map[stackaddrs.ResourceInstanceObject]*engine.Change{}
	for _, change := range first {
		byObject[object(change)] = change
	}
	changes = visibleChanges(changes)
	for i, change := range changes {
		if same := byObject[object(change)]; same != nil && same.Action == change.Action {
			changes[i] = same
		}
	}
	return changes
}

// mergeOutputs adds the outputs that will be computed to those of the first plan, and returns those
// that are known without.
func (p *planning) mergeOutputs(outputs map[string]cty.Value, plan *planfile.Plan) map[string]cty.Value {
	known := map[string]cty.Value{}
	for name, value := range p.outputs(plan) {
		switch {
		case plan.Outputs[name] != nil:
			outputs[name] = value
		case isWhollyKnown(outputs[name]):
			known[name] = outputs[name]
		}
	}
	return known
}
