// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning

import (
	"context"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/eval"
	"github.com/cairnstacks/cairn/internal/engine/native/planned"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// planRequested plans the actions that somebody asks for, with the objects as they are.
func (p *planner) planRequested(ctx context.Context) {
	for position, addr := range p.Requested.Actions {
		if !p.request(ctx, addr, position) {
			return
		}
	}
	for _, addr := range p.Requested.Callers {
		if !slices.ContainsFunc(p.requested, func(i *planned.Invocation) bool { return names(addr, i.Trigger.Resource) }) {
			p.eval.Diagnostics.Add(failure.New("Caller not found", "%s has no object, or triggers none of the actions that are to be invoked "+
				"and refer to their caller.", addr))
		}
	}
}

// request plans an action, or all instances of one that is named without a key.
func (p *planner) request(ctx context.Context, addr stackaddrs.ActionInstance, position int) bool {
	a := p.declaredAction(ctx, addr)
	if a == nil {
		return false
	}
	x, ok := a.Expand(ctx)
	if !ok {
		return false
	}
	keys := []stackaddrs.InstanceKey{addr.Key}
	switch {
	case x.Unknown:
		return p.eval.Diagnostics.Add(failure.At(a.Config.Range, "Unknown action instances",
			"The instances of %s are not known before other changes are applied, so that none can be invoked.", addr))
	case addr.Key == stackaddrs.NoKey:
		keys = x.Keys
	case !x.Has(addr.Key):
		return p.eval.Diagnostics.Add(failure.At(a.Config.Range, "Action to invoke not found", "There is no instance %s.", addr))
	}
	for _, key := range keys {
		if !p.requestInstance(ctx, a, key, position) {
			return false
		}
	}
	return true
}

// declaredAction returns the action at an address, or nil after an error.
func (p *planner) declaredAction(ctx context.Context, addr stackaddrs.ActionInstance) *eval.Action {
	m := p.eval.Module(ctx, addr.Module)
	if m == nil {
		p.eval.Diagnostics.Add(failure.New("Action to invoke not found", "The configuration has no module instance %s, and so no %s.",
			addr.Module, addr))
		return nil
	}
	if a := m.Action(addr.Type, addr.Name); a != nil {
		return a
	}
	name := addr.Type + "." + addr.Name
	p.eval.Diagnostics.Add(failure.New("Action to invoke not found", "The configuration has no %s.%s",
		addr, p.eval.Diagnostics.DidYouMean(name, maps.Keys(m.Config.Actions))))
	return nil
}

// requestInstance plans an instance of an action: once, or for each caller if it refers to that.
func (p *planner) requestInstance(ctx context.Context, a *eval.Action, key stackaddrs.InstanceKey, position int) bool {
	of := engine.Trigger{Position: position}
	if !a.Config.HasCaller() {
		return p.requestFor(ctx, a, key, of, nil, nil)
	}
	callers, ok := p.callers(ctx, a, key)
	if ok && len(callers) == 0 {
		p.eval.Diagnostics.Add(failure.WarningAt(a.Config.Range, "Action without callers",
			"%s refers to its caller, and there is no object that it could be invoked for.", a.Addr(key)))
	}
	for _, caller := range callers {
		of.Resource = caller.Addr
		object := func(ctx context.Context, key stackaddrs.InstanceKey) (cty.Value, bool) {
			return p.Object(ctx, caller.Resource, key)
		}
		if !p.requestFor(ctx, a, key, of, caller, &eval.Caller{Resource: caller.Resource, Object: object}) {
			return false
		}
	}
	return ok
}

// callers returns the existing instances that trigger an instance of an action, and that the
// request does not leave out.
func (p *planner) callers(ctx context.Context, a *eval.Action, key stackaddrs.InstanceKey) ([]*resource.Target, bool) {
	var found []*resource.Target
	for _, r := range a.TriggeredBy() {
		x, ok := r.Expand(ctx)
		if !ok {
			return nil, false
		}
		for _, instance := range x.Keys {
			addr := r.Addr(instance)
			if p.fresh.Object(addr, "") == nil || !p.wantsCaller(addr) {
				continue
			}
			t, ok := p.rt.Target(ctx, r, instance)
			if !ok {
				return nil, false
			}
			calls, ok := p.triggersAction(ctx, t, a, key)
			if !ok {
				return nil, false
			}
			if calls {
				found = append(found, t)
			}
		}
	}
	slices.SortFunc(found, func(a, b *resource.Target) int { return a.Addr.Compare(b.Addr) })
	return found, true
}

func (p *planner) wantsCaller(addr stackaddrs.ResourceInstance) bool {
	return len(p.Requested.Callers) == 0 ||
		slices.ContainsFunc(p.Requested.Callers, func(wanted stackaddrs.ResourceInstance) bool { return names(wanted, addr) })
}

// names reports whether an address of a request, which without a key is that of all instances of a
// block, names an instance.
func names(wanted, addr stackaddrs.ResourceInstance) bool {
	if wanted.Key == stackaddrs.NoKey {
		addr.Key = stackaddrs.NoKey
	}
	return wanted == addr
}

// triggersAction reports whether changes of a target trigger an instance of an action.
func (p *planner) triggersAction(ctx context.Context, t *resource.Target, a *eval.Action, key stackaddrs.InstanceKey) (triggers, ok bool) {
	for _, trigger := range t.Config().ActionTriggers {
		for _, expr := range trigger.Actions {
			other, named, ok := t.Resource.TriggeredAction(ctx, expr, t.At)
			if !ok || other == a && named.Key == key {
				return ok, ok
			}
		}
	}
	return false, true
}

// requestFor plans one invocation. Unlike one that a change triggers, it cannot wait: nothing that
// it waits for is applied with it.
func (p *planner) requestFor(
	ctx context.Context, a *eval.Action, key stackaddrs.InstanceKey, of engine.Trigger, t *resource.Target, caller *eval.Caller,
) bool {
	addr := a.Addr(key)
	action, ok := p.rt.Action(ctx, a, key, t, caller)
	if !ok {
		return false
	}
	config, ok := p.rt.ActionConfig(ctx, action)
	if !ok {
		return false
	}
	refuse := func(summary, detail string) bool {
		return p.eval.Diagnostics.AddTo(of.Caller(),
			failure.At(a.Config.Range, summary, "%s cannot be invoked: %s. Apply that first.", addr, detail))
	}
	if !config.Known() {
		return refuse("Unknown action configuration", "its configuration depends on values that are not known before other changes are applied")
	}
	deferred, ok := p.rt.PlanAction(ctx, action, config)
	switch {
	case !ok:
		return false
	case deferred != provider.NotDeferred:
		return refuse("Action not plannable", "the configuration of its provider is not known before other changes are applied")
	}
	p.requested = append(p.requested, &planned.Invocation{Invocation: engine.Invocation{
		Addr: addr, Provider: a.Config.ProviderAddr, Trigger: of, Config: config.Stored,
	}})
	return true
}
