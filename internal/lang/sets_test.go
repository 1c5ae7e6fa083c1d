// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"testing"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Sets are combined quickly as the functions of the library combine them, whatever the elements
// are.
func TestSetOperations(t *testing.T) {
	text, number := cty.StringVal("x"), cty.NumberIntVal(1)
	collections := map[string]cty.Value{
		"empty":          cty.EmptyTupleVal,
		"texts":          cty.TupleVal([]cty.Value{text, cty.StringVal("1"), text}),
		"numbers":        cty.TupleVal([]cty.Value{number, cty.NumberIntVal(2)}),
		"mixed":          cty.TupleVal([]cty.Value{number, text}),
		"booleans":       cty.TupleVal([]cty.Value{cty.True}),
		"at odds":        cty.TupleVal([]cty.Value{number, cty.True}),
		"null":           cty.TupleVal([]cty.Value{cty.NullVal(cty.DynamicPseudoType), text}),
		"null text":      cty.TupleVal([]cty.Value{cty.NullVal(cty.String)}),
		"unknown":        cty.TupleVal([]cty.Value{cty.UnknownVal(cty.String), text}),
		"secret":         cty.TupleVal([]cty.Value{text.Mark(marks.Sensitive)}),
		"set":            cty.SetVal([]cty.Value{text, cty.StringVal("y")}),
		"set of numbers": cty.SetVal([]cty.Value{number}),
		"no texts":       cty.SetValEmpty(cty.String),
		"nothing":        cty.SetValEmpty(cty.DynamicPseudoType),
		"unknown in set": cty.SetVal([]cty.Value{cty.UnknownVal(cty.String)}),
		"secret set":     cty.SetVal([]cty.Value{text}).Mark(marks.Sensitive),
		"list":           cty.ListVal([]cty.Value{text}),
		"nested":         cty.TupleVal([]cty.Value{cty.ListVal([]cty.Value{text})}),
		"tuples":         cty.TupleVal([]cty.Value{cty.TupleVal([]cty.Value{text})}),
		"object":         cty.EmptyObjectVal,
		"whole null":     cty.NullVal(cty.Set(cty.String)),
		"whole unknown":  cty.UnknownVal(cty.Set(cty.String)),
		"anything":       cty.DynamicVal,
	}
	functions := Functions(Options{PureOnly: true})
	for name, library := range map[string]function.Function{
		"setunion": stdlib.SetUnionFunc, "setintersection": stdlib.SetIntersectionFunc, "setsubtract": stdlib.SetSubtractFunc,
	} {
		library = linearly(settled(library, true))
		check := func(args ...cty.Value) {
			t.Helper()
			want, wantErr := library.Call(args)
			got, err := functions[name].Call(args)
			if (err != nil) != (wantErr != nil) || err == nil && !got.RawEquals(want) {
				t.Errorf("%s%#v: got %#v, %v, want %#v, %v", name, args, got, err, want, wantErr)
			}
		}
		for _, first := range collections {
			for _, second := range collections {
				check(first, second)
				if name != "setsubtract" {
					check(first, second, collections["texts"])
				}
			}
			if name != "setsubtract" {
				check(first)
			}
		}
	}
}
