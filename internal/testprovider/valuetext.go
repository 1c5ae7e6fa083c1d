// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testprovider

import (
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// valueText returns a value for people to read, with a question mark for unknown parts. Of objects
// it has the attributes that are not null.
func valueText(v cty.Value) string {
	switch ty := v.Type(); {
	case !v.IsKnown():
		return "?"
	case v.IsNull():
		return "null"
	case ty == cty.String:
		return fmt.Sprintf("%q", v.AsString())
	case ty == cty.Number:
		return v.AsBigFloat().Text('f', -1)
	case ty == cty.Bool:
		return fmt.Sprint(v.True())
	case ty.IsObjectType() || ty.IsMapType():
		var parts []string
		for it := v.ElementIterator(); it.Next(); {
			key, element := it.Element()
			if ty.IsMapType() || !element.IsKnown() || !element.IsNull() {
				parts = append(parts, key.AsString()+" = "+valueText(element))
			}
		}
		return "{" + strings.Join(parts, ", ") + "}"
	default:
		var parts []string
		for it := v.ElementIterator(); it.Next(); {
			_, element := it.Element()
			parts = append(parts, valueText(element))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
}
