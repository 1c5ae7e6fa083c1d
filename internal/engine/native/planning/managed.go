// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning

import (
	"context"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/planned"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/internal/engine/native/state"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// draft is the change of a managed resource instance before its actions are planned, which can lead
// to its being deferred.
type draft struct {
	target *resource.Target
	found  found
	change *resource.Change // nil in refresh-only mode
}

// drafted returns the draft of the instance, or nil if there is none.
func (i *instance) drafted(ctx context.Context) *draft {
	if len(i.resource.Config.ActionTriggers) == 0 {
		return i.planner.draft(ctx, i)
	}
	d, err := i.draft.Do(ctx, i.resource.Addr(i.key).String()+" (change)", func(ctx context.Context) (*draft, error) {
		return i.planner.draft(ctx, i), nil
	})
	if err != nil {
		i.planner.eval.Diagnostics.Failed(err, i.resource.Config.Range.Ptr())
		return nil
	}
	return d
}

// draft plans the change of an instance of a managed resource, or returns nil.
func (p *planner) draft(ctx context.Context, i *instance) *draft {
	if !i.resource.AwaitDependencies(ctx) {
		return nil
	}
	t, ok := p.rt.Target(ctx, i.resource, i.key)
	if !ok {
		return nil
	}
	found, ok := p.find(ctx, t, p.prior.Object(t.Addr, ""))
	if !ok {
		return nil
	}
	if p.Mode.KeepsObjects() {
		return &draft{t, found, nil}
	}
	triggered := false
	if !isWildcard(t.Addr) {
		if triggered, ok = p.triggered(ctx, t); !ok {
			return nil
		}
	}
	if !t.Resource.Preconditions(ctx, t.At) {
		return nil
	}
	c, ok := p.rt.Plan(ctx, t, resource.PlanOptions{
		Prior: found.object, Requested: slices.Contains(p.Replace, t.Address), Triggered: triggered && found.object != nil,
		Imported: found.importing != nil,
	})
	if !ok {
		return nil
	}
	if triggered && c.Action == engine.ActionCreate {
		c.Reason = engine.ReplaceByTriggers // so does terraform
	}
	return &draft{t, found, c}
}

// managed plans an instance of a managed resource.
func (p *planner) managed(ctx context.Context, i *instance) outcome {
	d := i.drafted(ctx)
	if d == nil {
		return failedOutcome
	}
	t, c := d.target, d.change
	i.schema = t.Block
	if c == nil {
		return p.onlyRefreshed(ctx, t, d.found)
	}
	p.defers(t, c, d.found)
	invocations, ok := p.invocations(ctx, t, c)
	i.change = p.change(t, c, d.found)
	i.change.Invocations = invocations
	p.record(i.change)
	switch {
	case !ok:
		return failedOutcome
	case c.Deferred != "":
		return outcome{c.After, true}
	}
	if c.Action.ForgetsOld() {
		p.noteForgotten(t.Addr, "")
	}
	if c.Action == engine.ActionNoOp && d.found.object != nil {
		p.keepDependencies(t, d.found.object)
	}
	if !p.mayDestroy(ctx, t, c.Action) {
		return failedOutcome
	}
	return outcome{c.After, t.Postconditions(ctx, c.After)}
}

// found is an object as it was found.
type found struct {
	object    *resource.Object // nil without one
	deferred  provider.DeferredReason
	importing *engine.Importing
}

// find decodes and reads the stored object of a target, and puts the result into the state.
func (p *planner) find(ctx context.Context, t *resource.Target, stored *state.Object) (found, bool) {
	if stored == nil {
		return p.imported(ctx, t)
	}
	before, ok := p.rt.Upgrade(ctx, t, stored, p.storedAs(t.Addr))
	if !ok {
		return found{}, false
	}
	before.CreateBeforeDestroy = p.rt.CreateFirst(t)
	result := found{object: before}
	if !p.SkipRefresh && t.Known {
		if result.object, result.deferred, ok = p.rt.Refresh(ctx, t, before); !ok {
			return found{}, false
		}
		p.compare(t, before, result.object)
	}
	if result.object == nil {
		p.fresh.Remove(t.Addr, "")
		return result, true
	}
	result.object.Dependencies = union(result.object.Dependencies, p.rt.Dependencies(t))
	return result, p.keep(t, result.object, "")
}

// keep writes an object to the state.
func (p *planner) keep(t *resource.Target, o *resource.Object, deposed stackaddrs.DeposedKey) bool {
	entry, err := t.Entry(o, deposed)
	if err != nil {
		return p.eval.Diagnostics.AddTo(t.Address, failure.New("Unstorable object", "%s.", err))
	}
	p.fresh.Set(entry)
	return true
}

// keepDependencies writes the dependencies that an object has now, which is all that becomes of one
// that does not change.
func (p *planner) keepDependencies(t *resource.Target, o *resource.Object) {
	now := p.rt.Dependencies(t)
	if slices.Equal(o.Dependencies, now) {
		return
	}
	o.Dependencies = now
	p.keep(t, o, "")
}

func union(a, b []string) []string {
	if len(a) == 0 || slices.Equal(a, b) {
		return b
	}
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// compare notes the drift of an object.
func (p *planner) compare(t *resource.Target, before, now *resource.Object) {
	after := t.Null()
	action := engine.ActionDelete
	previous := p.previous(t.Addr)
	if now != nil {
		after, action = now.Value, engine.ActionUpdate
		if before.Value.RawEquals(now.Value) {
			action = engine.ActionNoOp
		}
	}
	moved := previous != stackaddrs.ResourceInstance{}
	if action == engine.ActionNoOp && (!p.Mode.KeepsObjects() || !moved) || moved && previous.Resource.Type != t.Addr.Resource.Type {
		return
	}
	drift := &engine.Change{
		Addr: t.Addr, PreviousAddr: previous, Provider: t.Of, Action: action, Before: before.Value, After: after,
		BeforeIdentity: before.Identity, AfterIdentity: cty.NilVal,
	}
	if now != nil {
		drift.AfterIdentity = now.Identity
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.drift = append(p.mu.drift, drift)
}

// onlyRefreshed ends the planning of an instance when only the state is brought up to date.
func (p *planner) onlyRefreshed(ctx context.Context, t *resource.Target, now found) outcome {
	value := cty.UnknownVal(t.Object)
	if now.object != nil {
		value = now.object.Value
	}
	c := &resource.Change{Action: engine.ActionNoOp, Before: t.Null(), After: value, BeforeIdentity: cty.NilVal, AfterIdentity: cty.NilVal}
	p.rt.AwaitReferences(ctx, t) // their deferrals are known then
	if p.defers(t, c, now); c.Deferred != "" {
		if now.object != nil {
			c.Before, c.BeforeIdentity, c.AfterIdentity = value, now.object.Identity, now.object.Identity
		}
		p.record(p.change(t, c, now))
		return outcome{value, true}
	}
	t.Resource.Preconditions(ctx, t.At)
	t.Postconditions(ctx, value)
	switch { // expressions have the present object
	case now.object != nil || isWildcard(t.Addr):
	case t.Addr.Key == stackaddrs.NoKey:
		value = cty.DynamicVal
	default:
		value = cty.NilVal
	}
	return outcome{value, true}
}

// isWildcard reports whether an address stands for instances that are not known yet.
func isWildcard(addr stackaddrs.ResourceInstance) bool {
	return addr.Key.IsWildcard() || addr.Module.HasWildcard()
}

// defers decides whether a change is deferred.
func (p *planner) defers(t *resource.Target, c *resource.Change, now found) {
	if c.Deferred == "" {
		c.Deferred = p.deferral(t, now.deferred)
	}
}

// deferral returns why nothing can be done with an instance yet; "" if it can.
func (p *planner) deferral(t *resource.Target, said provider.DeferredReason) string {
	switch {
	case isWildcard(t.Addr):
		return instanceCountUnknown
	case said != provider.NotDeferred:
		return said.String()
	case !t.Known:
		return provider.DeferredProviderConfigUnknown.String()
	case p.deferredBefore(t.Addr):
		return deferredPrerequisite
	default:
		return ""
	}
}

// change returns a change as it is recorded in the plan.
func (p *planner) change(t *resource.Target, c *resource.Change, now found) *planned.Change {
	return &planned.Change{
		Change: engine.Change{
			Addr: t.Addr, PreviousAddr: p.previous(t.Addr), Provider: t.Of, Action: c.Action, Reason: c.Reason, Before: c.Before, After: c.After,
			BeforeIdentity: c.BeforeIdentity, AfterIdentity: c.AfterIdentity, Replace: c.Replace, Importing: now.importing,
		},
		Alias: t.Slot.Alias, Private: c.Private, BeforePrivate: c.BeforePrivate, CreateBeforeDestroy: c.CreateBeforeDestroy, Deferred: c.Deferred,
	}
}

// mayDestroy reports the change of an instance that is protected.
func (p *planner) mayDestroy(ctx context.Context, t *resource.Target, action engine.Action) bool {
	config := p.config(t.Addr)
	if config == nil || action != engine.ActionDelete && !action.Replaces() {
		return true
	}
	if prevents, ok := p.preventsDestroy(ctx, t, config); !prevents {
		return ok
	}
	return p.eval.Diagnostics.AddTo(t.Address, failure.At(config.Range, "Instance cannot be destroyed",
		"%s has prevent_destroy set, but the plan would destroy its object. To let that happen, remove the argument; otherwise undo the change "+
			"of the configuration that makes it necessary.", t.Address))
}

// preventsDestroy reports whether the block of an instance protects it. Where the module instance
// is gone, only constants can be known.
func (p *planner) preventsDestroy(ctx context.Context, t *resource.Target, config *module.Resource) (prevents, ok bool) {
	m := p.eval.Module(ctx, t.Addr.Module)
	switch {
	case m != nil:
		return m.PreventsDestroy(ctx, config, t.Address)
	case config.PreventDestroyIf == nil:
		return config.PreventDestroy, true
	}
	value, diags := config.PreventDestroyIf.Static()
	if !diags.HasErrors() && value.Type() == cty.Bool && !value.IsNull() {
		return value.True(), true
	}
	return false, p.eval.Diagnostics.AddTo(t.Address, failure.At(config.PreventDestroyIf.Range(), "Invalid prevent_destroy argument",
		"The module of %s is not called any more, so that nothing is known of the values in it. Write true or false, or destroy the object "+
			"before its module is gone.", t.Address))
}

// config returns the block of a resource instance, whether it declares that instance or not, or
// nil.
func (p *planner) config(addr stackaddrs.ResourceInstance) *module.Resource {
	tree := p.Tree.At(addr.Module)
	if tree == nil {
		return nil
	}
	return tree.Resources[addr.Resource]
}
