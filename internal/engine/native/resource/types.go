// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package resource

import (
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/body"
	"github.com/cairnstacks/cairn/internal/module/refs"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Type is a resource type, data source or ephemeral resource type as its provider describes it.
type Type struct {
	Name       string
	Of         stackaddrs.Provider
	Schema     *schema.Schema
	Block      *schema.Block
	Object     cty.Type
	Identity   *schema.Identity // nil if objects have none
	IdentityTy cty.Type
	Decoder    *body.Decoder
	Can        schema.Capabilities
}

// Null returns the value that stands for no object.
func (t *Type) Null() cty.Value { return cty.NullVal(t.Object) }

// ImportIdentity returns the type of identities in import blocks, where some attributes can be
// missing. It is for types whose objects have an identity.
func (t *Type) ImportIdentity() cty.Type {
	types := make(map[string]cty.Type, len(t.Identity.Attributes))
	var optional []string
	for _, attr := range t.Identity.Attributes {
		types[attr.Name] = attr.Type
		if !attr.RequiredForImport {
			optional = append(optional, attr.Name)
		}
	}
	return cty.ObjectWithOptionalAttrs(types, optional)
}

// Types are resource types, each made once for all callers. The zero value has none. Safe for
// concurrent use.
type Types struct {
	types sync.Map // *Type by typeKey
	refs  sync.Map // []refs.Reference by *module.Resource or *module.Action
}

type typeKey struct {
	schema *schema.Schema
	name   string
}

// Of returns the type of a resource, or nil if the provider does not have it.
func (t *Types) Of(addr stackaddrs.Provider, p *schema.Provider, r stackaddrs.Resource) *Type {
	described := byMode(p, r.Mode)[r.Type]
	if described == nil {
		return nil
	}
	key := typeKey{described, r.Type}
	if known, ok := t.types.Load(key); ok {
		return known.(*Type)
	}
	made := &Type{
		Name: r.Type, Of: addr, Schema: described, Block: described.Block, Object: described.Block.Type(),
		Decoder: body.NewDecoder(described.Block), Can: p.Capabilities,
	}
	if r.Mode == stackaddrs.ManagedResource {
		if made.Identity = p.Identities[r.Type]; made.Identity != nil {
			made.IdentityTy = made.Identity.Type()
		}
	}
	known, _ := t.types.LoadOrStore(key, made)
	return known.(*Type)
}

func byMode(p *schema.Provider, mode stackaddrs.ResourceMode) map[string]*schema.Schema {
	switch mode {
	case stackaddrs.DataResource:
		return p.Data
	case stackaddrs.EphemeralResource:
		return p.Ephemeral
	default:
		return p.Managed
	}
}

// References returns the references in the body of a target's block.
func (t *Types) References(of *Target) ([]refs.Reference, hcl.Diagnostics) {
	var block any
	if of.Action != nil {
		block = of.Action.Config
	} else {
		block = of.Resource.Config
	}
	if known, ok := t.refs.Load(block); ok {
		return known.([]refs.Reference), nil
	}
	found, diags := refs.InTraversals(of.Decoder.Variables(of.Body()))
	if diags.HasErrors() {
		return nil, diags
	}
	t.refs.Store(block, found)
	return found, diags
}

// Decoder returns the decoder of blocks with a schema that is none of a resource.
func (t *Types) Decoder(s *schema.Schema) *body.Decoder {
	return t.plain(stackaddrs.Provider{}, s, "").Decoder
}

// plain returns the type of objects that are only configured.
func (t *Types) plain(of stackaddrs.Provider, s *schema.Schema, name string) *Type {
	key := typeKey{s, name}
	if known, ok := t.types.Load(key); ok {
		return known.(*Type)
	}
	known, _ := t.types.LoadOrStore(key, &Type{
		Name: name, Of: of, Schema: s, Block: s.Block, Object: s.Block.Type(),
		Decoder: body.NewDecoder(s.Block),
	})
	return known.(*Type)
}

// OfList returns the type of the configuration of a list resource, or nil if the provider does not
// have it.
func (t *Types) OfList(addr stackaddrs.Provider, p *schema.Provider, name string) *Type {
	described := p.List[name]
	if described == nil {
		return nil
	}
	return t.plain(addr, described, name)
}

// OfAction returns the type of an action, or nil if the provider does not have it.
func (t *Types) OfAction(addr stackaddrs.Provider, p *schema.Provider, name string) *Type {
	described := p.Actions[name]
	if described == nil {
		return nil
	}
	return t.plain(addr, described, name)
}
