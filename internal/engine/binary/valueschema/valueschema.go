// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package valueschema is the part of a resource type's schema that is about its values: their type,
// and their sensitive parts.
package valueschema

import (
	tfjson "github.com/hashicorp/terraform-json"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/internal/providers/schema/schemajson"
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

// New returns the values of a type with a schema.
func New(written *tfjson.Schema) *Schema {
	if written.Block == nil {
		return &Schema{}
	}
	return Of(schemajson.DecodeBlock(written.Block))
}

// Of returns the values of a type whose objects a block describes.
func Of(block *schema.Block) *Schema { return &Schema{Type: block.Type(), Secret: blockSecret(block)} }

func blockSecret(block *schema.Block) *Secret {
	attrs := attributeSecrets(block.Attributes)
	for _, nested := range block.Blocks {
		add(attrs, nested.Name, nestedSecret(nested.Nesting, blockSecret(nested.Block)))
	}
	return objectSecret(attrs)
}

func attributeSecrets(attrs []*schema.Attribute) map[string]*Secret {
	out := map[string]*Secret{}
	for _, attr := range attrs {
		switch {
		case attr.Sensitive:
			out[attr.Name] = &Secret{Whole: true}
		case attr.Nested != nil:
			add(out, attr.Name, nestedSecret(attr.Nested.Nesting, objectSecret(attributeSecrets(attr.Nested.Attributes))))
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

func nestedSecret(nesting schema.Nesting, elem *Secret) *Secret {
	if elem != nil && (nesting == schema.List || nesting == schema.Set || nesting == schema.Map) {
		return &Secret{Elems: elem}
	}
	return elem
}
