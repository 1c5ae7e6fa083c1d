// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package hclsource

import "github.com/zclconf/go-cty/cty"

// Text returns a string, a number or a boolean as it is written on a command line. It is not ok for
// anything else, for null, and for unknown values.
func Text(value cty.Value) (text string, ok bool) {
	if value == cty.NilVal || value.IsNull() || !value.IsKnown() {
		return "", false
	}
	switch value.Type() {
	case cty.String:
		return value.AsString(), true
	case cty.Number:
		return value.AsBigFloat().Text('f', -1), true
	case cty.Bool:
		if value.True() {
			return "true", true
		}
		return "false", true
	}
	return "", false
}
