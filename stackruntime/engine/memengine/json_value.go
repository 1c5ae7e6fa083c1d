// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package memengine

import (
	"encoding/json"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// jsonValue returns a value as terraform's JSON plans show it: what is unknown
// is left out of objects and maps and null elsewhere.
func jsonValue(v cty.Value) any {
	v, _ = v.Unmark()
	ty := v.Type()
	switch {
	case !v.IsKnown() || v.IsNull():
		return nil
	case ty == cty.String:
		return v.AsString()
	case ty == cty.Bool:
		return v.True()
	case ty == cty.Number:
		return json.Number(v.AsBigFloat().Text('f', -1))
	case ty.IsObjectType() || ty.IsMapType():
		members := map[string]any{}
		for name, part := range v.AsValueMap() {
			if part.IsKnown() {
				members[name] = jsonValue(part)
			}
		}
		return members
	case v.CanIterateElements():
		elements := []any{}
		for _, part := range v.AsValueSlice() {
			elements = append(elements, jsonValue(part))
		}
		return elements
	default:
		return nil
	}
}

// jsonUnknown tells where a value is unknown, in the structure of the value.
func jsonUnknown(v cty.Value) any {
	return jsonFlags(v, func(part cty.Value) (flag, whole bool) {
		return !part.IsKnown(), !part.IsKnown() || part.IsNull()
	})
}

// jsonSensitive tells where a value is sensitive, in the structure of the value.
func jsonSensitive(v cty.Value) any {
	return jsonFlags(v, func(part cty.Value) (flag, whole bool) {
		if marks.Has(part, marks.Sensitive) {
			return true, true
		}
		return false, part.IsNull()
	})
}

// jsonFlags builds a structure of flags. check says whether the flag of a part
// is set, and whether that is the answer for all of the part. In objects, what
// has no flag is left out.
func jsonFlags(v cty.Value, check func(cty.Value) (flag, whole bool)) any {
	flag, whole := check(v)
	if whole {
		return flag
	}
	v, _ = v.Unmark()
	ty := v.Type()
	isKnown := v.IsKnown()
	switch {
	case ty.IsObjectType() || ty.IsMapType():
		members := map[string]any{}
		if !isKnown {
			return members
		}
		for name, part := range v.AsValueMap() {
			if flags := jsonFlags(part, check); flags != false {
				members[name] = flags
			}
		}
		return members
	case ty.IsTupleType() || ty.IsCollectionType():
		elements := []any{}
		if !isKnown {
			return elements
		}
		for _, part := range v.AsValueSlice() {
			elements = append(elements, jsonFlags(part, check))
		}
		return elements
	default:
		return flag
	}
}
