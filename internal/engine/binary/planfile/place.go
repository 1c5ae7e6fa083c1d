// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/binary/valueschema"
)

// place is the facts about a value before it is decoded: its type, and its sensitive parts, by the
// schema and by the file.
type place struct {
	ty     cty.Type // [cty.NilType] or [cty.DynamicPseudoType] if it is not known
	secret *valueschema.Secret
	paths  []cty.Path // to sensitive parts
}

// isSensitive reports whether the value as a whole is sensitive.
func (p place) isSensitive() bool {
	if p.secret != nil && p.secret.Whole {
		return true
	}
	for _, path := range p.paths {
		if len(path) == 0 {
			return true
		}
	}
	return false
}

// attr returns the place of an attribute, or of an element of a map, of a type.
func (p place) attr(name string, ty cty.Type) place {
	inner := place{ty: ty, secret: p.secret.Attr(name)}
	for _, path := range p.paths {
		if selects(path[0], name) {
			inner.paths = append(inner.paths, path[1:])
		}
	}
	return inner
}

// elem returns the place of an element of a list, a tuple or a set.
func (p place) elem(i int) place {
	inner := place{ty: sequenceElementType(p.ty, i), secret: p.secret.Elem()}
	for _, path := range p.paths {
		if found, _ := selectsIndex(path[0], i); found {
			inner.paths = append(inner.paths, path[1:])
		}
	}
	return inner
}

// hidesAll reports whether a list, a tuple or a set with paths into it is sensitive as a whole. The
// elements of a set can't be told apart, so that is so if anything in it is sensitive; and so it is
// for a list if one can't tell which element is meant.
func (p place) hidesAll() bool {
	if isKnownType(p.ty) && p.ty.IsSetType() {
		return len(p.paths) > 0
	}
	for _, path := range p.paths {
		if _, ok := selectsIndex(path[0], 0); !ok {
			return true
		}
	}
	return false
}

func isKnownType(ty cty.Type) bool { return ty != cty.NilType && ty != cty.DynamicPseudoType }

func sequenceElementType(ty cty.Type, i int) cty.Type {
	switch {
	case ty == cty.NilType:
	case ty.IsListType(), ty.IsSetType():
		return ty.ElementType()
	case ty.IsTupleType() && i < ty.Length():
		return ty.TupleElementType(i)
	}
	return cty.NilType
}

// attributeTypes returns the types of the attributes of an object, or else the one of all elements
// of a map.
func attributeTypes(ty cty.Type) (attrs map[string]cty.Type, elem cty.Type) {
	switch {
	case ty == cty.NilType:
	case ty.IsObjectType():
		return ty.AttributeTypes(), cty.NilType
	case ty.IsMapType():
		return nil, ty.ElementType()
	}
	return nil, cty.NilType
}
