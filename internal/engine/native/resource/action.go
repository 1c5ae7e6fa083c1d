// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package resource

import (
	"context"
	"sync"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/change"
	"github.com/cairnstacks/cairn/internal/engine/native/eval"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Action returns the target for an action instance that is invoked for another target, or for none
// if that is nil. It has the type, the provider and the configuration of the action, which can be
// evaluated only with a caller, or without another target.
func (rt *Runtime) Action(ctx context.Context, a *eval.Action, key stackaddrs.InstanceKey, of *Target,
	caller *eval.Caller,
) (*Target, bool) {
	t := &Target{Action: a, key: key, tree: a.Module.Config}
	if of != nil {
		t.Addr, t.Address, t.Resource, t.tree = of.Addr, of.Address, of.Resource, of.tree
	}
	var ok bool
	if caller != nil || of == nil {
		if t.At, ok = a.Place(ctx, key); !ok {
			return nil, false
		}
	}
	if caller != nil {
		if t.At.Self, ok = caller.Object(ctx, of.Addr.Key); !ok {
			return nil, false
		}
		t.At.Caller = caller
	}
	t.At.Resource = t.Address
	if t.Slot, ok = a.Slot(t.At); !ok {
		return nil, false
	}
	return t, rt.find(ctx, t, a.Config.ProviderAddr)
}

// ActionConfig is the evaluated configuration of an action.
type ActionConfig struct {
	value     cty.Value // without marks
	ephemeral bool      // some of it
	writeOnly bool      // some of it is given to write-only attributes

	// Stored is the configuration as it is kept and shown: with marks, and without the values of
	// write-only attributes.
	Stored cty.Value
}

// ActionConfig evaluates the configuration of an action.
func (rt *Runtime) ActionConfig(ctx context.Context, t *Target) (*ActionConfig, bool) {
	value, ok := rt.Evaluate(ctx, t)
	if !ok {
		return nil, false
	}
	bare, sensitive := kept(t, value)
	stored := change.NullWriteOnly(t.Block, bare)
	return &ActionConfig{
		value: bare, ephemeral: marks.Contains(value, marks.Ephemeral), writeOnly: !stored.RawEquals(bare), Stored: t.Mark(stored, sensitive),
	}, true
}

// FixedActionConfig returns the configuration that was planned, of which nothing was ephemeral.
func FixedActionConfig(planned cty.Value) *ActionConfig {
	bare, _ := planned.UnmarkDeep()
	return &ActionConfig{value: bare, Stored: planned}
}

// Known reports whether nothing of the configuration is unknown.
func (c *ActionConfig) Known() bool { return c.value.IsWhollyKnown() }

// NotFixed says why the configuration may be another one while applying; "" if it cannot.
func (c *ActionConfig) NotFixed() string {
	switch {
	case c.ephemeral:
		return "contains ephemeral values"
	case !c.Known():
		return "depends on values that are not known before apply"
	case c.writeOnly:
		return "has values for write-only attributes, which no plan stores"
	default:
		return ""
	}
}

// PlanAction has the provider check the configuration, and say whether the action can be invoked.
func (rt *Runtime) PlanAction(ctx context.Context, t *Target, config *ActionConfig) (provider.DeferredReason, bool) {
	if !t.Known {
		return provider.DeferredProviderConfigUnknown, true
	}
	ctx, done, ok := rt.call(ctx, t)
	if !ok {
		return 0, false
	}
	defer done()
	if !rt.Said(t, t.Provider.ValidateAction(ctx, t.Name, config.value)) {
		return 0, false
	}
	response := t.Provider.PlanAction(ctx, provider.PlanActionRequest{Type: t.Name, Config: config.value, DeferralAllowed: rt.DeferralAllowed})
	switch {
	case !rt.Said(t, response.Diagnostics):
		return 0, false
	case response.Deferred != provider.NotDeferred && response.Deferred != provider.DeferredProviderConfigUnknown:
		return 0, rt.fail(t, "Invalid deferral of an action", "The provider "+t.Of.String()+" defers "+t.described()+" for the reason "+
			response.Deferred.String()+
			". An action can only be deferred because the configuration of its provider is not known. That is a mistake in the provider.")
	}
	return response.Deferred, true
}

// RefinesAction reports whether the configuration is known, and agrees with its known parts while
// planning.
func (rt *Runtime) RefinesAction(t *Target, planned cty.Value, config *ActionConfig) bool {
	if !rt.settled(t, config.value) {
		return false
	}
	if err := engine.CheckRefines(planned, config.Stored); err != nil {
		return rt.fail(t, "Inconsistent action configuration", "The configuration of "+t.described()+" is not the one that was planned: "+
			err.Error()+". Plan again.")
	}
	return true
}

// Invoke invokes an action, and says how that goes. The provider is not asked any more once the
// work was stopped: asked is false then.
func (rt *Runtime) Invoke(ctx context.Context, t *Target, config *ActionConfig, trigger engine.Trigger) (asked, ok bool) {
	ctx, done, ok := rt.call(ctx, t)
	if !ok {
		return false, false
	}
	defer done()
	if rt.BeforeInvoke != nil && !rt.BeforeInvoke(t.Provider) {
		return false, false
	}
	began := time.Now()
	say := func(kind engine.EventType, message string) {
		rt.Observe.Observe(engine.Event{
			Type: kind, Resource: t.Address, Message: message, Elapsed: time.Since(began),
			Invocation: &engine.Invocation{Addr: t.Action.Addr(t.key), Provider: t.Of, Trigger: trigger},
		})
	}
	say(engine.ActionStart, "")
	diags := rt.invoke(ctx, t, config, func(message string) { say(engine.ActionProgress, message) })
	ok = rt.Said(t, diags)
	if ok {
		say(engine.ActionComplete, "")
	} else {
		say(engine.ActionErrored, "")
	}
	return true, ok
}

// invoke invokes an action until it ends, or the work is stopped: the protocol has no other way to
// end one.
func (rt *Runtime) invoke(ctx context.Context, t *Target, config *ActionConfig, progress func(string)) provider.Diagnostics {
	ctx, cancel := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-rt.Stopped:
			cancel()
		case <-ctx.Done():
		}
	})
	defer watch.Wait()
	defer cancel()
	return t.Provider.InvokeAction(ctx, provider.InvokeActionRequest{Type: t.Name, Config: config.value, Progress: progress})
}
