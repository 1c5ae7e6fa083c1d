// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package resource

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/deps"
	"github.com/cairnstacks/cairn/internal/engine/native/eval"
	"github.com/cairnstacks/cairn/internal/engine/native/state"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/internal/telemetry"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// Providers are those that a component was given.
type Providers interface {
	// Provider returns the provider with the configuration of one of the root module's slots, and
	// whether that configuration is known. If it is not, the provider is not configured. The
	// diagnostics are only for the first caller.
	Provider(ctx context.Context, addr stackaddrs.Provider,
		slot engine.ProviderSlot) (p provider.Provider, known, ok bool, diags hcl.Diagnostics)

	// Slot returns the slot of the provider configuration that a state names. The built-in provider
	// has one that need not be given.
	Slot(config tfstate.ProviderConfig) (engine.ProviderSlot, bool)
}

// Runtime is the common context of all objects of a component in one phase.
type Runtime struct {
	Eval      *eval.Evaluation
	Providers Providers
	Graph     *deps.Graph
	Types     *Types
	Observe   engine.Observer // called by one task at a time

	// Calls has room for as many elements as there may be calls of providers at the same time.
	Calls chan struct{}

	DeferralAllowed bool

	// Moved is set if the directory of the stack is another one than that of the plan.
	Moved bool

	// Stopped is closed when providers are not called any more. Nil if that never happens.
	Stopped <-chan struct{}

	// Before is called before a provider is asked to change something, and decides whether that is
	// done. Nil if it always is.
	Before func(t *Target, deposed stackaddrs.DeposedKey, action engine.Action) bool

	// BeforeInvoke is [Runtime.Before] for actions.
	BeforeInvoke func(p provider.Provider) bool

	Ephemerals Ephemerals // those that are open

	Spans *telemetry.Modules // of module instances; nil for none
}

// call waits until a provider may be called about an object, and returns the context for that. If
// it may, the caller must call done.
func (rt *Runtime) call(ctx context.Context, t *Target) (calling context.Context, done func(), ok bool) {
	select {
	case rt.Calls <- struct{}{}:
	case <-ctx.Done():
		return ctx, nil, false
	case <-rt.Stopped:
		return ctx, nil, false
	}
	select { // when several cases are ready, any is taken
	case <-rt.Stopped:
		rt.release()
		return ctx, nil, false
	default:
		return rt.Spans.In(ctx, t.Addr.Module, t.Address), rt.release, true
	}
}

func (rt *Runtime) release() { <-rt.Calls }

// ConfigAddr returns the address of the block of a resource in the tree of modules.
func ConfigAddr(addr stackaddrs.ResourceInstance) stackaddrs.ResourceInstance {
	addr.Key = stackaddrs.NoKey
	if !hasKeys(addr.Module) { // as of most modules; making the address of a deep one again takes time
		return addr
	}
	module := stackaddrs.RootModuleInstance
	for _, step := range addr.Module.Path() {
		module = module.Child(step.Name, stackaddrs.NoKey)
	}
	addr.Module = module
	return addr
}

// hasKeys reports whether a step of the address has the key of an instance.
func hasKeys(module stackaddrs.ModuleInstance) bool {
	for caller, call, ok := module.Parent(); ok; caller, call, ok = caller.Parent() {
		if call.Key != stackaddrs.NoKey {
			return true
		}
	}
	return false
}

// Target is a resource instance with its type, provider and place.
type Target struct {
	*Type
	Addr     stackaddrs.ResourceInstance
	Address  string // Addr as text
	Provider provider.Provider
	Slot     engine.ProviderSlot
	Known    bool // the configuration of the provider

	// Resource is the block, with the instance's place. Nil for objects of which the configuration has
	// no block.
	Resource *eval.Resource
	At       eval.Place

	// Failure is the last error about the object, or "".
	Failure string

	Lenient bool // errors about the object are warnings

	tree *module.Node

	// Import is the block that names an object which the configuration has no block of; else nil.
	Import *module.Import

	Action *eval.Action // that is dealt with, for the instance or, while validating, for none; else nil
	key    stackaddrs.InstanceKey
}

// Config returns the block, or nil without one.
func (t *Target) Config() *module.Resource {
	if t.Resource == nil {
		return nil
	}
	return t.Resource.Config
}

// Postconditions checks the postconditions of the block for an object, and reports whether they
// hold.
func (t *Target) Postconditions(ctx context.Context, object cty.Value) bool {
	at := t.At
	at.Self = object
	return t.Resource.Postconditions(ctx, at)
}

// block is where diagnostics point that have no better place.
func (t *Target) block() *hcl.Range {
	switch {
	case t.Action != nil:
		return t.Action.Config.Range.Ptr()
	case t.Import != nil:
		return t.Import.To.Range().Ptr()
	case t.Resource == nil:
		return nil
	}
	return t.Resource.Config.Range.Ptr()
}

// Body returns the body that is decoded by the schema, or nil.
func (t *Target) Body() hcl.Body {
	switch {
	case t.Action != nil:
		return t.Action.Config.Config
	case t.Resource == nil:
		return nil
	}
	return t.Resource.Config.Body
}

// module returns the module of the block.
func (t *Target) module() *eval.Module {
	if t.Action != nil {
		return t.Action.Module
	}
	return t.Resource.Module
}

// Target returns the target for an instance that the configuration declares.
func (rt *Runtime) Target(ctx context.Context, r *eval.Resource, key stackaddrs.InstanceKey) (*Target, bool) {
	at, ok := r.Place(ctx, key)
	if !ok {
		return nil, false
	}
	slot, ok := r.Slot(at)
	if !ok {
		return nil, false
	}
	target := &Target{Addr: r.Addr(key), Address: at.Resource, Slot: slot, Resource: r, At: at, tree: r.Module.Config}
	return target, rt.find(ctx, target, r.Config.ProviderAddr)
}

// ImportTarget returns the target for an object of the root module that an import block names, and
// that has no block of its own.
func (rt *Runtime) ImportTarget(ctx context.Context, root *module.Node, i *module.Import) (*Target, bool) {
	t := &Target{Addr: i.Block, Address: i.Block.String(), Slot: i.Slot(), Import: i, tree: root}
	of, _ := root.Provider(t.Slot.LocalName)
	return t, rt.find(ctx, t, of)
}

// StoredTarget returns the target for an object that nothing may declare any more. The tree is that
// of its module, or nil if that is gone.
func (rt *Runtime) StoredTarget(ctx context.Context, tree *module.Node, stored *state.Object) (*Target, bool) {
	t := &Target{Addr: stored.Entry.Addr, tree: tree}
	t.Address = t.Addr.String()
	if tree != nil {
		if block := tree.Resources[t.Addr.Resource]; block != nil {
			t.Slot = tree.Slots[block.Provider]
			return t, rt.find(ctx, t, block.ProviderAddr)
		}
	}
	config, err := stored.Provider()
	if err != nil {
		return nil, rt.unreadable(t, err)
	}
	slot, ok := rt.Providers.Slot(config)
	content, err := stored.Content()
	if err != nil {
		return nil, rt.unreadable(t, err)
	}
	if inModule := strings.HasPrefix(content.Provider, "module."); !ok || inModule { // that of the root module may be for another region
		return nil, rt.fail(t, "Provider configuration not present", "The object of "+t.Address+" was made with the provider configuration "+
			content.Provider+
			", which the component is not given any more. Assign it to the component until the object is gone.")
	}
	addr, err := stackaddrs.ParseProvider(config.Provider)
	if err != nil {
		return nil, rt.unreadable(t, err)
	}
	t.Slot = slot
	return t, rt.find(ctx, t, addr)
}

// find finds the provider and the type of a target.
func (rt *Runtime) find(ctx context.Context, t *Target, addr stackaddrs.Provider) bool {
	p, known, ok, diags := rt.Providers.Provider(ctx, addr, t.Slot)
	rt.Eval.Diagnostics.Add(diags...)
	if !ok {
		if t.Action == nil {
			rt.Observe.Observe(engine.Event{Type: engine.Unplannable, Resource: t.Address, Provider: addr})
		}
		return false
	}
	t.Provider, t.Known = p, known
	return rt.Describe(t, addr, p.Schema())
}

// Describe finds the type of a target. That the provider does not have it is an error.
func (rt *Runtime) Describe(t *Target, of stackaddrs.Provider, p *schema.Provider) bool {
	if t.Action != nil {
		name := t.Action.Config.Type
		if t.Type = rt.Types.OfAction(of, p, name); t.Type != nil {
			return true
		}
		return rt.fail(t, "Unknown action type",
			fmt.Sprintf("The provider %s has no action %q.%s", of, name, rt.Eval.Diagnostics.DidYouMean(name, maps.Keys(p.Actions))))
	}
	r := t.Addr.Resource
	if t.Type = rt.Types.Of(of, p, r); t.Type != nil {
		return true
	}
	hint := rt.Eval.Diagnostics.DidYouMean(r.Type, maps.Keys(byMode(p, r.Mode)))
	for _, mode := range []stackaddrs.ResourceMode{stackaddrs.ManagedResource, stackaddrs.DataResource, stackaddrs.EphemeralResource} {
		if byMode(p, mode)[r.Type] != nil {
			hint = fmt.Sprintf(" There is one for blocks that begin with %q.", keywordOf(mode))
		}
	}
	return rt.fail(t, "Unknown resource type", fmt.Sprintf("The provider %s has no type %q of this kind.%s", of, r.Type, hint))
}

// keywordOf returns the type of the blocks that declare resources of a mode.
func keywordOf(mode stackaddrs.ResourceMode) string {
	switch mode {
	case stackaddrs.DataResource:
		return "data"
	case stackaddrs.EphemeralResource:
		return "ephemeral"
	default:
		return "resource"
	}
}
