// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package resource

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/cairnstacks/cairn/internal/engine/native/change"
	"github.com/cairnstacks/cairn/internal/engine/native/state"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// Object is an object as the present schema of its type has it.
type Object struct {
	Value    cty.Value // with marks; never null
	Private  []byte
	Identity cty.Value // [cty.NilVal] without one

	Tainted             bool
	CreateBeforeDestroy bool
	Dependencies        []string // addresses in the configuration, sorted
}

// Entry returns the object as it is stored.
func (t *Target) Entry(o *Object, deposed stackaddrs.DeposedKey) (tfstate.Entry, error) {
	content := &state.Content{
		Addr: t.Addr, Deposed: deposed, Provider: tfstate.ProviderConfig{Provider: t.Of.String(), Alias: t.Slot.Alias},
		SchemaVersion: uint64(t.Schema.Version), Value: o.Value, Type: t.Object, Private: o.Private,
		Identity: o.Identity, Dependencies: o.Dependencies, CreateBeforeDestroy: o.CreateBeforeDestroy, Tainted: o.Tainted,
	}
	if t.Identity != nil {
		content.IdentityType, content.IdentityVersion = t.IdentityTy, uint64(t.Identity.Version)
	}
	return state.Encode(content)
}

// Upgrade decodes a stored object, which the provider brings to the present schema. before is the
// resource that it was stored as, if that was another one.
func (rt *Runtime) Upgrade(ctx context.Context, t *Target, stored *state.Object, before stackaddrs.Resource) (*Object, bool) {
	object, content, err := decode(stored)
	if err != nil {
		return nil, rt.unreadable(t, err)
	}
	made, err := stored.Provider()
	if err != nil {
		return nil, rt.unreadable(t, err)
	}
	ctx, done, ok := rt.call(ctx, t)
	if !ok {
		return nil, false
	}
	defer done()
	if moved := before != (stackaddrs.Resource{}) && before.Type != t.Name; moved || !made.IsOf(t.Of) {
		return object, rt.move(ctx, t, object, content, before)
	}
	return object, rt.upgradeValue(ctx, t, object, content) && rt.upgradeIdentity(ctx, t, object, content) &&
		rt.restoreMarks(t, object, content)
}

// Stored decodes an object that was stored by the present schema, such as one that was read while
// planning. The provider is not asked.
func (rt *Runtime) Stored(ctx context.Context, t *Target, stored *state.Object) (*Object, bool) {
	object, content, err := decode(stored)
	if err == nil {
		object.Value, err = content.Value(t.Object)
	}
	if err != nil {
		return nil, rt.unreadable(t, err)
	}
	return object, rt.upgradeIdentity(ctx, t, object, content)
}

// decode returns a stored object without the parts that depend on its schema.
func decode(stored *state.Object) (*Object, *tfstate.Object, error) {
	content, err := stored.Content()
	if err != nil {
		return nil, nil, err
	}
	private, err := stored.Private()
	return &Object{
		Private: private, Identity: cty.NilVal, Tainted: content.Tainted, CreateBeforeDestroy: content.CreateBeforeDestroy,
		Dependencies: content.Dependencies,
	}, content, err
}

func (rt *Runtime) unreadable(t *Target, err error) bool {
	return rt.fail(t, "Unreadable object in state", err.Error()+".")
}

func (rt *Runtime) upgradeValue(ctx context.Context, t *Target, o *Object, content *tfstate.Object) bool {
	version := int64(content.SchemaVersion)
	if version > t.Schema.Version {
		return rt.fail(t, "Provider too old for stored object", fmt.Sprintf(
			"The object was stored with version %d of the schema of %s, and the provider %s has version %d. Use a newer version of the provider.",
			version, t.Name, t.Of, t.Schema.Version))
	}
	request := provider.UpgradeStateRequest{Type: t.Name, Version: version}
	switch {
	case len(content.Attributes) > 0 && version == t.Schema.Version:
		request.JSON = change.StripUnknownAttributes(content.Attributes, t.Object)
	case len(content.Attributes) > 0:
		request.JSON = content.Attributes
	default:
		if err := json.Unmarshal(content.FlatAttributes, &request.Flatmap); err != nil {
			return rt.unreadable(t, err)
		}
	}
	value, diags := t.Provider.UpgradeState(ctx, request)
	if !rt.Said(t, diags) {
		return false
	}
	if value == cty.NilVal || value.IsNull() {
		return rt.fail(t, "Stored object not converted", "The provider "+t.Of.String()+
			" has made nothing of it. That is a mistake in the provider.")
	}
	if !rt.broken(t, "Stored object not converted", "has brought to its present schema, with mistakes, the object of",
		change.Conform(t.Block, value)) {
		return false
	}
	o.Value = value
	return true
}

func (rt *Runtime) upgradeIdentity(ctx context.Context, t *Target, o *Object, content *tfstate.Object) bool {
	if len(content.Identity) == 0 || t.Identity == nil {
		return true
	}
	if int64(content.IdentityVersion) == t.Identity.Version {
		identity, err := ctyjson.Unmarshal(content.Identity, t.IdentityTy)
		if err != nil {
			return rt.fail(t, "Unreadable object in state", "Its identity does not have the form that the provider gives it: "+err.Error()+".")
		}
		o.Identity = identity
		return true
	}
	identity, diags := t.Provider.UpgradeIdentity(ctx, provider.UpgradeIdentityRequest{
		Type: t.Name, Version: int64(content.IdentityVersion),
		JSON: content.Identity,
	})
	o.Identity = identity
	return rt.Said(t, diags)
}

// restoreMarks marks the parts that the state or the schema calls sensitive.
func (rt *Runtime) restoreMarks(t *Target, o *Object, content *tfstate.Object) bool {
	paths, err := content.SensitivePaths()
	if err != nil {
		return rt.unreadable(t, err)
	}
	o.Value = t.Mark(o.Value, paths)
	return true
}

// Mark marks parts of an object as sensitive: those at the paths, as far as they are there, and
// those that the schema names. The object has no marks.
func (t *Type) Mark(object cty.Value, paths []cty.Path) cty.Value {
	if object.IsNull() || !object.IsKnown() {
		return object
	}
	all := slices.Concat(paths, t.Block.SensitivePaths(object))
	if len(all) == 0 {
		return object
	}
	return marks.MarkPaths(object, marks.Sensitive, all)
}

// move makes an object of this type of one of another type, or of another provider.
func (rt *Runtime) move(ctx context.Context, t *Target, o *Object, content *tfstate.Object, before stackaddrs.Resource) bool {
	source, err := providerOf(content)
	if err != nil {
		return rt.unreadable(t, err)
	}
	if !t.Can.MoveState {
		return rt.fail(t, "Move between types not supported", fmt.Sprintf(
			"The object was one of %s of the provider %s, and the provider %s cannot make %s of it.", before.Type, source, t.Of, t.Name))
	}
	request := provider.MoveRequest{
		SourceProvider: source, SourceType: before.Type, SourceVersion: int64(content.SchemaVersion), SourceJSON: content.Attributes,
		SourcePrivate: o.Private, SourceIdentity: content.Identity, SourceIdentityVersion: int64(content.IdentityVersion), TargetType: t.Name,
	}
	if request.SourceType == "" {
		request.SourceType = t.Name
	}
	response := t.Provider.Move(ctx, request)
	if !rt.Said(t, response.Diagnostics) {
		return false
	}
	if response.Object == cty.NilVal || response.Object.IsNull() {
		return rt.fail(t, "Stored object not converted", "The provider "+t.Of.String()+
			" has made nothing of it. That is a mistake in the provider.")
	}
	o.Value, o.Private, o.Identity = t.Mark(response.Object, nil), response.Private, response.Identity
	return rt.broken(t, "Stored object not converted", "has made, with mistakes, the object of", change.Conform(t.Block, response.Object))
}

// Refresh asks the provider how the object is now. It is nil if it is gone.
func (rt *Runtime) Refresh(ctx context.Context, t *Target, o *Object) (fresh *Object, deferred provider.DeferredReason, ok bool) {
	bare, sensitive, _ := marks.Split(o.Value)
	meta, ok := rt.meta(ctx, t)
	if !ok {
		return nil, 0, false
	}
	ctx, done, ok := rt.call(ctx, t)
	if !ok {
		return nil, 0, false
	}
	defer done()
	rt.Observe.Observe(engine.Event{Type: engine.RefreshStart, Resource: t.Address, Provider: t.Of})
	response := t.Provider.Read(ctx, provider.ReadRequest{
		Type: t.Name, Current: bare, Private: o.Private, Meta: meta, Identity: o.Identity, DeferralAllowed: rt.DeferralAllowed,
	})
	if !rt.Said(t, response.Diagnostics) {
		return nil, 0, false
	}
	rt.Observe.Observe(engine.Event{Type: engine.RefreshComplete, Resource: t.Address})
	if response.Deferred != provider.NotDeferred {
		return o, response.Deferred, rt.mayDefer(t)
	}
	if response.New == cty.NilVal || response.New.IsNull() {
		return nil, 0, true
	}
	value := change.NormalizeLegacy(t.Block, response.New)
	faults := append(change.Conform(t.Block, value), change.CheckWriteOnly(t.Block, value)...)
	if !rt.broken(t, "Provider produced invalid object", "has read, with mistakes, the object of", append(faults, notKnown(value)...)) {
		return nil, 0, false
	}
	fresh = &Object{Value: t.Mark(value, sensitive), Private: response.Private, Identity: response.Identity}
	fresh.Tainted, fresh.CreateBeforeDestroy, fresh.Dependencies = o.Tainted, o.CreateBeforeDestroy, o.Dependencies
	return fresh, 0, true
}

// notKnown returns the errors about unknown parts of an object that must be known.
func notKnown(object cty.Value) []error {
	if object.IsWhollyKnown() {
		return nil
	}
	var errs []error
	cty.Walk(object, func(path cty.Path, value cty.Value) (bool, error) { //nolint:errcheck // the callback returns none
		if !value.IsKnown() {
			errs = append(errs, path.NewErrorf("must be known"))
		}
		return true, nil
	})
	return errs
}

// mayDefer reports a provider that defers although it was not allowed to.
func (rt *Runtime) mayDefer(t *Target) bool {
	return rt.DeferralAllowed || rt.fail(t, "Provider deferred the change", "The provider "+t.Of.String()+" puts the change off, which is "+
		"not allowed here.")
}

// Dependencies returns the addresses of the resources on which the target's block depends, as they
// are stored. The caller must not change the list.
func (rt *Runtime) Dependencies(t *Target) []string {
	if block := rt.Graph.Resource(t.Addr); block != nil {
		return block.Names()
	}
	return nil
}

// CreateFirst reports whether the objects of the target's block are replaced by creating the new
// one first.
func (rt *Runtime) CreateFirst(t *Target) bool {
	block := rt.Graph.Resource(t.Addr)
	return block != nil && block.CreateBeforeDestroy
}

// providerOf returns the provider of a stored object.
func providerOf(content *tfstate.Object) (stackaddrs.Provider, error) {
	config, ok := tfstate.ParseProviderConfig(content.Provider)
	if !ok {
		return stackaddrs.Provider{}, fmt.Errorf("%q is not the address of a provider configuration", content.Provider)
	}
	return stackaddrs.ParseProvider(config.Provider)
}
