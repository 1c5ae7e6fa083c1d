// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tfengine

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/tfengine/module"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// reasonPrerequisite is why changes are deferred whose component depends on something deferred.
const reasonPrerequisite = "deferred_prereq"

// mustDefer tells whether the component can't even be planned yet.
//
// With a configuration that is not wholly known a provider can plan, but not read: a data source would
// fail, or return what is wrong.
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

// deferredPlan is the plan of a component of which nothing can be planned yet.
func deferredPlan(mod *engine.Module, req *engine.PlanRequest) *engine.PlanResult {
	result := &engine.PlanResult{
		Outputs:        make(map[string]cty.Value, len(mod.Outputs)),
		RefreshedState: req.PriorState,
	}
	for name, output := range mod.Outputs {
		result.Outputs[name] = markOutput(cty.DynamicVal, output.Sensitive)
	}
	return result
}

// deferChanges makes what was planned something to plan later, since it rests on what is itself
// deferred. That instances can't be counted yet is then no error.
func deferChanges(mod *engine.Module, req *engine.PlanRequest, result *engine.PlanResult, diags hcl.Diagnostics) (*engine.PlanResult, hcl.Diagnostics) {
	if diags.HasErrors() {
		for _, diag := range diags {
			if diag.Severity == hcl.DiagError && !isUnknownInstances(diag) {
				return result, diags
			}
		}
		return deferredPlan(mod, req), nil
	}
	for _, change := range result.Changes {
		if !change.Change.Actions.NoOp() {
			result.Deferred = append(result.Deferred, engine.DeferredChange{Reason: reasonPrerequisite, Change: change})
		}
	}
	result.Plan, result.Changes, result.Applyable, result.Complete = nil, nil, false, false
	return result, diags
}

// isUnknownInstances recognises the errors about count and for_each arguments that are not known yet.
func isUnknownInstances(diag *hcl.Diagnostic) bool {
	return (diag.Summary == "Invalid count argument" || diag.Summary == "Invalid for_each argument") &&
		strings.Contains(diag.Detail, "cannot be determined until apply")
}
