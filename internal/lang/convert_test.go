// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/marks"
)

func TestConvert(t *testing.T) {
	scope := &hcl.EvalContext{Functions: Functions(Options{}), Variables: map[string]cty.Value{
		"secret": cty.StringVal("1").Mark(marks.Sensitive), "unknown": cty.DynamicVal,
	}}
	for _, test := range []struct{ call, want string }{
		{`convert("1", number)`, `1`},
		{`core::convert(true, string)`, `"true"`},
		{`convert([1, "x"], list(any))`, `tolist(["1", "x"])`},
		{`convert(["b", "a", "b"], set(any))`, `toset(["a", "b"])`},
		{`convert({ a = 1, zz = 2 }, object({ a = string }))`, `{ a = "1" }`},
		{`convert({ a = "x" }, object({ a = string, b = optional(number, 7) }))`, `{ a = "x", b = 7 }`},
		{`convert({ a = {} }, map(object({ p = optional(string, "dd") })))`, `tomap({ a = { p = "dd" } })`},
		{`convert([1, true], tuple([string, any]))`, `["1", true]`},
		{`convert({ a = 1 }, any)`, `{ a = 1 }`},
		{`convert(null, string)`, `tostring(null)`},
		{`convert(secret, number)`, `sensitive(1)`},
		{`try(convert("x", number), "no")`, `"no"`},
		{`can(convert(unknown, object({ a = string })).b)`, `false`},
	} {
		if got, want := evaluateValue(t, scope, test.call), evaluateValue(t, scope, test.want); !got.RawEquals(want) {
			t.Errorf("%s = %#v, want %#v", test.call, got, want)
		}
	}
	if got := evaluateValue(t, scope, `convert(unknown, list(number))`); got.Type() != cty.List(cty.Number) || got.IsKnown() {
		t.Errorf("conversion of an unknown value: %#v", got)
	}
}

func TestConvertErrors(t *testing.T) {
	scope := &hcl.EvalContext{Functions: Functions(Options{}), Variables: map[string]cty.Value{"local": cty.EmptyObjectVal}}
	for _, test := range []struct {
		call, summary string
		column        int
	}{
		{`convert("x", number)`, "Invalid function argument", 10},
		{`convert("x", "string")`, "Invalid type specification", 14},
		{`convert("x", local.t)`, "Invalid type specification", 14},
		{`convert([], list)`, "Invalid type specification", 13},
		{`convert("x", optional(string))`, "Invalid type specification", 14},
		{`convert("x")`, "Not enough function arguments", 12},
		{`string`, "Unknown variable", 1},
	} {
		_, diags := parseExpression(t, test.call).Value(scope)
		if len(diags) != 1 || diags[0].Summary != test.summary || diags[0].Subject.Start.Column != test.column {
			t.Errorf("%s: %v, want %q at column %d", test.call, diags, test.summary, test.column)
		}
	}
}
