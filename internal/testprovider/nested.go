// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testprovider

import (
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/zclconf/go-cty/cty"
)

// madeName is the name of attributes inside of others and of blocks that the provider chooses.
const madeName = "made"

var nestedAttributes = []struct {
	name    string
	nesting tfprotov6.SchemaObjectNestingMode
}{
	{"single", tfprotov6.SchemaObjectNestingModeSingle},
	{"list", tfprotov6.SchemaObjectNestingModeList},
	{"set", tfprotov6.SchemaObjectNestingModeSet},
	{"map", tfprotov6.SchemaObjectNestingModeMap},
}

var nestedKinds = []struct {
	name    string
	nesting tfprotov6.SchemaNestedBlockNestingMode
}{
	{"single_block", tfprotov6.SchemaNestedBlockNestingModeSingle},
	{"list_block", tfprotov6.SchemaNestedBlockNestingModeList},
	{"set_block", tfprotov6.SchemaNestedBlockNestingModeSet},
	{"map_block", tfprotov6.SchemaNestedBlockNestingModeMap},
	{"group_block", tfprotov6.SchemaNestedBlockNestingModeGroup},
}

// nestedType is a type with nested blocks of all kinds, two deep, and with nested attributes of all
// kinds. All have something computed inside.
func nestedType() *resourceType {
	inner := func() []*tfprotov6.SchemaAttribute {
		return []*tfprotov6.SchemaAttribute{attribute("name", tftypes.String, optional), attribute(madeName, tftypes.String, computed)}
	}
	t := &resourceType{name: "fake_nested", schema: objectSchema()}
	for _, nested := range nestedAttributes {
		t.schema.Block.Attributes = append(t.schema.Block.Attributes, &tfprotov6.SchemaAttribute{
			Name: nested.name, Optional: true, NestedType: &tfprotov6.SchemaObject{Nesting: nested.nesting, Attributes: inner()},
		})
	}
	for _, nested := range nestedKinds {
		t.schema.Block.BlockTypes = append(t.schema.Block.BlockTypes, &tfprotov6.SchemaNestedBlock{
			TypeName: nested.name, Nesting: nested.nesting,
			Block: &tfprotov6.SchemaBlock{Attributes: inner(), BlockTypes: []*tfprotov6.SchemaNestedBlock{{
				TypeName: "inner", Nesting: nested.nesting, Block: &tfprotov6.SchemaBlock{Attributes: inner()},
			}}},
		})
	}
	return t
}

// emptyBlock returns the value for no blocks of a type. It is null for single ones only.
func emptyBlock(block *tfprotov6.SchemaNestedBlock, ty cty.Type) cty.Value {
	switch block.Nesting {
	case tfprotov6.SchemaNestedBlockNestingModeList:
		return cty.ListValEmpty(ty.ElementType())
	case tfprotov6.SchemaNestedBlockNestingModeSet:
		return cty.SetValEmpty(ty.ElementType())
	case tfprotov6.SchemaNestedBlockNestingModeMap:
		return cty.MapValEmpty(ty.ElementType())
	case tfprotov6.SchemaNestedBlockNestingModeGroup:
		return emptyContent(block.Block, ty)
	default:
		return cty.NullVal(ty)
	}
}

// emptyContent returns the object that an empty block becomes.
func emptyContent(block *tfprotov6.SchemaBlock, ty cty.Type) cty.Value {
	attrs := make(map[string]cty.Value)
	for name, ty := range ty.AttributeTypes() {
		attrs[name] = cty.NullVal(ty)
	}
	for _, nested := range block.BlockTypes {
		attrs[nested.TypeName] = emptyBlock(nested, ty.AttributeType(nested.TypeName))
	}
	return cty.ObjectVal(attrs)
}

// fillMade returns an object in which attributes that the provider chooses inside of others have a
// value, where they have none yet.
func fillMade(obj, made cty.Value) (cty.Value, error) {
	return cty.Transform(obj, func(path cty.Path, v cty.Value) (cty.Value, error) {
		if len(path) == 0 {
			return v, nil
		}
		step, ok := path[len(path)-1].(cty.GetAttrStep)
		if ok && step.Name == madeName && (!v.IsKnown() || v.IsNull()) {
			return made, nil
		}
		return v, nil
	})
}
