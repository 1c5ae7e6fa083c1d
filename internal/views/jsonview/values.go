// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package jsonview

import (
	"encoding/json"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Tree returns a value as it stands in JSON. An unknown or ephemeral value is left out of objects,
// and null elsewhere. Sensitive values are in clear.
func Tree(v cty.Value) any {
	tree, _ := treeOf(v)
	return tree
}

// treeOf also reports whether there is a value to show.
func treeOf(v cty.Value) (any, bool) {
	if v == cty.NilVal || marks.Has(v, marks.Ephemeral) {
		return nil, false
	}
	v, _ = v.Unmark()
	ty := v.Type()
	switch {
	case !v.IsKnown():
		return nil, false
	case v.IsNull():
		return nil, true
	case ty == cty.Bool:
		return v.True(), true
	case ty == cty.String:
		return v.AsString(), true
	case ty == cty.Number:
		return json.Number(v.AsBigFloat().Text('f', -1)), true
	case ty.IsObjectType(), ty.IsMapType():
		parts := map[string]any{}
		for name, part := range v.AsValueMap() {
			if tree, ok := treeOf(part); ok {
				parts[name] = tree
			}
		}
		return parts, true
	case ty.IsListType(), ty.IsSetType(), ty.IsTupleType():
		elements := []any{}
		for _, element := range v.AsValueSlice() {
			elements = append(elements, Tree(element))
		}
		return elements, true
	}
	return nil, false // a capsule, such as a provider reference
}

// UnknownTree returns true where a value is not known, in a tree parallel to
// that of the value: objects have the attributes only that are not known
// wholly, lists all their elements. It is false where all is known.
func UnknownTree(v cty.Value) any {
	if v == cty.NilVal {
		return false
	}
	return flagTree(v, func(v cty.Value) bool { return !v.IsKnown() })
}

// SensitiveTree is like [UnknownTree], true where a value is sensitive.
func SensitiveTree(v cty.Value) any {
	if v == cty.NilVal {
		return false
	}
	return flagTree(v, func(v cty.Value) bool {
		return v.IsMarked() && !marks.Has(v, marks.Ephemeral) || marks.Has(v, marks.Sensitive)
	})
}

func flagTree(v cty.Value, flagged func(cty.Value) bool) any {
	if flagged(v) {
		return true
	}
	v, _ = v.Unmark()
	ty := v.Type()
	if !v.IsKnown() || v.IsNull() {
		return false
	}
	found := false
	switch {
	case ty.IsObjectType(), ty.IsMapType():
		parts := map[string]any{}
		for name, part := range v.AsValueMap() {
			if tree := flagTree(part, flagged); tree != false {
				parts[name], found = tree, true
			}
		}
		if found {
			return parts
		}
	case ty.IsListType(), ty.IsSetType(), ty.IsTupleType():
		var elements []any
		for _, element := range v.AsValueSlice() {
			tree := flagTree(element, flagged)
			elements, found = append(elements, tree), found || tree != false
		}
		if found {
			return elements
		}
	}
	return false
}

// typeJSON returns a type in the notation of Terraform's JSON output.
func typeJSON(v cty.Value) json.RawMessage {
	ty := cty.DynamicPseudoType
	if v != cty.NilVal {
		ty = v.Type()
	}
	encoded, err := ctyjson.MarshalType(ty)
	if err != nil {
		return json.RawMessage(`"dynamic"`) // a capsule somewhere in it
	}
	return encoded
}
