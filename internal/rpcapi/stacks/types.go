// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks

import (
	"context"
	"maps"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/rpcapi/wire"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// resourceTypes knows the types with which values of resources are sent: those of the schemas of
// providers, by which clients decode them.
type resourceTypes struct {
	session engine.Session

	mu    sync.Mutex
	known map[resourceType]cty.Type
}

type resourceType struct {
	provider stackaddrs.Provider
	mode     stackaddrs.ResourceMode
	name     string
}

// of returns [cty.NilType] for a type that is not known.
func (t *resourceTypes) of(ctx context.Context, provider stackaddrs.Provider, resource stackaddrs.Resource) cty.Type {
	describer := t.session.Abilities().Types
	if describer == nil || provider == (stackaddrs.Provider{}) {
		return cty.NilType
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	wanted := resourceType{provider, resource.Mode, resource.Type}
	ty, ok := t.known[wanted]
	if !ok {
		var err error
		if ty, err = describer.ResourceType(ctx, provider, resource.Mode, resource.Type); err != nil {
			return cty.NilType // the engine reports it where it needs the type
		}
		if t.known == nil {
			t.known = map[resourceType]cty.Type{}
		}
		t.known[wanted] = ty
	}
	return ty
}

// change returns the values of a change by the type of the resource. A value that does not conform
// to that, such as the planned part of a change that is deferred, is sent by the type that it has.
func (t *resourceTypes) change(ctx context.Context, c *engine.Change) (*stackspb.DynamicValueChange, error) {
	ty := t.of(ctx, c.Provider, c.Addr.Resource)
	prior, err := encodeObject(c.Before, ty)
	if err != nil {
		return nil, err
	}
	planned, err := encodeObject(c.After, ty)
	return &stackspb.DynamicValueChange{Old: prior, New: planned}, err
}

func encodeObject(object cty.Value, ty cty.Type) (*stackspb.DynamicValue, error) {
	if ty != cty.NilType {
		if message, err := wire.ValueOf(complete(object, ty), ty); err == nil {
			return message, nil
		}
	}
	if object == cty.NilVal {
		object = cty.NullVal(cty.EmptyObject)
	}
	return wire.ValueOf(object, object.Type())
}

// complete returns an object with null for the attributes of its type that it does not have. An
// older terraform makes objects of the built-in provider that lack some.
func complete(object cty.Value, ty cty.Type) cty.Value {
	if object == cty.NilVal {
		return object
	}
	bare, objectMarks := object.Unmark()
	if !bare.Type().IsObjectType() || !ty.IsObjectType() || bare.IsNull() || !bare.IsKnown() {
		return object
	}
	attrs := map[string]cty.Value{}
	for name, attr := range ty.AttributeTypes() {
		if !bare.Type().HasAttribute(name) {
			attrs[name] = cty.NullVal(attr)
		}
	}
	if len(attrs) == 0 {
		return object
	}
	maps.Copy(attrs, bare.AsValueMap())
	return cty.ObjectVal(attrs).WithMarks(objectMarks)
}
