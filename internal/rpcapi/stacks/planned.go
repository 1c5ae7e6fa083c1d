// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks

import (
	"context"

	"github.com/cairnstacks/cairn/internal/rpcapi/wire"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// description is the readable form of one planned change, for people and other programs.
type description = stackspb.PlannedChange_ChangeDescription

// plannedChange returns an element of a plan with its descriptions.
func plannedChange(element stackplan.Element, descriptions ...*description) *stackspb.PlannedChange {
	return &stackspb.PlannedChange{Raw: []stackplan.Element{element}, Descriptions: descriptions}
}

func describeComponent(c *stackplan.Component) (*description, error) {
	outputs, err := wire.Values(c.Outputs)
	return &description{Description: &stackspb.PlannedChange_ChangeDescription_ComponentInstancePlanned{
		ComponentInstancePlanned: &stackspb.PlannedChange_ComponentInstance{
			Addr: wire.ComponentInstance(c.Addr), Actions: wire.ComponentActions(c), PlanComplete: c.Complete, OutputValues: outputs,
		},
	}}, err
}

func (t *resourceTypes) describeResource(
	ctx context.Context, component stackaddrs.AbsComponentInstance, c *engine.Change,
) (*description, error) {
	planned, err := t.resource(ctx, component, c)
	return &description{Description: &stackspb.PlannedChange_ChangeDescription_ResourceInstancePlanned{ResourceInstancePlanned: planned}}, err
}

func (t *resourceTypes) describeDeferred(
	ctx context.Context, component stackaddrs.AbsComponentInstance, c engine.DeferredChange,
) (*description, error) {
	planned, err := t.resource(ctx, component, c.Change)
	return &description{Description: &stackspb.PlannedChange_ChangeDescription_ResourceInstanceDeferred{
		ResourceInstanceDeferred: &stackspb.PlannedChange_ResourceInstanceDeferred{ResourceInstance: planned, Deferred: wire.Deferred(c.Reason)},
	}}, err
}

func (t *resourceTypes) resource(
	ctx context.Context, component stackaddrs.AbsComponentInstance, c *engine.Change,
) (*stackspb.PlannedChange_ResourceInstance, error) {
	planned := &stackspb.PlannedChange_ResourceInstance{
		Addr:         wire.ResourceObject(component, c.Address(), c.Deposed),
		Actions:      wire.ResourceActions(c.Action),
		ModuleAddr:   c.Addr.Module.String(),
		ProviderAddr: wire.ProviderAddress(c.Provider),
		ReplacePaths: wire.Paths(c.Replace),
		ActionReason: wire.ActionReason(c.Reason),
	}
	if !c.IsModule() {
		planned.ResourceMode = wire.ResourceMode(c.Addr.Resource.Mode)
		planned.ResourceType, planned.ResourceName = c.Addr.Resource.Type, c.Addr.Resource.Name
	}
	if c.IsMove() {
		planned.Moved = &stackspb.PlannedChange_ResourceInstance_Moved{PrevAddr: wire.ResourceInstance(component, c.PreviousAddr.String())}
	}
	if c.Importing != nil {
		planned.Imported = &stackspb.PlannedChange_ResourceInstance_Imported{ImportId: c.Importing.ID, Unknown: c.Importing.Unknown}
	}
	var err error
	if planned.Index, err = instanceIndex(c.Addr.Key); err != nil {
		return nil, err
	}
	planned.Values, err = t.change(ctx, c)
	return planned, err
}

// instanceIndex returns the key of an instance, nil for none.
func instanceIndex(key stackaddrs.InstanceKey) (*stackspb.PlannedChange_ResourceInstance_Index, error) {
	switch {
	case key == stackaddrs.NoKey:
		return nil, nil
	case key.IsWildcard():
		return &stackspb.PlannedChange_ResourceInstance_Index{Unknown: true}, nil
	}
	value, err := wire.Value(key.Value())
	return &stackspb.PlannedChange_ResourceInstance_Index{Value: value}, err
}

func describeInput(name string, c *stackplan.InputChange) (*description, error) {
	values, err := wire.Change(c.Before, c.After)
	return &description{Description: &stackspb.PlannedChange_ChangeDescription_InputVariablePlanned{
		InputVariablePlanned: &stackspb.PlannedChange_InputVariable{
			Name: name, Actions: wire.RootActions(c.Action), Values: values, RequiredDuringApply: c.RequiredOnApply,
		},
	}}, err
}

func describeOutput(name string, c *stackplan.OutputChange) (*description, error) {
	values, err := wire.Change(c.Before, c.After)
	return &description{Description: &stackspb.PlannedChange_ChangeDescription_OutputValuePlanned{
		OutputValuePlanned: &stackspb.PlannedChange_OutputValue{Name: name, Actions: wire.RootActions(c.Action), Values: values},
	}}, err
}

func describeVerdict(applyable bool) *description {
	return &description{Description: &stackspb.PlannedChange_ChangeDescription_PlanApplyable{PlanApplyable: applyable}}
}
