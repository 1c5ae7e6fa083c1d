// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package diagnostic

import (
	"testing"

	"github.com/zclconf/go-cty/cty"
)

// A value that is unknown while validating may be known in the plan, so nothing is said about
// apply.
func TestUnknownStatement(t *testing.T) {
	for want, ty := range map[string]cty.Type{
		"is not known yet":                         cty.DynamicPseudoType,
		"is a set of string that is not known yet": cty.Set(cty.String),
		"is an object that is not known yet":       cty.Object(map[string]cty.Type{"a": cty.Bool}),
		"is a tuple that is not known yet":         cty.Tuple([]cty.Type{cty.Bool}),
	} {
		if got := statement(cty.UnknownVal(ty)); got != want {
			t.Errorf("an unknown %s: got %q, want %q", ty.FriendlyName(), got, want)
		}
	}
}
