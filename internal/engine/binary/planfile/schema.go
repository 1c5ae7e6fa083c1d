// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	tfjson "github.com/hashicorp/terraform-json"
	"github.com/zclconf/go-cty/cty"
)

// blockType returns the type of the values of a block.
func blockType(block *tfjson.SchemaBlock) cty.Type {
	if block == nil {
		return cty.NilType
	}
	attrs := attributeTypes(block.Attributes)
	for name, nested := range block.NestedBlocks {
		if nested != nil {
			attrs[name] = nestedType(nested.NestingMode, blockType(nested.Block))
		}
	}
	return objectType(attrs)
}

func attributeTypes(attrs map[string]*tfjson.SchemaAttribute) map[string]cty.Type {
	out := make(map[string]cty.Type, len(attrs))
	for name, attr := range attrs {
		switch {
		case attr == nil:
		case attr.AttributeNestedType != nil:
			nested := attr.AttributeNestedType
			out[name] = nestedType(nested.NestingMode, objectType(attributeTypes(nested.Attributes)))
		default:
			out[name] = attr.AttributeType
		}
	}
	return out
}

// objectType is cty.Object without the attributes whose type is not known.
func objectType(attrs map[string]cty.Type) cty.Type {
	for name, ty := range attrs {
		if ty == cty.NilType {
			delete(attrs, name)
		}
	}
	return cty.Object(attrs)
}

func nestedType(mode tfjson.SchemaNestingMode, elem cty.Type) cty.Type {
	if elem == cty.NilType {
		return cty.NilType
	}
	switch mode {
	case tfjson.SchemaNestingModeList:
		return cty.List(elem)
	case tfjson.SchemaNestingModeSet:
		return cty.Set(elem)
	case tfjson.SchemaNestingModeMap:
		return cty.Map(elem)
	default:
		return elem
	}
}

// markBlock marks what the schema of a block calls sensitive, and reports whether there was anything.
func (n *node) markBlock(block *tfjson.SchemaBlock) (marked bool) {
	if block == nil || n.kind != kindMap {
		return false
	}
	marked = n.markAttributes(block.Attributes)
	for i, name := range n.keys {
		if nested := block.NestedBlocks[name]; nested != nil {
			mark := func(n *node) bool { return n.markBlock(nested.Block) }
			marked = n.elems[i].eachObject(nested.NestingMode, mark) || marked
		}
	}
	return marked
}

func (n *node) markAttributes(attrs map[string]*tfjson.SchemaAttribute) (marked bool) {
	if n.kind != kindMap {
		return false
	}
	for i, name := range n.keys {
		attr := attrs[name]
		switch {
		case attr == nil:
		case attr.Sensitive:
			n.elems[i].sensitive, marked = true, true
		case attr.AttributeNestedType != nil:
			nested := attr.AttributeNestedType
			mark := func(n *node) bool { return n.markAttributes(nested.Attributes) }
			marked = n.elems[i].eachObject(nested.NestingMode, mark) || marked
		}
	}
	return marked
}

// eachObject calls mark for n itself or for its elements, as the nesting mode has it. A set is
// sensitive as a whole if anything in it is.
func (n *node) eachObject(mode tfjson.SchemaNestingMode, mark func(*node) bool) (marked bool) {
	switch mode {
	case tfjson.SchemaNestingModeList, tfjson.SchemaNestingModeSet, tfjson.SchemaNestingModeMap:
		for i := range n.elems {
			marked = mark(&n.elems[i]) || marked
		}
		if mode == tfjson.SchemaNestingModeSet && marked {
			n.sensitive = true
		}
		return marked
	default:
		return mark(n)
	}
}
