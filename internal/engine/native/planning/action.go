// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning

import (
	"cmp"
	"context"
	"slices"

	"github.com/hashicorp/hcl/v2"
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

	// orphan is set for an instance that is not declared any more. Objects that its actions need may
	// be gone, too, and the configuration cannot be made right: an action that cannot be planned is
	// left out.
	orphan bool

	planned []*planned.Invocation
}

// invocations plans the actions that a change triggers, in the order of [engine.TriggerEvents], and
// for each event the blocks and their lists in the order in which they are written.
//
// If one of them is deferred, the change is deferred, too: there would be nothing to trigger the
// action later.
func (p *planner) invocations(ctx context.Context, t *resource.Target, c *resource.Change) ([]*planned.Invocation, bool) {
	triggers := t.Config().ActionTriggers
	if len(triggers) == 0 || p.Mode != engine.Normal {
		return nil, true
	}
	v := &invoker{planner: p, target: t, change: c}
	ok := v.plan(ctx)
	return v.planned, ok
}

// lastInvocations plans the actions that the end of an object triggers whose block is there, but
// which that may not declare any more.
func (p *planner) lastInvocations(ctx context.Context, t *resource.Target, c *resource.Change) ([]*planned.Invocation, bool) {
	config := p.config(t.Addr)
	if config == nil || !config.TriggersLast() {
		return nil, true
	}
	m := p.eval.Module(ctx, t.Addr.Module)
	if m == nil {
		p.eval.Diagnostics.AddTo(t.Address, failure.WarningAt(config.Range, "Actions left out",
			"%s is not declared any more, and neither are the actions that the end of its objects triggers. They are not invoked.", t.Addr.Module))
		return nil, true
	}
	of := *t
	of.Resource = m.Resource(t.Addr.Resource)
	x, ok := of.Resource.Expand(ctx)
	if !ok {
		return nil, false
	}
	v := &invoker{planner: p, target: &of, change: c, orphan: !x.Has(t.Addr.Key)}
	of.At = eval.Place{Resource: t.Address, Repetition: eval.RepetitionOf(t.Addr.Key)}
	if !v.orphan {
		of.At.Repetition = x.Repetition(t.Addr.Key)
	}
	ok = v.plan(ctx)
	return v.planned, ok
}

// plan plans the actions for all events that match the change.
func (v *invoker) plan(ctx context.Context) bool {
	for _, event := range engine.TriggerEvents {
		if !event.Matches(v.change.Action) {
			continue
		}
		for i, trigger := range v.target.Config().ActionTriggers {
			if slices.Contains(trigger.Events, event) &&
				!v.block(ctx, engine.Trigger{Resource: v.target.Addr, Event: event, Block: i, OnFailure: trigger.OnFailure}) {
				return false
			}
		}
	}
	waits := slices.ContainsFunc(v.planned, func(i *planned.Invocation) bool { return i.Deferred != "" })
	if waits && v.change.Deferred == "" {
		v.change.Deferred = deferredPrerequisite
	}
	if v.change.Deferred != "" {
		for _, i := range v.planned {
			i.Deferred = cmp.Or(i.Deferred, deferredPrerequisite)
		}
	}
	return true
}

// caller returns the target as the caller of actions for an event, and the object of the event.
func (v *invoker) caller(event engine.TriggerEvent) (*eval.Caller, cty.Value) {
	self := v.change.After
	if event.Ends() {
		self = v.change.Before
	}
	return &eval.Caller{Resource: v.target.Resource, Object: func(ctx context.Context, key stackaddrs.InstanceKey) (cty.Value, bool) {
		if key == v.target.Addr.Key {
			return self, true
		}
		return v.object(ctx, key)
	}}, self
}

// object returns the object of another instance, as it will be.
func (v *invoker) object(ctx context.Context, key stackaddrs.InstanceKey) (cty.Value, bool) {
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
	at.Caller, at.Self = v.caller(of.Event)
	holds, known, ok := v.target.Resource.Triggers(ctx, trigger, at)
	if !ok || !holds {
		return ok
	}
	for position, expr := range trigger.Actions {
		of.Position = position
		if !v.action(ctx, expr, of, at.Caller, !known) {
			return false
		}
	}
	return true
}

// action plans one action.
func (v *invoker) action(ctx context.Context, expr *module.Expr, of engine.Trigger, caller *eval.Caller, conditional bool) bool {
	a, key, ok := v.named(ctx, expr)
	if !ok || a == nil {
		return ok
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
	action, ok := v.rt.Action(ctx, a, key, v.target, caller)
	if !ok {
		return false
	}
	config, ok := v.rt.ActionConfig(ctx, action)
	if !ok {
		return false
	}
	if of.Event.Ends() {
		if why := config.NotFixed(); why != "" {
			v.planned = v.planned[:len(v.planned)-1]
			return v.cannot(a.Config.Range, "Action configuration not fixed", "The end of "+v.target.Address+" triggers "+i.Addr.String()+
				", whose configuration is fixed by the plan. It "+why+".")
		}
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

// cannot reports why an action cannot be planned. For an orphan that is a warning, and true.
func (v *invoker) cannot(at hcl.Range, summary, detail string) bool {
	if v.orphan {
		v.eval.Diagnostics.AddTo(v.target.Address, failure.WarningAt(at, summary, "%s The action is left out, since the configuration does "+
			"not declare %s any more.", detail, v.target.Address))
		return true
	}
	return v.eval.Diagnostics.AddTo(v.target.Address, failure.At(at, summary, "%s", detail))
}

// named returns the action instance that an element of the argument actions names. The key is the
// wildcard if it is not known which ones there are, and the action nil if it is left out.
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
		return nil, key, v.cannot(expr.Range(), "Invalid action reference", "There is no instance "+a.Addr(key).String()+".")
	}
	return a, key, true
}
