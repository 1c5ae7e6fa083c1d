// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package schema is the model of the schemas of providers: their configuration, their resource
// types, and the attributes and blocks of these.
package schema

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Provider has the schemas of one provider, by the names of types. Maps may be nil.
type Provider struct {
	Config     *Schema
	Meta       *Schema // of provider_meta blocks; nil if there are none
	Managed    map[string]*Schema
	Data       map[string]*Schema
	Ephemeral  map[string]*Schema
	List       map[string]*Schema
	Actions    map[string]*Schema
	Identities map[string]*Identity // of managed resource types that have one
	Functions  map[string]*engine.Function

	Capabilities Capabilities
}

// Capabilities are the abilities of a provider that not all have.
type Capabilities struct {
	PlanDestroy    bool // destroying is planned, too
	SchemaOptional bool // a process need not be asked for the schema first
	MoveState      bool // objects of other types can become those of this provider
	GenerateConfig bool // it writes configurations of imported objects
}

// Schema is of one configuration block.
type Schema struct {
	Version int64 // of the objects of a resource type
	Block   *Block
}

// Text is documentation.
type Text struct {
	Text     string
	Markdown bool
}

// Block is the schema of the contents of a block. Attributes and blocks are sorted by name.
type Block struct {
	Attributes  []*Attribute
	Blocks      []*NestedBlock
	Description Text
	Deprecated  bool
	Deprecation string // the alternative; may be empty
	Computed    bool   // the provider chooses the content if there is none in the configuration

	facts blockFacts
}

// Attribute is an argument, or a value that a provider chooses. It has a type, or a nested type.
type Attribute struct {
	Name        string
	Type        cty.Type
	Nested      *Object
	Description Text

	Required, Optional, Computed bool
	Sensitive, WriteOnly         bool
	Deprecated                   bool
	Deprecation                  string
}

// Nesting says how several blocks or objects make one value.
type Nesting string

// The ways of nesting. Objects are not nested in groups.
const (
	Single Nesting = "single"
	List   Nesting = "list"
	Set    Nesting = "set"
	Map    Nesting = "map"
	Group  Nesting = "group" // like single, but never null
)

// Object is the type of an attribute whose parts have schemas of their own. The attributes are
// sorted by name.
type Object struct {
	Attributes []*Attribute
	Nesting    Nesting

	facts objectFacts
}

// NestedBlock is a type of blocks in a block.
type NestedBlock struct {
	Name               string
	Block              *Block
	Nesting            Nesting
	MinItems, MaxItems int64 // 0: no limit
}

// Identity has the attributes that identify an object of a resource type, sorted by name.
type Identity struct {
	Version    int64
	Attributes []*IdentityAttribute
}

// IdentityAttribute is a part of an identity.
type IdentityAttribute struct {
	Name                                 string
	Type                                 cty.Type
	Description                          string
	RequiredForImport, OptionalForImport bool
}

// Type returns the type of identities, which is an object type.
func (i *Identity) Type() cty.Type {
	types := make(map[string]cty.Type, len(i.Attributes))
	for _, attr := range i.Attributes {
		types[attr.Name] = attr.Type
	}
	return cty.Object(types)
}

// Describe returns the attributes and nested blocks that the block may contain.
func (b *Block) Describe() engine.Block {
	described := engine.Block{
		Attributes: make(map[string]engine.Attribute, len(b.Attributes)), Blocks: make(map[string]engine.NestedBlock, len(b.Blocks)),
	}
	for _, attr := range b.Attributes {
		described.Attributes[attr.Name] = engine.Attribute{Type: attr.ConfigType(), Required: attr.Required}
	}
	for _, nested := range b.Blocks {
		described.Blocks[nested.Name] = engine.NestedBlock{
			Block: nested.Block.Describe(), Nesting: engine.Nesting(nested.Nesting), MinItems: int(nested.MinItems), MaxItems: int(nested.MaxItems),
		}
	}
	return described
}
