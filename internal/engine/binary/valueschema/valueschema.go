// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package valueschema is the part of a resource type's schema that is about its values: their type,
// and their sensitive parts.
package valueschema

import (
	tfjson "github.com/hashicorp/terraform-json"
	"github.com/zclconf/go-cty/cty"
)

// Schema is the type and the sensitive parts of values. It is not to be changed.
type Schema struct {
	Type   cty.Type
	Secret *Secret // nil if nothing is sensitive
}

// Secret is a tree of the sensitive parts of a value.
type Secret struct {
	Whole bool               // the value itself
	Attrs map[string]*Secret // of an object
	Elems *Secret            // of each element of a list, a set or a map
}

// Attr returns the sensitive parts of an attribute of an object or of an element of a map. Nil if
// there are none.
func (s *Secret) Attr(name string) *Secret {
	if s == nil {
		return nil
	}
	if s.Elems != nil {
		return s.Elems
	}
	return s.Attrs[name]
}

// Elem returns the sensitive parts of an element of a list, a set or a map. Nil if there are none.
func (s *Secret) Elem() *Secret {
	if s == nil {
		return nil
	}
	return s.Elems
}

// New returns the schema of values from terraform's JSON form of a schema. Types that it does not
// have are left out.
func New(schema *tfjson.Schema) *Schema {
	return &Schema{Type: blockType(schema.Block), Secret: blockSecret(schema.Block)}
}

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

func blockSecret(block *tfjson.SchemaBlock) *Secret {
	if block == nil {
		return nil
	}
	attrs := attributeSecrets(block.Attributes)
	for name, nested := range block.NestedBlocks {
		if nested != nil {
			add(attrs, name, nestedSecret(nested.NestingMode, blockSecret(nested.Block)))
		}
	}
	return objectSecret(attrs)
}

func attributeSecrets(attrs map[string]*tfjson.SchemaAttribute) map[string]*Secret {
	out := map[string]*Secret{}
	for name, attr := range attrs {
		switch {
		case attr == nil:
		case attr.Sensitive:
			out[name] = &Secret{Whole: true}
		case attr.AttributeNestedType != nil:
			nested := attr.AttributeNestedType
			add(out, name, nestedSecret(nested.NestingMode, objectSecret(attributeSecrets(nested.Attributes))))
		}
	}
	return out
}

func add(secrets map[string]*Secret, name string, secret *Secret) {
	if secret != nil {
		secrets[name] = secret
	}
}

func objectSecret(attrs map[string]*Secret) *Secret {
	if len(attrs) == 0 {
		return nil
	}
	return &Secret{Attrs: attrs}
}

func nestedSecret(mode tfjson.SchemaNestingMode, elem *Secret) *Secret {
	switch mode {
	case tfjson.SchemaNestingModeList, tfjson.SchemaNestingModeSet, tfjson.SchemaNestingModeMap:
		if elem != nil {
			return &Secret{Elems: elem}
		}
		return nil
	default:
		return elem
	}
}
