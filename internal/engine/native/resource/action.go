// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package resource

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/change"
	"github.com/cairnstacks/cairn/internal/engine/native/eval"
	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/internal/module/refs"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Action is an action instance that is invoked for a resource instance, with its provider and
// configuration.
type Action struct {
	target *Target // of the resource instance, but with the type, the provider and the configuration of the action
	at     eval.Place
}

// Action returns an action instance, which is invoked for a target, with its provider and
// configuration.
func (rt *Runtime) Action(ctx context.Context, a *eval.Action, key stackaddrs.InstanceKey, of *Target, caller *eval.Caller) (*Action, bool) {
	x, ok := a.Expand(ctx)
	if !ok {
		return nil, false
	}
	t := &Target{Addr: of.Addr, Address: of.Address, Resource: of.Resource, tree: of.tree, action: a, key: key}
	slot, filled := of.tree.Slots[a.Config.Provider]
	if !filled {
		return nil, rt.Eval.Diagnostics.AddTo(of.Address, &hcl.Diagnostic{
			Severity: hcl.DiagError, Summary: "Provider configuration not present",
			Detail:  "The module is given no provider configuration " + a.Config.Provider.String() + ".",
			Subject: a.Config.ProviderRange.Ptr(),
		})
	}
	t.Slot = slot
	p, known, ok, diags := rt.Providers.Provider(ctx, a.Config.ProviderAddr, slot)
	rt.Eval.Diagnostics.Add(diags...)
	if !ok {
		return nil, false
	}
	t.Provider, t.Known = p, known
	if t.Type = rt.Types.OfAction(a.Config.ProviderAddr, p.Schema(), a.Config.Type); t.Type == nil {
		return nil, rt.fail(t, "Unknown action type", "The provider "+a.Config.ProviderAddr.String()+" has no action "+a.Config.Type+".")
	}
	return &Action{target: t, at: eval.Place{Repetition: x.Repetition(key), Resource: of.Address, Caller: caller}}, true
}

// Addr returns the address of the action instance.
func (a *Action) Addr() stackaddrs.ActionInstance { return a.target.action.Addr(a.target.key) }

// ActionConfig is the evaluated configuration of an action.
type ActionConfig struct {
	value cty.Value // without marks

	// Stored is the configuration as it is kept and shown: with marks, and without the values of
	// write-only attributes.
	Stored cty.Value
}

// ActionConfig evaluates the configuration of an action.
func (rt *Runtime) ActionConfig(ctx context.Context, a *Action) (*ActionConfig, bool) {
	t := a.target
	references, diags := refs.InTraversals(t.Decoder.Variables(t.body()))
	if !rt.Eval.Diagnostics.AddTo(t.Address, diags...) {
		return nil, false
	}
	scope, ok := t.action.Module.Scope(ctx, references, a.at)
	if !ok {
		return nil, false
	}
	value, diags := t.Decoder.Decode(ctx, t.body(), scope)
	if len(diags) > 0 && !rt.Eval.Diagnostics.AddTo(t.Address, lang.WithholdSecrets(diags, t.Decoder.Variables(t.body()), scope)...) {
		return nil, false
	}
	if !rt.withoutEphemeral(t, value) {
		return nil, false
	}
	bare, sensitive := kept(t, value)
	return &ActionConfig{bare, t.Mark(change.NullWriteOnly(t.Block, bare), sensitive)}, true
}

// PlanAction has the provider check the configuration, and say whether the action can be invoked.
func (rt *Runtime) PlanAction(ctx context.Context, a *Action, config *ActionConfig) (provider.DeferredReason, bool) {
	t := a.target
	if !t.Known {
		return provider.DeferredProviderConfigUnknown, true
	}
	done, ok := rt.call(ctx)
	if !ok {
		return 0, false
	}
	defer done()
	if !rt.said(t, t.Provider.ValidateAction(ctx, t.Name, config.value)) {
		return 0, false
	}
	response := t.Provider.PlanAction(ctx, provider.PlanActionRequest{Type: t.Name, Config: config.value, DeferralAllowed: rt.DeferralAllowed})
	switch {
	case !rt.said(t, response.Diagnostics):
		return 0, false
	case response.Deferred != provider.NotDeferred && response.Deferred != provider.DeferredProviderConfigUnknown:
		return 0, rt.fail(t, "Invalid deferral of an action", "The provider "+t.Of.String()+" defers "+t.described()+" for the reason "+response.Deferred.String()+
			". An action can only be deferred because the configuration of its provider is not known. That is a mistake in the provider.")
	}
	return response.Deferred, true
}

// RefinesAction reports whether the configuration is known, and agrees with its known parts while
// planning.
func (rt *Runtime) RefinesAction(a *Action, planned cty.Value, config *ActionConfig) bool {
	if !rt.settled(a.target, config.value) {
		return false
	}
	if err := engine.CheckRefines(planned, config.Stored); err != nil {
		return rt.fail(a.target, "Inconsistent action configuration", "The configuration of "+a.target.described()+" is not the one that was planned: "+err.Error()+". Plan again.")
	}
	return true
}

// Invoke invokes an action, and says how that goes. The provider is not asked any more once the
// work was stopped: asked is false then.
func (rt *Runtime) Invoke(ctx context.Context, a *Action, config *ActionConfig, trigger engine.Trigger) (asked, ok bool) {
	t := a.target
	done, ok := rt.call(ctx)
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
			Invocation: &engine.Invocation{Addr: a.Addr(), Provider: t.Of, Trigger: trigger},
		})
	}
	say(engine.ActionStart, "")
	diags := rt.invoke(ctx, t, config, func(message string) { say(engine.ActionProgress, message) })
	ok = rt.said(t, diags)
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
