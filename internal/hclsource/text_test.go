// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package hclsource

import (
	"testing"

	"github.com/zclconf/go-cty/cty"
)

func TestText(t *testing.T) {
	for want, value := range map[string]cty.Value{
		"a b":                      cty.StringVal("a b"),
		"":                         cty.StringVal(""),
		"-1.5":                     cty.MustParseNumberVal("-1.5"),
		"123456789012345678901234": cty.MustParseNumberVal("123456789012345678901234"),
		"true":                     cty.True,
		"false":                    cty.False,
	} {
		if got, ok := Text(value); !ok || got != want {
			t.Errorf("%#v: got %q, %t, want %q", value, got, ok, want)
		}
	}
	for _, value := range []cty.Value{
		cty.NilVal, cty.NullVal(cty.String), cty.UnknownVal(cty.String), cty.DynamicVal, cty.EmptyTupleVal, cty.EmptyObjectVal,
	} {
		if got, ok := Text(value); ok {
			t.Errorf("%#v: got %q, want none", value, got)
		}
	}
}
