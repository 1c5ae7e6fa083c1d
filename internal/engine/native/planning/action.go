// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning

import (
	"context"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/eval"
	"github.com/cairnstacks/cairn/internal/engine/native/planned"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// invoker plans the actions that the change of one resource instance triggers.
type invoker struct {
	*planner
	target *resource.Target
	change *resource.Change
	caller *eval.Caller

	planned []*planned.Invocation
}

// invocations plans the actions that a change triggers, in the order in which they are invoked:
// first those before the change, then those after it, and of each the blocks and their lists in the
// order in which they are written.
//
// If one of them is deferred, the change is deferred, too: there would be nothing to trigger the
// action later.
func (p *planner) invocations(ctx context.Context, t *resource.Target, c *resource.Change) ([]*planned.Invocation, bool) {
	triggers := t.Config().ActionTriggers
	if len(triggers) == 0 || p.Mode != engine.Normal {
		return nil, true
	}
	v := &invoker{planner: p, target: t, change: c}
	v.caller = &eval.Caller{Resource: t.Resource, Object: v.object}
	for _, before := range []bool{true, false} {
		for i, trigger := range triggers {
			for _, event := range trigger.Events {
				if event.Before() == before && event.Matches(c.Action) && !v.block(ctx, engine.Trigger{Resource: t.Addr, Event: event, Block: i}) {
					return nil, false
				}
			}
		}
	}
	waits := slices.ContainsFunc(v.planned, func(i *planned.Invocation) bool { return i.Deferred != "" })
	if waits && c.Deferred == "" {
		c.Deferred = deferredPrerequisite
	}
	if c.Deferred != "" {
		for _, i := range v.planned {
			if i.Deferred == "" {
				i.Deferred = deferredPrerequisite
			}
		}
	}
	return v.planned, true
}

// object implements [eval.Caller].
func (v *invoker) object(ctx context.Context, key stackaddrs.InstanceKey) (cty.Value, bool) {
	if key == v.target.Addr.Key {
		return v.change.After, true
	}
	d := v.instance(v.target.Resource, key).drafted(ctx)
	if d == nil || d.change == nil {
		return cty.NilVal, false
	}
	return d.change.After, true
}

// block plans the actions of a block for an event that matches the change.
func (v *invoker) block(ctx context.Context, of engine.Trigger) bool {
	trigger := v.target.Config().ActionTriggers[of.Block]
	at := v.target.At
	if !of.Event.Before() {
		at.Self = v.change.After
	}
	at.Caller = v.caller
	holds, known, ok := v.target.Resource.Triggers(ctx, trigger, at)
	if !ok || !holds {
		return ok
	}
	for position, expr := range trigger.Actions {
		of.Position = position
		if !v.action(ctx, expr, of, !known) {
			return false
		}
	}
	return true
}

// action plans one action.
func (v *invoker) action(ctx context.Context, expr *module.Expr, of engine.Trigger, conditional bool) bool {
	a, key, ok := v.named(ctx, expr)
	if !ok {
		return false
	}
	i := &planned.Invocation{
		Invocation:  engine.Invocation{Addr: a.Addr(key), Provider: a.Config.ProviderAddr, Trigger: of, Config: cty.NilVal},
		Conditional: conditional,
	}
	v.planned = append(v.planned, i)
	if key.IsWildcard() || a.Module.Addr.HasWildcard() {
		i.Deferred = instanceCountUnknown
		return true
	}
	action, ok := v.rt.Action(ctx, a, key, v.target, v.caller)
	if !ok {
		return false
	}
	config, ok := v.rt.ActionConfig(ctx, action)
	if !ok {
		return false
	}
	i.Config = config.Stored
	if v.change.Deferred != "" {
		i.Deferred = deferredPrerequisite
		return true
	}
	deferred, ok := v.rt.PlanAction(ctx, action, config)
	if deferred != provider.NotDeferred {
		i.Deferred = deferred.String()
	}
	return ok
}

// named returns the action instance that an element of the argument actions names. The key is the
// wildcard if it is not known which ones there are.
func (v *invoker) named(ctx context.Context, expr *module.Expr) (*eval.Action, stackaddrs.InstanceKey, bool) {
	t := v.target
	a, named, ok := t.Resource.TriggeredAction(ctx, expr, t.At)
	if !ok || named.Key.IsWildcard() {
		return a, named.Key, ok
	}
	key := named.Key
	x, ok := a.Expand(ctx)
	switch {
	case !ok:
		return nil, key, false
	case x.Unknown && x.Mode != eval.Single:
		return a, stackaddrs.WildcardKey, true
	case x.Unknown:
		return a, stackaddrs.NoKey, true
	case !x.Has(key):
		return nil, key, v.eval.Diagnostics.AddTo(t.Address, failure.At(expr.Range(), "Invalid action reference",
			"There is no instance %s.", a.Addr(key)))
	}
	return a, key, true
}
