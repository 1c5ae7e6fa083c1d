// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package engine

import (
	"errors"
	"testing"

	"github.com/zclconf/go-cty/cty"
)

func TestCheckRefines(t *testing.T) {
	str := cty.StringVal
	list := func(v ...cty.Value) cty.Value { return cty.ListVal(v) }
	unknown := cty.UnknownVal(cty.String)
	tests := map[string]struct {
		planned, final cty.Value
		want           bool
	}{
		"same":                  {str("a"), str("a"), true},
		"other":                 {str("a"), str("b"), false},
		"unknown":               {unknown, str("b"), true},
		"unknown becomes null":  {unknown, cty.NullVal(cty.String), true},
		"not null becomes null": {unknown.RefineNotNull(), cty.NullVal(cty.String), false},
		"prefix":                {unknown.Refine().NotNull().StringPrefixFull("ab").NewValue(), str("abc"), true},
		"other prefix":          {unknown.Refine().NotNull().StringPrefixFull("ab").NewValue(), str("bc"), false},
		"element":               {list(str("a"), unknown), list(str("a"), str("b")), true},
		"known element":         {list(str("a"), unknown), list(str("x"), str("b")), false},
		"length":                {list(unknown), list(str("a"), str("b")), false},
		"null for a list":       {list(unknown), cty.NullVal(cty.List(cty.String)), false},
		"map keys": {
			cty.MapVal(map[string]cty.Value{"a": unknown}), cty.MapVal(map[string]cty.Value{"b": str("x")}), false,
		},
		"set": {
			cty.SetVal([]cty.Value{str("a"), unknown}), cty.SetVal([]cty.Value{str("a"), str("b")}), true,
		},
		"set with another known element": {
			cty.SetVal([]cty.Value{str("a"), unknown}), cty.SetVal([]cty.Value{str("b"), str("c")}), false,
		},
		"set whose unknown element is the known one": {
			cty.SetVal([]cty.Value{str("a"), unknown}), cty.SetVal([]cty.Value{str("a")}), true,
		},
		"set with more elements": {
			cty.SetVal([]cty.Value{str("a"), unknown}), cty.SetVal([]cty.Value{str("a"), str("b"), str("c")}), false,
		},
		"sensitive": {str("a").Mark("sensitive"), str("a"), true},
		"dynamic":   {cty.DynamicVal, list(str("a")), true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if err := CheckRefines(test.planned, test.final); (err == nil) != test.want {
				t.Errorf("CheckRefines(%#v, %#v) = %v, want it to be fine: %v", test.planned, test.final, err, test.want)
			}
		})
	}
}

func TestCheckRefinesNamesThePlace(t *testing.T) {
	unknown := cty.UnknownVal(cty.String)
	planned := cty.ObjectVal(map[string]cty.Value{"m": cty.MapVal(map[string]cty.Value{"k": cty.StringVal("a"), "l": unknown})})
	final := cty.ObjectVal(map[string]cty.Value{"m": cty.MapVal(map[string]cty.Value{"k": cty.StringVal("b"), "l": cty.StringVal("c")})})
	err, ok := errors.AsType[cty.PathError](CheckRefines(planned, final))
	if want := cty.GetAttrPath("m").IndexString("k"); !ok || !err.Path.Equals(want) {
		t.Errorf("CheckRefines: %#v, want an error at %#v", err, want)
	}
}
