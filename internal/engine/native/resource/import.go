// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package resource

import (
	"context"
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/change"
	"github.com/cairnstacks/cairn/internal/engine/native/generate"
	"github.com/cairnstacks/cairn/internal/providers/provider"
)

// Imported names an object that exists already.
type Imported struct {
	ID       string
	Identity cty.Value // instead of ID; else [cty.NilVal]
}

// Import finds an existing object and reads it. It is nil if the provider defers that.
func (rt *Runtime) Import(ctx context.Context, t *Target, named Imported) (*Object, provider.DeferredReason, bool) {
	response, ok := rt.imported(ctx, t, named)
	switch {
	case !ok:
		return nil, 0, false
	case response.Deferred != provider.NotDeferred:
		return nil, response.Deferred, rt.mayDefer(t)
	}
	found, ok := rt.oneImported(t, response.Objects)
	if !ok {
		return nil, 0, false
	}
	object := &Object{Value: t.Mark(found.Object, nil), Private: found.Private, Identity: found.Identity}
	fresh, deferred, ok := rt.Refresh(ctx, t, object)
	if !ok || deferred != provider.NotDeferred {
		return nil, deferred, ok
	}
	if fresh == nil {
		return nil, 0, rt.fail(t, "Missing object to import", "The provider "+t.Of.String()+" knows the object that is to become "+t.Address+
			", but could not read it: there is none. Check the ID, or remove the import block to have a new object.")
	}
	return fresh, 0, true
}

func (rt *Runtime) imported(ctx context.Context, t *Target, named Imported) (provider.ImportResponse, bool) {
	ctx, done, ok := rt.call(ctx, t)
	if !ok {
		return provider.ImportResponse{}, false
	}
	defer done()
	response := t.Provider.Import(ctx, provider.ImportRequest{
		Type: t.Name, ID: named.ID, Identity: named.Identity,
		DeferralAllowed: rt.DeferralAllowed,
	})
	return response, rt.Said(t, response.Diagnostics)
}

// Generate returns a resource block for an object, which the provider makes if it can do that. It
// names the provider configuration, unless there is an import block that does not.
func (rt *Runtime) Generate(ctx context.Context, t *Target, object *Object) (string, bool) {
	head := generate.Head{Type: t.Name, Name: t.Addr.Resource.Name}
	if t.Import == nil || t.Import.Provider != nil {
		head.Provider = t.Slot.String()
	}
	bare, _ := object.Value.UnmarkDeep()
	if !t.Can.GenerateConfig {
		return string(generate.Describe(head, t.Block, bare)), true
	}
	config, ok := rt.generated(ctx, t, bare)
	if !ok {
		return "", false
	}
	return string(generate.Resource(head, t.Block, config)), true
}

// generated returns the configuration that a provider makes of an object without marks.
func (rt *Runtime) generated(ctx context.Context, t *Target, object cty.Value) (cty.Value, bool) {
	ctx, done, ok := rt.call(ctx, t)
	if !ok {
		return cty.NilVal, false
	}
	defer done()
	config, diags := t.Provider.GenerateConfig(ctx, t.Name, object)
	if !rt.Said(t, diags) {
		return cty.NilVal, false
	}
	const summary = "Provider produced invalid configuration"
	if config == cty.NilVal || config.IsKnown() && config.IsNull() {
		return cty.NilVal, rt.fail(t, summary, "The provider "+t.Of.String()+" has made no configuration of "+t.Address+".")
	}
	faults := append(change.Conform(t.Block, config), notKnown(config)...)
	return config, rt.broken(t, summary, "has made, with mistakes, a configuration of", faults)
}

// oneImported returns the object that was found, if there is exactly one, of the right type.
func (rt *Runtime) oneImported(t *Target, found []provider.ImportedObject) (*provider.ImportedObject, bool) {
	const summary = "Unusable imported object"
	switch {
	case len(found) == 0:
		return nil, rt.fail(t, summary, "The provider "+t.Of.String()+" has found no object for "+t.Address+".")
	case len(found) > 1:
		return nil, rt.fail(t, summary, fmt.Sprintf("The provider %s has found %d objects for %s. Only one can be imported.", t.Of,
			len(found), t.Address))
	case found[0].Type != t.Name:
		return nil, rt.fail(t, summary, fmt.Sprintf("The provider %s has found an object of %s for %s, which is of another type.", t.Of,
			found[0].Type, t.Address))
	case found[0].Object == cty.NilVal || found[0].Object.IsNull():
		return nil, rt.fail(t, summary, "The provider "+t.Of.String()+" has found nothing for "+t.Address+". That is a mistake in the provider.")
	}
	return &found[0], rt.broken(t, "Provider produced invalid object", "has imported, with mistakes, the object of",
		change.Conform(t.Block, found[0].Object))
}
