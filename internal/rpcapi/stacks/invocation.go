// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/rpcapi/wire"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

func describeInvocation(component stackaddrs.AbsComponentInstance, i *engine.Invocation) (*description, error) {
	planned, err := plannedInvocation(component, i)
	return &description{Description: &stackspb.PlannedChange_ChangeDescription_ActionInvocationPlanned{ActionInvocationPlanned: planned}}, err
}

func describeDeferredInvocation(component stackaddrs.AbsComponentInstance, d engine.DeferredInvocation) (*description, error) {
	planned, err := plannedInvocation(component, d.Invocation)
	return &description{Description: &stackspb.PlannedChange_ChangeDescription_ActionInvocationDeferred{
		ActionInvocationDeferred: &stackspb.PlannedChange_ActionInvocationDeferred{ActionInvocation: planned, Deferred: wire.Deferred(d.Reason)},
	}}, err
}

// plannedInvocation describes an invocation. The configuration is sent by the type that it has,
// which is the one of the action's schema.
func plannedInvocation(
	component stackaddrs.AbsComponentInstance, i *engine.Invocation,
) (*stackspb.PlannedChange_ActionInvocationInstance, error) {
	planned := &stackspb.PlannedChange_ActionInvocationInstance{
		Addr: wire.ActionInvocation(component, i.Addr), ProviderAddr: wire.ProviderAddress(i.Provider), ActionType: i.Addr.Type,
		ActionTrigger: &stackspb.PlannedChange_ActionInvocationInstance_ResourceActionTrigger{
			ResourceActionTrigger: &stackspb.PlannedChange_ResourceActionTrigger{
				TriggeringResourceAddress: wire.ResourceInstance(component, i.Trigger.Resource.String()), TriggerEvent: plannedEvents[i.Trigger.Event],
				ActionTriggerBlockIndex: int64(i.Trigger.Block), ActionsListIndex: int64(i.Trigger.Position),
			},
		},
	}
	if i.Config == cty.NilVal {
		return planned, nil
	}
	var err error
	planned.ConfigValue, err = wire.ValueOf(i.Config, i.Config.Type())
	return planned, err
}

var plannedEvents = map[engine.TriggerEvent]stackspb.PlannedChange_ActionTriggerEvent{
	engine.BeforeCreate: stackspb.PlannedChange_BEFORE_CREATE,
	engine.AfterCreate:  stackspb.PlannedChange_AFTER_CREATE,
	engine.BeforeUpdate: stackspb.PlannedChange_BEFORE_UPDATE,
	engine.AfterUpdate:  stackspb.PlannedChange_AFTER_UPDATE,

	engine.BeforeDestroy: stackspb.PlannedChange_BEFORE_DESTROY,
	engine.AfterDestroy:  stackspb.PlannedChange_AFTER_DESTROY,
}

var progressEvents = map[engine.TriggerEvent]stackspb.StackChangeProgress_ActionTriggerEvent{
	engine.BeforeCreate: stackspb.StackChangeProgress_BEFORE_CREATE,
	engine.AfterCreate:  stackspb.StackChangeProgress_AFTER_CREATE,
	engine.BeforeUpdate: stackspb.StackChangeProgress_BEFORE_UPDATE,
	engine.AfterUpdate:  stackspb.StackChangeProgress_AFTER_UPDATE,

	engine.BeforeDestroy: stackspb.StackChangeProgress_BEFORE_DESTROY,
	engine.AfterDestroy:  stackspb.StackChangeProgress_AFTER_DESTROY,
}

func progressTrigger(component stackaddrs.AbsComponentInstance, t engine.Trigger) *stackspb.StackChangeProgress_ResourceActionTrigger {
	return &stackspb.StackChangeProgress_ResourceActionTrigger{
		TriggeringResourceAddress: wire.ResourceInstance(component, t.Resource.String()), TriggerEvent: progressEvents[t.Event],
		ActionTriggerBlockIndex: int64(t.Block), ActionsListIndex: int64(t.Position),
	}
}

func invocationProgress(component stackaddrs.AbsComponentInstance, i *engine.Invocation) *progress {
	return &progress{Event: &stackspb.StackChangeProgress_ActionInvocationPlanned_{
		ActionInvocationPlanned: &stackspb.StackChangeProgress_ActionInvocationPlanned{
			Addr: wire.ActionInvocation(component, i.Addr), ProviderAddr: wire.ProviderAddress(i.Provider),
			ActionTrigger: &stackspb.StackChangeProgress_ActionInvocationPlanned_ResourceActionTrigger{
				ResourceActionTrigger: progressTrigger(component, i.Trigger),
			},
		},
	}}
}

// invocationStatus is how far an invocation is.
type invocationStatus = stackspb.StackChangeProgress_ActionInvocationStatus_Status

const invocationPending = stackspb.StackChangeProgress_ActionInvocationStatus_PENDING

// invocationStatuses are those that events of the engine stand for.
var invocationStatuses = map[engine.EventType]invocationStatus{
	engine.ActionStart:    stackspb.StackChangeProgress_ActionInvocationStatus_RUNNING,
	engine.ActionComplete: stackspb.StackChangeProgress_ActionInvocationStatus_COMPLETED,
	engine.ActionErrored:  stackspb.StackChangeProgress_ActionInvocationStatus_ERRORED,
}

func invocationStatusProgress(component stackaddrs.AbsComponentInstance, i *engine.Invocation, status invocationStatus) *progress {
	return &progress{Event: &stackspb.StackChangeProgress_ActionInvocationStatus_{
		ActionInvocationStatus: &stackspb.StackChangeProgress_ActionInvocationStatus{
			Addr: wire.ActionInvocation(component, i.Addr), Status: status, ProviderAddr: wire.ProviderAddress(i.Provider),
			ActionTrigger: &stackspb.StackChangeProgress_ActionInvocationStatus_ResourceActionTrigger{
				ResourceActionTrigger: progressTrigger(component, i.Trigger),
			},
		},
	}}
}

// invocationEvent returns the message for an event of the engine about an invocation, or nil.
func invocationEvent(component stackaddrs.AbsComponentInstance, event engine.Event) *progress {
	i := event.Invocation
	if status, ok := invocationStatuses[event.Type]; ok {
		return invocationStatusProgress(component, i, status)
	}
	if event.Type != engine.ActionProgress {
		return nil
	}
	return &progress{Event: &stackspb.StackChangeProgress_ActionInvocationProgress_{
		ActionInvocationProgress: &stackspb.StackChangeProgress_ActionInvocationProgress{
			Addr: wire.ActionInvocation(component, i.Addr), Message: event.Message, ProviderAddr: wire.ProviderAddress(i.Provider),
			ActionTrigger: &stackspb.StackChangeProgress_ActionInvocationProgress_ResourceActionTrigger{
				ResourceActionTrigger: progressTrigger(component, i.Trigger),
			},
		},
	}}
}
