// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// Reasons for deferring something, as in docs/language.md, section 4.8.
const (
	providerConfigUnknown = "provider_config_unknown"
	deferredPrerequisite  = "deferred_prereq"
)

// Instance is the component instance that an engine has made a plan for.
type Instance struct {
	Addr     stackaddrs.AbsComponentInstance
	Source   string // of its module, as written
	Requires []stackaddrs.AbsComponent
	Inputs   map[string]cty.Value // as plans keep them
	Prior    *stackstate.Component
}

// NewComponent keeps a plan of the engine together with its basis. It lacks the action.
func (i Instance) NewComponent(req *engine.PlanRequest, result *engine.PlanResult) *stackplan.Component {
	plan := &stackplan.Component{
		Addr:           i.Addr,
		Source:         i.Source,
		Mode:           req.Mode,
		Applyable:      result.Applyable,
		Complete:       result.Complete,
		Requires:       i.Requires,
		Inputs:         i.Inputs,
		Outputs:        result.Outputs,
		Changes:        result.Changes,
		Drift:          result.Drift,
		Deferred:       result.Deferred,
		Checks:         result.Checks,
		RefreshedState: result.RefreshedState,
		Engine:         result.Engine,
		Reason:         result.Reason,

		Invocations: result.Invocations, DeferredInvocations: result.DeferredInvocations,

		Generated: result.Generated,
	}
	if !result.Complete {
		plan.DeferredReason = deferredReason(req, result)
	}
	switch {
	case NeedsApply(result):
		plan.EnginePlan = result.Plan
	case req.Mode == engine.Destroy && result.Complete:
		plan.RefreshedState = nil // data sources at most: nothing has to be done for them to go
	}
	return plan
}

// NewStaying is the plan of an instance that stays in the configuration.
func (i Instance) NewStaying(req *engine.PlanRequest, result *engine.PlanResult) *stackplan.Component {
	plan := i.NewComponent(req, result)
	switch {
	case plan.Mode.KeepsObjects() && i.Prior == nil:
		plan.Action = stackplan.NoOp // there is nothing to look at
	case plan.Mode.KeepsObjects() && len(plan.Drift)+len(plan.Invocations) == 0 && sameValues(i.Prior.Outputs, result.Outputs):
		plan.Action = stackplan.NoOp
	case plan.Mode.KeepsObjects():
		plan.Action = stackplan.Read
	case i.Prior == nil:
		plan.Action = stackplan.Create
	case len(plan.EnginePlan) > 0 || !plan.Complete || !sameValues(i.Prior.Outputs, result.Outputs):
		plan.Action = stackplan.Update
	default:
		plan.Action = stackplan.NoOp
	}
	return plan
}

// NewFailed is the part of a plan with errors that can be shown. The result may be nil.
func (i Instance) NewFailed(req *engine.PlanRequest, result *engine.PlanResult) *stackplan.Component {
	found := engine.PlanResult{}
	if result != nil {
		found = *result
	}
	found.Plan, found.Deferred, found.DeferredInvocations, found.Applyable, found.Complete = nil, nil, nil, false, false
	plan := i.NewStaying(req, &found)
	plan.DeferredReason = "" // it has failed
	return plan
}

// EndOfNothing is the plan to destroy or forget a component without resources.
func EndOfNothing(req *engine.PlanRequest) *engine.PlanResult {
	return &engine.PlanResult{Applyable: !req.DeferAll, Complete: !req.DeferAll}
}

// Forget is the plan to forget all that the prior state has, which needs no engine.
//
// Error: the state cannot be read.
func Forget(req *engine.PlanRequest) (*engine.PlanResult, error) {
	objects, err := tfstate.ParseObjects(req.PriorState)
	if len(req.PriorState) > 0 && err != nil {
		return nil, err
	}
	result := EndOfNothing(req)
	for _, object := range objects {
		if object.Addr.Resource.Mode != stackaddrs.ManagedResource {
			continue
		}
		change := &engine.Change{Addr: object.Addr, Deposed: object.Deposed, Action: engine.ActionForget}
		if provider, err := stackaddrs.ParseProvider(object.ProviderName()); err == nil { // for display only
			change.Provider = provider
		}
		if req.DeferAll {
			result.Deferred = append(result.Deferred, engine.DeferredChange{Reason: deferredPrerequisite, Change: change})
			continue
		}
		result.Changes = append(result.Changes, change)
	}
	return result, nil
}

// deferredReason reports why a plan is not complete: the most specific of the reasons there are.
func deferredReason(req *engine.PlanRequest, result *engine.PlanResult) string {
	for _, config := range req.Providers {
		if config.Unknown {
			return providerConfigUnknown
		}
	}
	if req.DeferAll {
		return deferredPrerequisite
	}
	reason := ""
	for _, deferred := range result.Deferred {
		if reason == "" || reason == deferredPrerequisite {
			reason = deferred.Reason
		}
	}
	return reason
}

// NeedsApply reports whether the engine has something to do. Where it has not, applying means
// keeping the refreshed state of the plan, which costs nothing.
func NeedsApply(result *engine.PlanResult) bool {
	if !result.Applyable {
		return false
	}
	if len(result.Invocations) > 0 {
		return true
	}
	for _, change := range result.Changes {
		if !change.IsNoOp() {
			return true
		}
	}
	for _, value := range result.Outputs {
		if !value.IsWhollyKnown() {
			return true
		}
	}
	return false
}

func sameValues(a, b map[string]cty.Value) bool {
	if len(a) != len(b) {
		return false
	}
	for name, value := range a {
		other, ok := b[name]
		if !ok || !value.RawEquals(other) {
			return false
		}
	}
	return true
}

// LastKnown returns the values with those that are not known replaced by earlier ones.
func LastKnown(values, earlier map[string]cty.Value) map[string]cty.Value {
	known := make(map[string]cty.Value, len(values))
	for name, value := range values {
		if last, ok := earlier[name]; ok && !value.IsWhollyKnown() && last.IsWhollyKnown() {
			value = last
		}
		known[name] = value
	}
	return known
}

// HasObjects reports whether a module state has any objects. One that cannot be
// read counts as having some: nothing may be lost for that.
func HasObjects(state engine.State) bool {
	doc, err := tfstate.Parse(state)
	return err != nil || doc.HasObjects()
}
