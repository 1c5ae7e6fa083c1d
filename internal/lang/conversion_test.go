// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"fmt"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/cairnstacks/cairn/internal/bounds"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// The quick conversion has the same result as package convert, whatever the elements are.
func TestConversionsOfOneType(t *testing.T) {
	elements := map[string]cty.Value{
		"text": cty.StringVal("x"), "number": cty.NumberIntVal(1), "null": cty.NullVal(cty.DynamicPseudoType),
		"null text": cty.NullVal(cty.String),
		"unknown":   cty.DynamicVal, "unknown text": cty.UnknownVal(cty.String),
		"secret": cty.StringVal("x").Mark(marks.Sensitive), "empty": cty.EmptyTupleVal,
		"object": cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("x")}),
		"nested": cty.TupleVal([]cty.Value{cty.StringVal("x"), cty.NumberIntVal(1)}),
		"list":   cty.ListVal([]cty.Value{cty.StringVal("x")}), "any list": cty.ListValEmpty(cty.DynamicPseudoType),
	}
	functions := Functions(Options{PureOnly: true})
	for name, first := range elements {
		for other, second := range elements {
			for function, want := range map[string]cty.Type{
				"tolist": cty.List(cty.DynamicPseudoType), "toset": cty.Set(cty.DynamicPseudoType), "tomap": cty.Map(cty.DynamicPseudoType),
			} {
				for _, value := range []cty.Value{
					cty.TupleVal([]cty.Value{first, second}),
					cty.ObjectVal(map[string]cty.Value{"a": first, "b": second}), cty.TupleVal([]cty.Value{first}),
				} {
					expected, expectedErr := convert.Convert(value, want)
					got, err := functions[function].Call([]cty.Value{value})
					if (err != nil) != (expectedErr != nil) || err == nil && !got.RawEquals(expected) {
						t.Errorf("%s of %s and %s: %#v, %v, want %#v, %v", function, name, other, got, err, expected, expectedErr)
					}
				}
			}
		}
	}
}

// BenchmarkConversion shows that an element costs the same however many there are.
func BenchmarkConversion(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000, 100_000} {
		elements := make([]cty.Value, n)
		for i := range elements {
			elements[i] = cty.StringVal(fmt.Sprint("k", i))
		}
		scope := &hcl.EvalContext{
			Functions: Functions(Options{PureOnly: true}), Variables: map[string]cty.Value{"names": cty.TupleVal(elements)},
		}
		for _, source := range []string{
			`toset(names)`, `tolist(names)`, `tomap({ for n in names : n => n })`, `distinct(names)`, `join(",", names)`, `concat(names, [1])`,
			`setunion(names, [1])`, `setsubtract(names, ["k1"])`, `setintersection(names, names)`, `toset(concat(names, [1]))`,
		} {
			expr := parseExpression(b, source)
			b.Run(fmt.Sprintf("%s/%d", source, n), func(b *testing.B) {
				for b.Loop() {
					if _, diags := bounds.Evaluate(b.Context(), expr, scope, nil); diags.HasErrors() {
						b.Fatal(diags)
					}
				}
			})
		}
	}
}
