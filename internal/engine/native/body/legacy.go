// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package body

import (
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/schema"
)

// writtenAsBlocks reports whether lists and sets of objects in a schema may be written as blocks,
// which providers on the first SDK rely on. It knows such a schema by the absence of types that
// this SDK could not declare: nested types, objects and tuples by themselves, and nested
// collections.
func writtenAsBlocks(block *schema.Block) bool {
	for _, attr := range block.Attributes {
		if attr.Nested != nil || !legacyType(attr.Type) {
			return false
		}
	}
	return !slices.ContainsFunc(block.Blocks, func(nested *schema.NestedBlock) bool { return !writtenAsBlocks(nested.Block) })
}

// legacyType reports whether an attribute of the first SDK can have a type.
func legacyType(ty cty.Type) bool {
	switch {
	case ty.IsPrimitiveType(), ty == cty.DynamicPseudoType:
		return true
	case ty.IsMapType():
		return ty.ElementType().IsPrimitiveType() || ty.ElementType().IsCollectionType() && legacyType(ty.ElementType())
	case listsObjects(ty):
		for _, inner := range ty.ElementType().AttributeTypes() {
			if !legacyType(inner) {
				return false
			}
		}
		return true
	case ty.IsListType(), ty.IsSetType():
		return legacyType(ty.ElementType())
	default:
		return false
	}
}

// listsObjects reports whether values of a type are lists or sets of objects.
func listsObjects(ty cty.Type) bool {
	return ty != cty.NilType && (ty.IsListType() || ty.IsSetType()) && ty.ElementType().IsObjectType()
}

// argumentBlock returns the blocks that an attribute may be written as: all arguments are optional.
func argumentBlock(attr *schema.Attribute) *schema.NestedBlock {
	nested := &schema.NestedBlock{Name: attr.Name, Block: &schema.Block{}, Nesting: schema.List}
	if attr.Type.IsSetType() {
		nested.Nesting = schema.Set
	}
	inner := attr.Type.ElementType().AttributeTypes()
	for _, name := range slices.Sorted(maps.Keys(inner)) {
		nested.Block.Attributes = append(nested.Block.Attributes, &schema.Attribute{Name: name, Type: inner[name], Optional: true})
	}
	return nested
}
