// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package schemajson writes schemas of providers as "terraform providers schema -json" does, byte
// by byte for the same schemas, and reads their blocks.
//
// It has the contents of version 1.0 of that format in terraform 1.11: neither identities, nor
// actions, nor list resources.
package schemajson

import (
	"encoding/json"
	"maps"
	"slices"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Encode returns the schemas of providers, by their addresses.
func Encode(schemas map[string]*schema.Provider) ([]byte, error) {
	return json.Marshal(tfjson.ProviderSchemas{FormatVersion: "1.0", Schemas: each(schemas, encodeProvider)})
}

// each converts the elements of a map.
func each[M, J any](from map[string]M, convert func(M) J) map[string]J {
	converted := make(map[string]J, len(from))
	for name, one := range from {
		converted[name] = convert(one)
	}
	return converted
}

func encodeProvider(p *schema.Provider) *tfjson.ProviderSchema {
	return &tfjson.ProviderSchema{
		ConfigSchema:             encodeSchema(p.Config),
		ResourceSchemas:          each(p.Managed, encodeSchema),
		DataSourceSchemas:        each(p.Data, encodeSchema),
		EphemeralResourceSchemas: each(p.Ephemeral, encodeSchema),
		Functions:                each(p.Functions, encodeFunction),
	}
}

func encodeSchema(s *schema.Schema) *tfjson.Schema {
	if s == nil {
		return &tfjson.Schema{}
	}
	converted := &tfjson.Schema{Version: uint64(s.Version)} //nolint:gosec // never negative
	if s.Block != nil {
		converted.Block = encodeBlock(s.Block)
	}
	return converted
}

func encodeBlock(b *schema.Block) *tfjson.SchemaBlock {
	converted := &tfjson.SchemaBlock{
		Attributes: encodeAttributes(b.Attributes), NestedBlocks: map[string]*tfjson.SchemaBlockType{},
		Description: b.Description.Text, DescriptionKind: kind(b.Description), Deprecated: b.Deprecated,
	}
	for _, one := range b.Blocks {
		converted.NestedBlocks[one.Name] = &tfjson.SchemaBlockType{
			NestingMode: tfjson.SchemaNestingMode(one.Nesting), Block: encodeBlock(one.Block),
			MinItems: uint64(one.MinItems), MaxItems: uint64(one.MaxItems), //nolint:gosec // never negative
		}
	}
	return converted
}

func kind(text schema.Text) tfjson.SchemaDescriptionKind {
	if text.Markdown {
		return tfjson.SchemaDescriptionKindMarkdown
	}
	return tfjson.SchemaDescriptionKindPlain
}

func encodeAttributes(attributes []*schema.Attribute) map[string]*tfjson.SchemaAttribute {
	converted := make(map[string]*tfjson.SchemaAttribute, len(attributes))
	for _, attr := range attributes {
		one := &tfjson.SchemaAttribute{
			Description: attr.Description.Text, DescriptionKind: kind(attr.Description), Deprecated: attr.Deprecated,
			Required: attr.Required, Optional: attr.Optional, Computed: attr.Computed, Sensitive: attr.Sensitive, WriteOnly: attr.WriteOnly,
		}
		if attr.Nested != nil {
			one.AttributeNestedType = &tfjson.SchemaNestedAttributeType{
				Attributes: encodeAttributes(attr.Nested.Attributes), NestingMode: tfjson.SchemaNestingMode(attr.Nested.Nesting),
			}
		} else {
			one.AttributeType = attr.Type
		}
		converted[attr.Name] = one
	}
	return converted
}

func encodeFunction(f *engine.Function) *tfjson.FunctionSignature {
	converted := &tfjson.FunctionSignature{
		Description: f.Description, Summary: f.Summary, DeprecationMessage: f.Deprecated, ReturnType: f.Return,
	}
	for _, one := range f.Parameters {
		converted.Parameters = append(converted.Parameters, encodeParameter(one))
	}
	if f.Variadic != nil {
		converted.VariadicParameter = encodeParameter(*f.Variadic)
	}
	return converted
}

func encodeParameter(p engine.FunctionParameter) *tfjson.FunctionParameter {
	return &tfjson.FunctionParameter{Name: p.Name, Description: p.Description, IsNullable: p.AllowNull, Type: p.Type}
}

// DecodeBlock returns a block as package schema has it, without its descriptions. Parts that have
// no type are left out.
func DecodeBlock(written *tfjson.SchemaBlock) *schema.Block {
	block := &schema.Block{Attributes: decodeAttributes(written.Attributes)}
	for _, name := range slices.Sorted(maps.Keys(written.NestedBlocks)) {
		if nested := written.NestedBlocks[name]; nested != nil && nested.Block != nil {
			block.Blocks = append(block.Blocks, &schema.NestedBlock{
				Name: name, Block: DecodeBlock(nested.Block), Nesting: schema.Nesting(nested.NestingMode),
				MinItems: int64(nested.MinItems), MaxItems: int64(nested.MaxItems), //nolint:gosec // small numbers
			})
		}
	}
	return block
}

func decodeAttributes(written map[string]*tfjson.SchemaAttribute) []*schema.Attribute {
	var attributes []*schema.Attribute
	for _, name := range slices.Sorted(maps.Keys(written)) {
		attr := written[name]
		if attr == nil || attr.AttributeNestedType == nil && attr.AttributeType == cty.NilType {
			continue
		}
		one := &schema.Attribute{
			Name: name, Type: attr.AttributeType, Required: attr.Required, Optional: attr.Optional, Computed: attr.Computed,
			Sensitive: attr.Sensitive, WriteOnly: attr.WriteOnly,
		}
		if nested := attr.AttributeNestedType; nested != nil {
			one.Nested = &schema.Object{Attributes: decodeAttributes(nested.Attributes), Nesting: schema.Nesting(nested.NestingMode)}
		}
		attributes = append(attributes, one)
	}
	return attributes
}
