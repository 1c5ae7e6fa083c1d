// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package engine

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// ProviderSchema is the schema of a provider.
type ProviderSchema struct {
	Config Block // of its configuration; empty for a provider without settings
}

// Block is the schema of the content of a block.
type Block struct {
	Attributes map[string]Attribute
	Blocks     map[string]NestedBlock // by type
}

// Attribute is an argument of a block.
type Attribute struct {
	Type     cty.Type // may have optional attributes
	Required bool
}

// NestedBlock is a type of blocks in a block.
type NestedBlock struct {
	Block
	Nesting            Nesting
	MinItems, MaxItems int // 0 for no limit
}

// Nesting is the way in which the blocks of one type become a value.
type Nesting string

// The kinds of nesting.
const (
	NestingSingle Nesting = "single" // one block or none
	NestingGroup  Nesting = "group"  // one block, which is there even if it is not written
	NestingList   Nesting = "list"
	NestingSet    Nesting = "set"
	NestingMap    Nesting = "map" // by a label
)

// Spec returns how a block is decoded. Shape of the result: an object with an attribute for each
// argument and each type of nested block.
func (b Block) Spec() hcldec.ObjectSpec {
	spec := hcldec.ObjectSpec{}
	for name, attr := range b.Attributes {
		spec[name] = &hcldec.AttrSpec{Name: name, Type: attr.Type, Required: attr.Required}
	}
	for name, nested := range b.Blocks {
		spec[name] = nested.spec(name)
	}
	return spec
}

func (b NestedBlock) spec(name string) hcldec.Spec {
	content := b.Block.Spec()
	// Collections need elements of one type. Where that is not known, blocks become tuples and
	// objects.
	dynamic := hcldec.ImpliedType(content).HasDynamicTypes()
	switch b.Nesting {
	case NestingList:
		if dynamic {
			return &hcldec.BlockTupleSpec{TypeName: name, Nested: content, MinItems: b.MinItems, MaxItems: b.MaxItems}
		}
		return &hcldec.BlockListSpec{TypeName: name, Nested: content, MinItems: b.MinItems, MaxItems: b.MaxItems}
	case NestingSet:
		return &hcldec.BlockSetSpec{TypeName: name, Nested: content, MinItems: b.MinItems, MaxItems: b.MaxItems}
	case NestingMap:
		if dynamic {
			return &hcldec.BlockObjectSpec{TypeName: name, LabelNames: []string{"key"}, Nested: content}
		}
		return &hcldec.BlockMapSpec{TypeName: name, LabelNames: []string{"key"}, Nested: content}
	case NestingGroup:
		return &hcldec.DefaultSpec{
			Primary: &hcldec.BlockSpec{TypeName: name, Nested: content},
			Default: &hcldec.LiteralSpec{Value: b.empty()},
		}
	default:
		return &hcldec.BlockSpec{TypeName: name, Nested: content, Required: b.MinItems > 0}
	}
}

// empty is the value of a block of which nothing is set.
func (b Block) empty() cty.Value {
	values := map[string]cty.Value{}
	for name, attr := range b.Attributes {
		values[name] = cty.NullVal(attr.Type.WithoutOptionalAttributesDeep())
	}
	for name, nested := range b.Blocks {
		element := hcldec.ImpliedType(nested.Block.Spec()).WithoutOptionalAttributesDeep()
		switch nested.Nesting {
		case NestingList:
			values[name] = cty.ListValEmpty(element)
		case NestingSet:
			values[name] = cty.SetValEmpty(element)
		case NestingMap:
			values[name] = cty.MapValEmpty(element)
		case NestingGroup:
			values[name] = nested.empty()
		default:
			values[name] = cty.NullVal(element)
		}
	}
	return cty.ObjectVal(values)
}

// ConfigValidator is the ability to ask a provider about its configuration before anything is
// planned with it. A session without it leaves that to its plans.
type ConfigValidator interface {
	// ValidateProviderConfig asks a provider about a configuration of the shape of its
	// [ProviderSchema], which may have marks and unknown parts. The provider is not configured with
	// it.
	//
	// Diagnostics about a part of the configuration have [DiagnosticData.Provider] with its path,
	// in no slot. Sensitive values are not in them.
	ValidateProviderConfig(ctx context.Context, provider stackaddrs.Provider, config cty.Value) hcl.Diagnostics
}

// TypeDescriber is the ability to return the types of the objects of resources, for a caller that
// sends their values to programs that know the schemas of providers. A session without it has
// values that carry their types.
type TypeDescriber interface {
	// ResourceType returns the type that a provider's schema gives to the objects of a resource type
	// or data source. It is [cty.NilType] if that is not known. Repeated calls for one type are cheap.
	ResourceType(ctx context.Context, provider stackaddrs.Provider, mode stackaddrs.ResourceMode, name string) (cty.Type, error)
}
