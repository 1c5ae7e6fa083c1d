// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package builtin_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/builtin"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

func obj(attrs map[string]cty.Value) cty.Value { return cty.ObjectVal(attrs) }

// The wanted results are those of terraform 1.11.4, too.
func TestFunctions(t *testing.T) {
	one, unknown := cty.NumberIntVal(1), cty.UnknownVal(cty.String)
	text := func(v string) cty.Value { return cty.StringVal(v) }
	begins := func(prefix string) cty.Value {
		return cty.UnknownVal(cty.String).Refine().NotNull().StringPrefixFull(prefix).NewValue()
	}
	tests := map[string]struct {
		function  string
		arg, want cty.Value
	}{
		"text": {"encode_expr", text("a\n\"b\" ${x} %{y} \t\\ é"), text(`"a\n\"b\" $${x} %%{y} \t\\ é"`)},
		"number": {
			"encode_expr",
			cty.MustParseNumberVal("123456789012345678901234567890.5"),
			text("123456789012345678901234567890.5"),
		},
		"bool":         {"encode_expr", cty.True, text("true")},
		"empty tuple":  {"encode_expr", cty.EmptyTupleVal, text("[]")},
		"empty object": {"encode_expr", cty.EmptyObjectVal, text("{}")},
		"tuple":        {"encode_expr", cty.TupleVal([]cty.Value{one, a, null}), text(`[1, "a", null]`)},
		"set":          {"encode_expr", cty.SetVal([]cty.Value{b, a}), text(`["a", "b"]`)},
		"nested": {
			"encode_expr",
			cty.ListVal([]cty.Value{obj(map[string]cty.Value{"a": one, "b": obj(map[string]cty.Value{"c": text("d")})})}),
			text("[{\n  a = 1\n  b = {\n    c = \"d\"\n  }\n}]"),
		},
		"map": {
			"encode_expr",
			cty.MapVal(map[string]cty.Value{"a b": a, "c": a, "1a": a, "null": a, "for": a}),
			text("{\n  \"1a\"  = \"a\"\n  \"a b\" = \"a\"\n  c     = \"a\"\n  for   = \"a\"\n  null  = \"a\"\n}"),
		},
		"unknown":           {"encode_expr", unknown, cty.UnknownVal(cty.String).RefineNotNull()},
		"unknown text":      {"encode_expr", prefixed, begins(`"`)},
		"unknown in tuple":  {"encode_expr", cty.TupleVal([]cty.Value{unknown}), begins("[")},
		"unknown in object": {"encode_expr", obj(map[string]cty.Value{"a": unknown}), begins("{")},
		"variables": {
			"encode_tfvars",
			obj(map[string]cty.Value{"zz": one, "a": text("x\ny"), "d": obj(map[string]cty.Value{"e": null})}),
			text("a = \"x\\ny\"\nd = {\n  e = null\n}\nzz = 1\n"),
		},
		"variables of a map": {"encode_tfvars", cty.MapVal(map[string]cty.Value{"zz": one, "a": one}), text("a  = 1\nzz = 1\n")},
		"no variables":       {"encode_tfvars", cty.EmptyObjectVal, text("")},
		"odd names":          {"encode_tfvars", obj(map[string]cty.Value{"a-b": one, "é": one}), text("a-b = 1\né   = 1\n")},
		"unknown variable":   {"encode_tfvars", obj(map[string]cty.Value{"a": unknown}), cty.UnknownVal(cty.String).RefineNotNull()},
		"decoded": {"decode_tfvars", text("a = 1\nb = \"x\"\nc=[1,{d=true}]\ne = 0 + 1\nf = null"), obj(map[string]cty.Value{
			"a": one,
			"b": text("x"),
			"c": cty.TupleVal([]cty.Value{one, obj(map[string]cty.Value{"d": cty.True})}),
			"e": one,
			"f": null,
		})},
		"nothing":           {"decode_tfvars", text(""), cty.EmptyObjectVal},
		"a text over lines": {"decode_tfvars", text("a = <<EOT\nfoo\nEOT\n"), obj(map[string]cty.Value{"a": text("foo\n")})},
	}
	p := builtin.New(builtin.Options{})
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := p.CallFunction(t.Context(), test.function, []cty.Value{test.arg})
			if err != nil || !got.RawEquals(test.want) {
				t.Errorf("%s(%#v): got %#v, error %v, want %#v", test.function, test.arg, got, err, test.want)
			}
		})
	}
}

func TestFunctionErrors(t *testing.T) {
	tests := map[string]struct {
		function, want string
		arg            cty.Value
	}{
		"a list":       {"encode_tfvars", "not an object", cty.ListVal([]cty.Value{a})},
		"a text":       {"encode_tfvars", "not an object", a},
		"a name":       {"encode_tfvars", `"a b" cannot be the name`, obj(map[string]cty.Value{"a b": a})},
		"a number":     {"encode_tfvars", `"1" cannot be the name`, obj(map[string]cty.Value{"1": a})},
		"a reference":  {"decode_tfvars", "Variables", cty.StringVal("a = var.b")},
		"a function":   {"decode_tfvars", "Function", cty.StringVal("a = upper(\"x\")")},
		"a block":      {"decode_tfvars", "block", cty.StringVal("a {}")},
		"twice":        {"decode_tfvars", "redefined", cty.StringVal("a = 1\na = 2")},
		"JSON":         {"decode_tfvars", "not valid", cty.StringVal(`{"a": 1}`)},
		"deep nesting": {"decode_tfvars", "not valid", cty.StringVal("a = " + strings.Repeat("[", 100_000))},
	}
	p := builtin.New(builtin.Options{})
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := p.CallFunction(t.Context(), test.function, []cty.Value{test.arg})
			if failure, ok := errors.AsType[*engine.FunctionError](err); !ok || failure.Problem != "" || !strings.Contains(failure.Said, test.want) {
				t.Errorf("%s(%#v): got %#v, error %v, want %q", test.function, test.arg, got, err, test.want)
			}
		})
	}
	if _, err := p.CallFunction(t.Context(), "none", nil); err == nil {
		t.Error("calling what there is not: no error")
	}
}
