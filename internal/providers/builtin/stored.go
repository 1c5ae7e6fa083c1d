// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package builtin

import (
	"encoding/json"

	"github.com/zclconf/go-cty/cty"
)

// usualData reads a stored object of dataObject whose attributes are strings or null, as those of
// most are. Objects with types to read are left to the library, at ten times the cost: it reports
// false for them. Objects of terraform before 1.16 have no block store.
func usualData(text []byte) (cty.Value, bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil {
		return cty.NilVal, false
	}
	if _, later := members["store"]; !later && members != nil {
		members["store"] = json.RawMessage("null")
	}
	if len(members) != len(dataObject.AttributeTypes()) {
		return cty.NilVal, false
	}
	values := make(map[string]cty.Value, len(members))
	for name, member := range members {
		if !dataObject.HasAttribute(name) {
			return cty.NilVal, false
		}
		value, ok := usualAttribute(member, dataObject.AttributeType(name))
		if !ok {
			return cty.NilVal, false
		}
		values[name] = value
	}
	return cty.ObjectVal(values), true
}

func usualAttribute(member json.RawMessage, ty cty.Type) (cty.Value, bool) {
	if string(member) == "null" {
		return cty.NullVal(ty), true
	}
	text := member
	if ty == cty.DynamicPseudoType {
		var typed map[string]json.RawMessage
		if json.Unmarshal(member, &typed) != nil || len(typed) != 2 || string(typed["type"]) != `"string"` {
			return cty.NilVal, false
		}
		text = typed["value"]
	}
	if len(text) == 0 || text[0] != '"' {
		return cty.NilVal, false
	}
	var s string
	if json.Unmarshal(text, &s) != nil {
		return cty.NilVal, false
	}
	return cty.StringVal(s), true
}
