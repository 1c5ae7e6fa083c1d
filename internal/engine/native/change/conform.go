// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package change

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/schema"
)

// Conform returns why a value is no object of a block: null is one. Where the schema leaves the
// type to the value, any fits.
func Conform(block *schema.Block, value cty.Value) []error {
	var f faults
	f.errs = append(f.errs, value.Type().TestConformance(block.Type())...)
	if len(f.errs) == 0 {
		f.varying(block, value, nil)
	}
	return f.errs
}

// varying checks blocks whose objects may be of different types, which is more than their type
// says.
func (f *faults) varying(block *schema.Block, object cty.Value, path cty.Path) {
	if !descends(object) || !block.Type().HasDynamicTypes() {
		return
	}
	for _, nested := range block.Blocks {
		value, at := object.GetAttr(nested.Name), path.GetAttr(nested.Name)
		switch {
		case !descends(value):
		case nested.Nesting == schema.Single || nested.Nesting == schema.Group:
			f.varying(nested.Block, value, at)
		case nested.Varies():
			f.varyingBlocks(nested, value, at)
		}
	}
}

func (f *faults) varyingBlocks(nested *schema.NestedBlock, value cty.Value, path cty.Path) {
	ty := value.Type()
	list, keyed := ty.IsTupleType() || ty.IsListType(), ty.IsObjectType() || ty.IsMapType()
	if nested.Nesting == schema.List && !list || nested.Nesting == schema.Map && !keyed {
		f.add(path, "a %s of blocks is required", nested.Nesting)
		return
	}
	for key, element := range value.Elements() {
		at := schema.Step(path, ty, key)
		wrong := element.Type().TestConformance(nested.Block.Type())
		for range wrong {
			f.add(at, "an object of the type of the block is required")
		}
		if len(wrong) == 0 {
			f.varying(nested.Block, element, at)
		}
	}
}

// NormalizeLegacy returns an object with the blocks that it should have had: providers on the first
// SDK return null for no blocks, and may not know them. Objects of schemas with dynamic types,
// which such providers do not have, stay as they are.
func NormalizeLegacy(block *schema.Block, value cty.Value) cty.Value {
	if !descends(value) || len(block.Blocks) == 0 || block.Type().HasDynamicTypes() {
		return value
	}
	values := value.AsValueMap()
	for _, nested := range block.Blocks {
		values[nested.Name] = normalBlocks(nested, values[nested.Name])
	}
	return cty.ObjectVal(values)
}

func normalBlocks(nested *schema.NestedBlock, value cty.Value) cty.Value {
	switch nested.Nesting {
	case schema.Single, schema.Group:
		switch {
		case !value.IsKnown():
			return stub(nested.Block)
		case value.IsNull():
			return nested.Absent()
		}
		return NormalizeLegacy(nested.Block, value)
	case schema.List:
		if values := normalElements(nested, value); len(values) > 0 {
			return cty.ListVal(values)
		}
		return nested.Absent()
	case schema.Set:
		if values := normalElements(nested, value); len(values) > 0 {
			return cty.SetVal(values)
		}
		return nested.Absent()
	default:
		return value // that SDK has no maps of blocks
	}
}

func normalElements(nested *schema.NestedBlock, value cty.Value) []cty.Value {
	switch {
	case !value.IsKnown():
		return []cty.Value{stub(nested.Block)}
	case value.IsNull():
		return nil
	}
	values := value.AsValueSlice()
	for i, element := range values {
		values[i] = NormalizeLegacy(nested.Block, element)
	}
	return values
}

// stub returns a block of which only is known that it is there.
func stub(block *schema.Block) cty.Value {
	values := make(map[string]cty.Value, len(block.Attributes)+len(block.Blocks))
	for _, attr := range block.Attributes {
		values[attr.Name] = cty.UnknownVal(attr.ValueType())
	}
	for _, nested := range block.Blocks {
		values[nested.Name] = normalBlocks(nested, cty.UnknownVal(nested.ValueType()))
	}
	return cty.ObjectVal(values)
}
