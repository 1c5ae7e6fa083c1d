// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testprovider

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"github.com/zclconf/go-cty/cty/msgpack"
)

// mode says how an attribute gets its value; modes are combined with |.
type mode uint8

const (
	optional mode = 1 << iota
	required
	computed
	sensitive
	writeOnly
)

var (
	stringList  = tftypes.List{ElementType: tftypes.String}
	stringSet   = tftypes.Set{ElementType: tftypes.String}
	stringMap   = tftypes.Map{ElementType: tftypes.String}
	namedSize   = tftypes.Object{AttributeTypes: map[string]tftypes.Type{"name": tftypes.String, "size": tftypes.Number}}
	stringTuple = tftypes.Tuple{ElementTypes: []tftypes.Type{tftypes.String, tftypes.Number, tftypes.Bool}}
)

func attribute(name string, typ tftypes.Type, m mode) *tfprotov6.SchemaAttribute {
	return &tfprotov6.SchemaAttribute{
		Name:      name,
		Type:      typ,
		Optional:  m&optional != 0,
		Required:  m&required != 0,
		Computed:  m&computed != 0,
		Sensitive: m&sensitive != 0,
		WriteOnly: m&writeOnly != 0,
	}
}

// nestedAttribute is an optional attribute of objects that have name and value.
func nestedAttribute(name string, nesting tfprotov6.SchemaObjectNestingMode) *tfprotov6.SchemaAttribute {
	return &tfprotov6.SchemaAttribute{
		Name:     name,
		Optional: true,
		NestedType: &tfprotov6.SchemaObject{
			Nesting: nesting,
			Attributes: []*tfprotov6.SchemaAttribute{
				attribute("name", tftypes.String, required),
				attribute("value", tftypes.String, optional),
			},
		},
	}
}

// nestedBlocks is one block type of each usual kind of nesting, each with name and value; those of
// list_block nest another.
func nestedBlocks() []*tfprotov6.SchemaNestedBlock {
	block := func(
		name string, nesting tfprotov6.SchemaNestedBlockNestingMode, inner ...*tfprotov6.SchemaNestedBlock,
	) *tfprotov6.SchemaNestedBlock {
		return &tfprotov6.SchemaNestedBlock{
			TypeName: name,
			Nesting:  nesting,
			Block: &tfprotov6.SchemaBlock{
				Attributes: []*tfprotov6.SchemaAttribute{
					attribute("name", tftypes.String, optional),
					attribute("value", tftypes.String, optional),
				},
				BlockTypes: inner,
			},
		}
	}
	return []*tfprotov6.SchemaNestedBlock{
		block("single_block", tfprotov6.SchemaNestedBlockNestingModeSingle),
		block("list_block", tfprotov6.SchemaNestedBlockNestingModeList,
			block("inner", tfprotov6.SchemaNestedBlockNestingModeList)),
		block("set_block", tfprotov6.SchemaNestedBlockNestingModeSet),
	}
}

func schemaOf(blocks []*tfprotov6.SchemaNestedBlock, attributes ...*tfprotov6.SchemaAttribute) *tfprotov6.Schema {
	return &tfprotov6.Schema{Block: &tfprotov6.SchemaBlock{Attributes: attributes, BlockTypes: blocks}}
}

// valueType returns the type of the values that typ describes.
//
// It panics on types that are not made of those in [tftypes], since the schemas are constants.
func valueType(typ tftypes.Type) cty.Type {
	raw, err := typ.MarshalJSON() //nolint:staticcheck // The only encoding of types that both libraries share.
	if err != nil {
		panic(fmt.Sprintf("encoding a type: %s", err))
	}
	ty, err := ctyjson.UnmarshalType(raw)
	if err != nil {
		panic(fmt.Sprintf("decoding a type: %s", err))
	}
	return ty
}

// decode returns the value that core sent, null if it sent none.
func decode(raw *tfprotov6.DynamicValue, ty cty.Type) (cty.Value, error) {
	switch {
	case raw == nil:
		return cty.NullVal(ty), nil
	case len(raw.MsgPack) > 0:
		return msgpack.Unmarshal(raw.MsgPack, ty)
	default:
		return ctyjson.Unmarshal(raw.JSON, ty)
	}
}

func encode(v cty.Value, ty cty.Type) (*tfprotov6.DynamicValue, error) {
	raw, err := msgpack.Marshal(v, ty)
	if err != nil {
		return nil, err
	}
	return &tfprotov6.DynamicValue{MsgPack: raw}, nil
}

// boolArgument returns the named argument; unset, null and unknown are false.
func boolArgument(obj cty.Value, name string) bool {
	v, ok := knownArgument(obj, name)
	return ok && v.True()
}

// stringArgument returns the named argument; unset, null and unknown are the empty string.
func stringArgument(obj cty.Value, name string) string {
	if v, ok := knownArgument(obj, name); ok {
		return v.AsString()
	}
	return ""
}

// knownArgument returns the named attribute if obj has it with a value.
func knownArgument(obj cty.Value, name string) (cty.Value, bool) {
	if obj.IsNull() || !obj.IsKnown() || !obj.Type().HasAttribute(name) {
		return cty.NilVal, false
	}
	v := obj.GetAttr(name)
	return v, v.IsKnown() && !v.IsNull()
}

// equal reports whether two values are certainly the same: unknown values equal nothing.
func equal(a, b cty.Value) bool {
	return a.IsWhollyKnown() && b.IsWhollyKnown() && a.RawEquals(b)
}
