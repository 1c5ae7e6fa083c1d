// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"google.golang.org/protobuf/encoding/protowire"

	pluginv1 "github.com/cairnstacks/cairn/proto/cairn/plugin/v1"
)

// maxDepth is how deep blocks and objects may be nested. Schemas of providers are far from it.
const maxDepth = 100

// Decode returns the schemas in the answer of a provider.
//
// Errors: for an answer that breaks the protocol, such as one without a schema of the provider
// itself.
func Decode(encoded *pluginv1.SchemaResponse) (*Provider, error) {
	if encoded.GetProvider() == nil {
		return nil, fmt.Errorf("the schema of the provider's configuration is missing")
	}
	d, decoded := decoder{}, &Provider{}
	var err error
	if decoded.Config, err = d.schema(encoded.GetProvider()); err != nil {
		return nil, fmt.Errorf("schema of the provider's configuration: %w", err)
	}
	if meta := encoded.GetProviderMeta(); meta != nil {
		if decoded.Meta, err = d.schema(meta); err != nil {
			return nil, fmt.Errorf("schema of provider_meta: %w", err)
		}
	}
	actions := map[string]*pluginv1.Schema{}
	for name, action := range encoded.GetActionSchemas() {
		actions[name] = action.GetSchema()
	}
	for _, kind := range []struct {
		name string
		from map[string]*pluginv1.Schema
		to   *map[string]*Schema
	}{
		{"resource type", encoded.GetResourceSchemas(), &decoded.Managed},
		{"data source", encoded.GetDataSourceSchemas(), &decoded.Data},
		{"ephemeral resource type", encoded.GetEphemeralResourceSchemas(), &decoded.Ephemeral},
		{"list resource type", encoded.GetListResourceSchemas(), &decoded.List},
		{"action", actions, &decoded.Actions},
	} {
		if *kind.to, err = decodeAll(kind.name, kind.from, d.schema); err != nil {
			return nil, err
		}
	}
	if decoded.Functions, err = DecodeFunctions(encoded.GetFunctions()); err != nil {
		return nil, err
	}
	decoded.Capabilities = decodeCapabilities(encoded.GetServerCapabilities())
	return decoded, nil
}

func decodeCapabilities(encoded *pluginv1.ServerCapabilities) Capabilities {
	return Capabilities{
		PlanDestroy:    encoded.GetPlanDestroy(),
		SchemaOptional: encoded.GetGetProviderSchemaOptional(),
		MoveState:      encoded.GetMoveResourceState(),
		GenerateConfig: encoded.GetGenerateResourceConfig(),
	}
}

// DecodeIdentities returns the schemas of identities in the answer of a provider.
func DecodeIdentities(encoded *pluginv1.IdentitySchemasResponse) (map[string]*Identity, error) {
	return decodeAll("identity of the resource type", encoded.GetIdentitySchemas(), decoder{}.identity)
}

// decoder decodes the schemas of one answer, and keeps the types of attributes by their encoding:
// aws 5.100.0 has 505 of them for its 86 705 attributes, and decoding types was most of the work.
type decoder map[string]cty.Type

func (d decoder) typeOf(encoded []byte) (cty.Type, error) {
	if known, ok := d[string(encoded)]; ok {
		return known, nil
	}
	ty, err := ctyjson.UnmarshalType(encoded)
	if err == nil {
		d[string(encoded)] = ty
	}
	return ty, err
}

func decodeAll[M, S any](kind string, encoded map[string]M, decode func(M) (S, error)) (map[string]S, error) {
	decoded := make(map[string]S, len(encoded))
	for _, name := range slices.Sorted(maps.Keys(encoded)) {
		one, err := decode(encoded[name])
		if err != nil {
			return nil, fmt.Errorf("schema of %s %q: %w", kind, name, err)
		}
		decoded[name] = one
	}
	return decoded, nil
}

func (d decoder) schema(encoded *pluginv1.Schema) (*Schema, error) {
	block, err := d.block(encoded.GetBlock(), maxDepth)
	return &Schema{Version: encoded.GetVersion(), Block: block}, err
}

func text(description string, kind pluginv1.StringKind) Text {
	return Text{Text: description, Markdown: kind == pluginv1.StringKind_MARKDOWN}
}

func (d decoder) block(encoded *pluginv1.Block, depth int) (*Block, error) {
	if depth == 0 {
		return nil, fmt.Errorf("blocks are nested more than %d deep", maxDepth)
	}
	attributes, err := d.attributes(encoded.GetAttributes(), depth)
	if err != nil {
		return nil, err
	}
	block := &Block{
		Attributes:  attributes,
		Description: text(encoded.GetDescription(), encoded.GetDescriptionKind()),
		Deprecated:  encoded.GetDeprecated(),
		Deprecation: encoded.GetDeprecationMessage(),
		Computed:    encoded.GetComputed(),
	}
	for _, nested := range encoded.GetBlockTypes() {
		decoded, err := d.nested(nested, depth)
		if err != nil {
			return nil, fmt.Errorf("block %q: %w", nested.GetTypeName(), err)
		}
		block.Blocks = append(block.Blocks, decoded)
	}
	slices.SortFunc(block.Blocks, func(a, b *NestedBlock) int { return strings.Compare(a.Name, b.Name) })
	return block, nil
}

var blockNestings = map[pluginv1.NestedBlock_NestingMode]Nesting{
	pluginv1.NestedBlock_SINGLE: Single,
	pluginv1.NestedBlock_LIST:   List,
	pluginv1.NestedBlock_SET:    Set,
	pluginv1.NestedBlock_MAP:    Map,
	pluginv1.NestedBlock_GROUP:  Group,
}

func (d decoder) nested(encoded *pluginv1.NestedBlock, depth int) (*NestedBlock, error) {
	nesting, ok := blockNestings[encoded.GetNesting()]
	if !ok {
		return nil, fmt.Errorf("unknown nesting mode %d", encoded.GetNesting())
	}
	block, err := d.block(encoded.GetBlock(), depth-1)
	return &NestedBlock{
		Name:     encoded.GetTypeName(),
		Block:    block,
		Nesting:  nesting,
		MinItems: encoded.GetMinItems(),
		MaxItems: encoded.GetMaxItems(),
	}, err
}

func (d decoder) attributes(encoded []*pluginv1.Attribute, depth int) ([]*Attribute, error) {
	var attributes []*Attribute
	for _, one := range encoded {
		attr, err := d.attribute(one, depth)
		if err != nil {
			return nil, fmt.Errorf("attribute %q: %w", one.GetName(), err)
		}
		attributes = append(attributes, attr)
	}
	slices.SortFunc(attributes, func(a, b *Attribute) int { return strings.Compare(a.Name, b.Name) })
	return attributes, nil
}

func (d decoder) attribute(encoded *pluginv1.Attribute, depth int) (*Attribute, error) {
	attr := &Attribute{
		Name:        encoded.GetName(),
		Description: text(encoded.GetDescription(), encoded.GetDescriptionKind()),
		Required:    encoded.GetRequired(),
		Optional:    encoded.GetOptional(),
		Computed:    encoded.GetComputed(),
		Sensitive:   encoded.GetSensitive(),
		WriteOnly:   encoded.GetWriteOnly(),
		Deprecated:  encoded.GetDeprecated(),
		Deprecation: encoded.GetDeprecationMessage(),
	}
	attr.decodeVersion5(encoded.ProtoReflect().GetUnknown())
	var err error
	if nested := encoded.GetNestedType(); nested != nil {
		attr.Nested, err = d.object(nested, depth)
	} else {
		attr.Type, err = d.typeOf(encoded.GetType())
	}
	return attr, err
}

// decodeVersion5 decodes the fields whose numbers have other types in version 6, and which protocol
// buffers keep as unknown ones for that.
func (a *Attribute) decodeVersion5(unknown []byte) {
	const writeOnly, deprecationMessage = 10, 11
	for len(unknown) > 0 {
		number, kind, n := protowire.ConsumeTag(unknown)
		size := protowire.ConsumeFieldValue(number, kind, unknown[max(n, 0):])
		if n < 0 || size < 0 {
			return
		}
		value := unknown[n : n+size]
		switch {
		case number == writeOnly && kind == protowire.VarintType:
			set, _ := protowire.ConsumeVarint(value)
			a.WriteOnly = set != 0
		case number == deprecationMessage && kind == protowire.BytesType:
			message, _ := protowire.ConsumeString(value)
			a.Deprecation = message
		}
		unknown = unknown[n+size:]
	}
}

var objectNestings = map[pluginv1.Object_NestingMode]Nesting{
	pluginv1.Object_SINGLE: Single,
	pluginv1.Object_LIST:   List,
	pluginv1.Object_SET:    Set,
	pluginv1.Object_MAP:    Map,
}

func (d decoder) object(encoded *pluginv1.Object, depth int) (*Object, error) {
	if depth == 0 {
		return nil, fmt.Errorf("objects are nested more than %d deep", maxDepth)
	}
	nesting, ok := objectNestings[encoded.GetNesting()]
	if !ok {
		return nil, fmt.Errorf("unknown nesting mode %d", encoded.GetNesting())
	}
	attributes, err := d.attributes(encoded.GetAttributes(), depth-1)
	return &Object{Attributes: attributes, Nesting: nesting}, err
}

func (d decoder) identity(encoded *pluginv1.IdentitySchema) (*Identity, error) {
	identity := &Identity{Version: encoded.GetVersion()}
	for _, one := range encoded.GetIdentityAttributes() {
		ty, err := d.typeOf(one.GetType())
		if err != nil {
			return nil, fmt.Errorf("attribute %q: %w", one.GetName(), err)
		}
		identity.Attributes = append(identity.Attributes, &IdentityAttribute{
			Name:              one.GetName(),
			Type:              ty,
			Description:       one.GetDescription(),
			RequiredForImport: one.GetRequiredForImport(),
			OptionalForImport: one.GetOptionalForImport(),
		})
	}
	slices.SortFunc(identity.Attributes, func(a, b *IdentityAttribute) int { return strings.Compare(a.Name, b.Name) })
	return identity, nil
}
