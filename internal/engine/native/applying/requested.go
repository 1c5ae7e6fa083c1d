// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"context"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/eval"
	"github.com/cairnstacks/cairn/internal/engine/native/planned"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// invokeRequested invokes the actions that no change triggers, one after another until one fails.
func (a *applier) invokeRequested(ctx context.Context) {
	for n, i := range a.Plan.Requested {
		if a.eval.Diagnostics.HasErrors() {
			a.notInvoked("An error came before", a.Plan.Requested[n:])
			return
		}
		if asked := a.invokeRequest(ctx, i); !asked && a.isStopped() {
			a.notInvoked("The work was stopped", a.Plan.Requested[n:])
			return
		}
	}
}

// notInvoked reports which actions were not invoked.
func (a *applier) notInvoked(why string, left []*planned.Invocation) {
	var text strings.Builder
	for _, i := range left {
		text.WriteString("\n  - " + i.Addr.String())
		if caller := i.Trigger.Caller(); caller != "" {
			text.WriteString(" for " + caller)
		}
	}
	a.eval.Diagnostics.Add(failure.New("Actions not invoked", "%s. These actions were not invoked:\n%s", why, text.String()))
}

// invokeRequest invokes an action, and returns whether its provider was asked to.
func (a *applier) invokeRequest(ctx context.Context, i *planned.Invocation) (asked bool) {
	if a.isStopped() {
		return false
	}
	declared := a.declaredAction(a.eval.Module(ctx, i.Addr.Module), i)
	if declared == nil {
		return false
	}
	t, caller, ok := a.callerOf(ctx, i)
	if !ok {
		return false
	}
	action, ok := a.rt.Action(ctx, declared, i.Addr.Key, t, caller)
	if !ok {
		return false
	}
	config, ok := a.finalConfig(ctx, action, i)
	if !ok {
		return false
	}
	asked, _ = a.rt.Invoke(ctx, action, config, i.Trigger)
	return asked
}

// callerOf returns the instance that an action is invoked for. It is nil if the configuration of
// the action does not refer to its caller.
func (a *applier) callerOf(ctx context.Context, i *planned.Invocation) (*resource.Target, *eval.Caller, bool) {
	addr := i.Trigger.Resource
	if i.Trigger.Caller() == "" {
		return nil, nil, true
	}
	m := a.eval.Module(ctx, addr.Module)
	if m == nil || m.Resource(addr.Resource) == nil {
		return nil, nil, a.eval.Diagnostics.AddTo(addr.String(), failure.New("Planned caller not declared",
			"The plan invokes %s for %s, which the configuration does not declare. Plan again.", i.Addr, addr))
	}
	r := m.Resource(addr.Resource)
	t, ok := a.rt.Target(ctx, r, addr.Key)
	return t, &eval.Caller{Resource: r, Object: func(ctx context.Context, key stackaddrs.InstanceKey) (cty.Value, bool) {
		return a.Object(ctx, r, key)
	}}, ok
}
