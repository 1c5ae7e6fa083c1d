// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tfengine

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/tfengine/module"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// The reasons for deferring a component as a whole.
const (
	reasonPrerequisite    = "deferred_prereq"
	reasonProviderUnknown = "provider_config_unknown"
)

// mustDefer tells whether the component can't be planned yet.
//
// With a configuration that is not wholly known a provider can plan, but not read: a data source would
// fail, or return what is wrong.
func mustDefer(tree *module.Tree, req *engine.PlanRequest) (bool, string) {
	if req.DeferAll {
		return true, reasonPrerequisite
	}
	for slot, config := range req.Providers {
		if config.Unknown || tree.DataProviders[slot] && !isWhollyKnown(config.Config) {
			return true, reasonProviderUnknown
		}
	}
	return false, ""
}

func isWhollyKnown(value cty.Value) bool {
	if value == cty.NilVal {
		return true
	}
	value, _ = value.UnmarkDeep()
	return value.IsWhollyKnown()
}

// deferredPlan is the plan of a component of which nothing can be planned yet.
func deferredPlan(mod *engine.Module, req *engine.PlanRequest, _ string) *engine.PlanResult {
	result := &engine.PlanResult{
		Outputs:        make(map[string]cty.Value, len(mod.Outputs)),
		RefreshedState: req.PriorState,
	}
	for name, output := range mod.Outputs {
		result.Outputs[name] = markOutput(cty.DynamicVal, output.Sensitive)
	}
	return result
}
