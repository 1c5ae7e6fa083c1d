// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package document

import (
	"encoding/json"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/cairnstacks/cairn/internal/document/terraformjson"
)

// unknownTree is [terraformjson.Unknown] without the parts in which all is known: objects have the
// attributes only that are not known wholly, and it is false where all is known.
func unknownTree(v cty.Value) any {
	if v == cty.NilVal {
		return false
	}
	return compact(terraformjson.Unknown(v))
}

// sensitiveTree is like [unknownTree], true where a value is sensitive.
func sensitiveTree(v cty.Value) any {
	if v == cty.NilVal {
		return false
	}
	return compact(terraformjson.Sensitive(v))
}

// compact makes false of objects and lists in which nothing is true.
func compact(flags any) any {
	found := false
	switch flags := flags.(type) {
	case map[string]any:
		for name, part := range flags {
			if flags[name] = compact(part); flags[name] == false {
				delete(flags, name)
			}
		}
		found = len(flags) > 0
	case []any:
		for i, part := range flags {
			flags[i] = compact(part)
			found = found || flags[i] != false
		}
	default:
		return flags
	}
	if !found {
		return false
	}
	return flags
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
