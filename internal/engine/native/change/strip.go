// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package change

import (
	"bytes"
	"encoding/json"

	"github.com/zclconf/go-cty/cty"
)

// StripUnknownAttributes returns a stored object without the attributes that a type does not have,
// which an older version of the provider had. It goes into lists, sets, maps and objects, but
// neither into tuples nor into dynamically typed values. Parts that it does not understand stay,
// for the provider to refuse them.
func StripUnknownAttributes(stored []byte, ty cty.Type) []byte {
	stripped, _ := strip(stored, ty)
	return stripped
}

// strip returns the value without unknown attributes, and whether there were any.
func strip(stored []byte, ty cty.Type) ([]byte, bool) {
	switch {
	case !hasObjects(ty):
		return stored, false
	case ty.IsObjectType():
		types := ty.AttributeTypes()
		return stripObject(stored, func(name string) (cty.Type, bool) {
			inner, ok := types[name]
			return inner, ok
		})
	case ty.IsMapType():
		return stripObject(stored, func(string) (cty.Type, bool) { return ty.ElementType(), true })
	default:
		return stripArray(stored, ty.ElementType())
	}
}

// hasObjects reports whether there are objects to look at in values of a type.
func hasObjects(ty cty.Type) bool {
	for ty.IsCollectionType() {
		ty = ty.ElementType()
	}
	return ty.IsObjectType()
}

func stripObject(stored []byte, typeOf func(name string) (cty.Type, bool)) ([]byte, bool) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(stored, &members); err != nil {
		return stored, false
	}
	var changed bool
	for name, member := range members {
		ty, ok := typeOf(name)
		if !ok {
			delete(members, name)
			changed = true
			continue
		}
		if stripped, ok := strip(member, ty); ok {
			members[name] = stripped
			changed = true
		}
	}
	return encoded(stored, members, changed)
}

func stripArray(stored []byte, element cty.Type) ([]byte, bool) {
	var members []json.RawMessage
	if err := json.Unmarshal(stored, &members); err != nil {
		return stored, false
	}
	var changed bool
	for i, member := range members {
		if stripped, ok := strip(member, element); ok {
			members[i] = stripped
			changed = true
		}
	}
	return encoded(stored, members, changed)
}

// encoded returns the members if they were changed, without escapes that were not there.
func encoded(stored []byte, members any, changed bool) ([]byte, bool) {
	if !changed {
		return stored, false
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(members); err != nil {
		return stored, false
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), true
}
