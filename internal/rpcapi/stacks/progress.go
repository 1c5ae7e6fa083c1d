// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks

import (
	"github.com/cairnstacks/cairn/internal/rpcapi/wire"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// progress is a step of an operation on its way.
type progress = stackspb.StackChangeProgress

func instancesProgress(component stackaddrs.AbsComponent, instances []stackaddrs.AbsComponentInstance) *progress {
	message := &stackspb.StackChangeProgress_ComponentInstances{ComponentAddr: wire.ComponentAddress(component)}
	for _, addr := range instances {
		if !stackaddrs.HasWildcard(addr) { // which stands for those that are not known yet
			message.InstanceAddrs = append(message.InstanceAddrs, addr.String())
		}
	}
	return &progress{Event: &stackspb.StackChangeProgress_ComponentInstances_{ComponentInstances: message}}
}

func statusProgress(addr stackaddrs.AbsComponentInstance, status hooks.Status) *progress {
	return &progress{Event: &stackspb.StackChangeProgress_ComponentInstanceStatus_{
		ComponentInstanceStatus: &stackspb.StackChangeProgress_ComponentInstanceStatus{
			Addr: wire.ComponentInstance(addr), Status: wire.ComponentStatus(status),
		},
	}}
}

// resourceStatus is where a resource instance is.
type resourceStatus = stackspb.StackChangeProgress_ResourceInstanceStatus_Status

// The statuses of resource instances that there are.
const (
	resourcePlanning = stackspb.StackChangeProgress_ResourceInstanceStatus_PLANNING
	resourcePlanned  = stackspb.StackChangeProgress_ResourceInstanceStatus_PLANNED
	resourceApplying = stackspb.StackChangeProgress_ResourceInstanceStatus_APPLYING
	resourceApplied  = stackspb.StackChangeProgress_ResourceInstanceStatus_APPLIED
	resourceErrored  = stackspb.StackChangeProgress_ResourceInstanceStatus_ERRORED
)

// resourceProgress reports the status of an object. The provider may be unknown.
func resourceProgress(addr *stackspb.ResourceInstanceObjectInStackAddr, provider string, status resourceStatus) *progress {
	return &progress{Event: &stackspb.StackChangeProgress_ResourceInstanceStatus_{
		ResourceInstanceStatus: &stackspb.StackChangeProgress_ResourceInstanceStatus{Addr: addr, Status: status, ProviderAddr: provider},
	}}
}

func plannedProgress(component stackaddrs.AbsComponentInstance, c *engine.Change) *progress {
	return &progress{
		Event: &stackspb.StackChangeProgress_ResourceInstancePlannedChange_{ResourceInstancePlannedChange: shortChange(component, c)},
	}
}

func deferredProgress(component stackaddrs.AbsComponentInstance, c engine.DeferredChange) *progress {
	return &progress{Event: &stackspb.StackChangeProgress_DeferredResourceInstancePlannedChange_{
		DeferredResourceInstancePlannedChange: &stackspb.StackChangeProgress_DeferredResourceInstancePlannedChange{
			Deferred: wire.Deferred(c.Reason), Change: shortChange(component, c.Change),
		},
	}}
}

func shortChange(component stackaddrs.AbsComponentInstance, c *engine.Change) *stackspb.StackChangeProgress_ResourceInstancePlannedChange {
	message := &stackspb.StackChangeProgress_ResourceInstancePlannedChange{
		Addr:         wire.ResourceObject(component, c.Address(), c.Deposed),
		Actions:      wire.ResourceActions(c.Action),
		ProviderAddr: wire.ProviderAddress(c.Provider),
	}
	if c.IsMove() {
		message.Moved = &stackspb.StackChangeProgress_ResourceInstancePlannedChange_Moved{
			PrevAddr: wire.ResourceInstance(component, c.PreviousAddr.String()),
		}
	}
	if c.Importing != nil {
		message.Imported = &stackspb.StackChangeProgress_ResourceInstancePlannedChange_Imported{
			ImportId: c.Importing.ID,
			Unknown:  c.Importing.Unknown,
		}
	}
	return message
}

func countsProgress(addr stackaddrs.AbsComponentInstance, n stackplan.Counts) *progress {
	return &progress{Event: &stackspb.StackChangeProgress_ComponentInstanceChanges_{
		ComponentInstanceChanges: &stackspb.StackChangeProgress_ComponentInstanceChanges{
			Addr: wire.ComponentInstance(addr), Total: int32(n.Total()), //nolint:gosec // no plan has as many changes
			Add: int32(n.Add), Change: int32(n.Change), Import: int32(n.Import), Remove: int32(n.Remove), //nolint:gosec // as above
			Defer: int32(n.Defer), Move: int32(n.Move), Forget: int32(n.Forget), ActionInvocation: int32(n.Invoke), //nolint:gosec // as above
		},
	}}
}

// expanded remembers of which components the instances were sent, which comes before all else about
// them. It is used by one goroutine at a time.
type expanded map[stackaddrs.AbsComponent]bool

// announce sends the instances of a component, unless they were sent.
func (e expanded) announce(component stackaddrs.AbsComponent, instances []stackaddrs.AbsComponentInstance, send func(*progress)) {
	if e[component] {
		return
	}
	e[component] = true
	send(instancesProgress(component, instances))
}
