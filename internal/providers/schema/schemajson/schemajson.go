// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package schemajson writes schemas of providers as "terraform providers schema -json" does, byte
// by byte for the same schemas.
//
// It has the contents of version 1.0 of that format in terraform 1.11: neither identities, nor
// actions, nor list resources.
package schemajson

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

type document struct {
	FormatVersion string               `json:"format_version"`
	Schemas       map[string]*provider `json:"provider_schemas,omitempty"`
}

type provider struct {
	Provider  *versioned            `json:"provider,omitempty"`
	Managed   map[string]*versioned `json:"resource_schemas,omitempty"`
	Data      map[string]*versioned `json:"data_source_schemas,omitempty"`
	Ephemeral map[string]*versioned `json:"ephemeral_resource_schemas,omitempty"`
	Functions map[string]*function  `json:"functions,omitempty"`
}

type versioned struct {
	Version int64  `json:"version"`
	Block   *block `json:"block,omitempty"`
}

type block struct {
	Attributes  map[string]*attribute `json:"attributes,omitempty"`
	Blocks      map[string]*nested    `json:"block_types,omitempty"`
	Description string                `json:"description,omitempty"`
	Kind        string                `json:"description_kind,omitempty"`
	Deprecated  bool                  `json:"deprecated,omitempty"`
}

type attribute struct {
	Type        json.RawMessage `json:"type,omitempty"`
	Nested      *object         `json:"nested_type,omitempty"`
	Description string          `json:"description,omitempty"`
	Kind        string          `json:"description_kind,omitempty"`
	Deprecated  bool            `json:"deprecated,omitempty"`
	Required    bool            `json:"required,omitempty"`
	Optional    bool            `json:"optional,omitempty"`
	Computed    bool            `json:"computed,omitempty"`
	Sensitive   bool            `json:"sensitive,omitempty"`
	WriteOnly   bool            `json:"write_only,omitempty"`
}

type object struct {
	Attributes map[string]*attribute `json:"attributes,omitempty"`
	Nesting    schema.Nesting        `json:"nesting_mode,omitempty"`
}

type nested struct {
	Nesting  schema.Nesting `json:"nesting_mode,omitempty"`
	Block    *block         `json:"block,omitempty"`
	MinItems int64          `json:"min_items,omitempty"`
	MaxItems int64          `json:"max_items,omitempty"`
}

type function struct {
	Description string          `json:"description,omitempty"`
	Summary     string          `json:"summary,omitempty"`
	Deprecation string          `json:"deprecation_message,omitempty"`
	Return      json.RawMessage `json:"return_type"`
	Parameters  []*parameter    `json:"parameters,omitempty"`
	Variadic    *parameter      `json:"variadic_parameter,omitempty"`
}

type parameter struct {
	Name        string          `json:"name,omitempty"`
	Description string          `json:"description,omitempty"`
	Nullable    bool            `json:"is_nullable,omitempty"`
	Type        json.RawMessage `json:"type"`
}

// Encode returns the document for schemas by the addresses of their providers. It ends without a
// line feed.
func Encode(schemas map[string]*schema.Provider) ([]byte, error) {
	e := &encoder{}
	all := document{FormatVersion: "1.0", Schemas: map[string]*provider{}}
	for _, address := range slices.Sorted(maps.Keys(schemas)) {
		all.Schemas[address] = e.provider(schemas[address])
	}
	if e.err != nil {
		return nil, e.err
	}
	return json.Marshal(all)
}

// encoder converts the model into the form that is marshalled. It keeps the first error.
type encoder struct{ err error }

func (e *encoder) provider(p *schema.Provider) *provider {
	return &provider{
		Provider:  e.versioned(p.Config),
		Managed:   e.all(p.Managed),
		Data:      e.all(p.Data),
		Ephemeral: e.all(p.Ephemeral),
		Functions: each(p.Functions, e.function),
	}
}

func each[M, J any](from map[string]M, convert func(M) J) map[string]J {
	converted := make(map[string]J, len(from))
	for name, one := range from {
		converted[name] = convert(one)
	}
	return converted
}

func (e *encoder) all(schemas map[string]*schema.Schema) map[string]*versioned {
	return each(schemas, e.versioned)
}

func (e *encoder) versioned(s *schema.Schema) *versioned {
	if s == nil {
		return &versioned{}
	}
	converted := &versioned{Version: s.Version}
	if s.Block != nil {
		converted.Block = e.block(s.Block)
	}
	return converted
}

func (e *encoder) block(b *schema.Block) *block {
	converted := &block{
		Attributes: e.attributes(b.Attributes), Blocks: map[string]*nested{},
		Description: b.Description.Text, Kind: kind(b.Description), Deprecated: b.Deprecated,
	}
	for _, one := range b.Blocks {
		converted.Blocks[one.Name] = &nested{one.Nesting, e.block(one.Block), one.MinItems, one.MaxItems}
	}
	return converted
}

func kind(text schema.Text) string {
	if text.Markdown {
		return "markdown"
	}
	return "plain"
}

func (e *encoder) attributes(attributes []*schema.Attribute) map[string]*attribute {
	converted := make(map[string]*attribute, len(attributes))
	for _, attr := range attributes {
		one := &attribute{
			Description: attr.Description.Text, Kind: kind(attr.Description), Deprecated: attr.Deprecated,
			Required: attr.Required, Optional: attr.Optional, Computed: attr.Computed, Sensitive: attr.Sensitive, WriteOnly: attr.WriteOnly,
		}
		if attr.Nested != nil {
			one.Nested = &object{e.attributes(attr.Nested.Attributes), attr.Nested.Nesting}
		} else {
			one.Type = e.typeOf(attr.Type)
		}
		converted[attr.Name] = one
	}
	return converted
}

func (e *encoder) function(f *engine.Function) *function {
	converted := &function{Description: f.Description, Summary: f.Summary, Deprecation: f.Deprecated, Return: e.typeOf(f.Return)}
	for _, one := range f.Parameters {
		converted.Parameters = append(converted.Parameters, e.parameter(one))
	}
	if f.Variadic != nil {
		converted.Variadic = e.parameter(*f.Variadic)
	}
	return converted
}

func (e *encoder) parameter(p engine.FunctionParameter) *parameter {
	return &parameter{p.Name, p.Description, p.AllowNull, e.typeOf(p.Type)}
}

func (e *encoder) typeOf(ty cty.Type) json.RawMessage {
	encoded, err := ty.MarshalJSON()
	if err != nil && e.err == nil {
		e.err = err
	}
	return encoded
}
