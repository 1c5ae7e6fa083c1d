// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Arguments at which the functions of the libraries panic: each is an error in words, or has a
// value.
func TestArgumentsThatFunctionsDoNotCheck(t *testing.T) {
	for source, want := range map[string]string{
		`pow(-1, 0.5)`:                                           "a negative number has a power only with a whole exponent",
		`log(-1, 2)`:                                             "a negative number has no logarithm",
		`log(2, -1)`:                                             "the base of a logarithm cannot be negative",
		`log(1, 1)`:                                              "no logarithm of this base",
		`cidrhost("fd00::/8", pow(2, 130))`:                      "a prefix of 8 bits has no host of that number",
		`cidrhost("10.0.0.1/32", pow(2, 63))`:                    "a prefix of 32 bits has no host of that number",
		`cidrsubnet("10.0.0.0/8", 8, pow(2, 64))`:                "8 bits are not enough for that number of a subnet",
		`cidrsubnet("10.0.0.0/8", 8, 0 - pow(2, 200))`:           "8 bits are not enough for that number of a subnet",
		`indent(-1, "a")`:                                        "cannot be negative",
		`merge(null, "x")`:                                       "need maps or objects, not string",
		`merge(null, [1])`:                                       "need maps or objects, not tuple",
		`merge(sensitive(null), ["a"])`:                          "need maps or objects, not tuple",
		`zipmap([null, null], tolist(["a", "b"]))`:               "a key is null",
		`setunion([[1], [2]], [null])`:                           "",
		`setunion([[1], ["a"]], [{ a = null }, [null]])`:         "must have the same type",
		`setsubtract([null, null], [[], []])`:                    "",
		`setintersection([[1]], [null])`:                         "",
		`setproduct([null, "a"], [[], null])`:                    "",
		`concat(tolist([toset([])]), tolist([tolist([])]), [1])`: "",
		`concat(tolist([toset([1])]), tolist([tolist([])]))`:     "",
	} {
		_, diags := parseExpression(t, source).Value(&hcl.EvalContext{Functions: Functions(Options{})})
		switch {
		case want == "" && diags.HasErrors():
			t.Errorf("%s fails with: %s", source, diags)
		case want != "" && !diags.HasErrors():
			t.Errorf("%s has a value, want the error %q", source, want)
		case want != "" && (!strings.Contains(diags[0].Detail, want) || strings.Contains(diags[0].Detail, panicText)):
			t.Errorf("%s: got message %q, want one with %q", source, diags[0].Detail, want)
		}
	}
}

// A search for null has an answer, as soon as it is known which elements are null.
func TestContainsNull(t *testing.T) {
	scope := &hcl.EvalContext{Functions: Functions(Options{}), Variables: map[string]cty.Value{
		"unknown": cty.UnknownVal(cty.String),
		"some":    cty.UnknownVal(cty.String).RefineNotNull(),
		"list":    cty.UnknownVal(cty.List(cty.String)),
		"hidden":  cty.StringVal("x").Mark(marks.Sensitive),
	}}
	unknown := cty.UnknownVal(cty.Bool).RefineNotNull()
	for source, want := range map[string]cty.Value{
		`contains(["a", null], null)`:                cty.True,
		`contains(["a"], null)`:                      cty.False,
		`contains([], null)`:                         cty.False,
		`contains(toset(["a", null]), null)`:         cty.True,
		`contains(["a", unknown], null)`:             unknown,
		`contains([unknown, null], null)`:            cty.True,
		`contains(["a", some], null)`:                cty.False,
		`contains(list, tostring(null))`:             unknown,
		`contains([hidden], null)`:                   cty.False.Mark(marks.Sensitive),
		`contains(["a", null], "a")`:                 cty.True,
		`contains(["a", null], "b")`:                 cty.False,
		`contains(["a", null], sensitive(null))`:     cty.True.Mark(marks.Sensitive),
		`try(contains(null, null), "fails")`:         cty.StringVal("fails"),
		`try(contains({ a = null }, null), "fails")`: cty.StringVal("fails"),
	} {
		if got := evaluateValue(t, scope, source); !got.RawEquals(want) {
			t.Errorf("%s: got %#v, want %#v", source, got, want)
		}
	}
}

// A function that panics all the same is a bug of ours, and says no more: its stack is of no use to
// users, and the panic may quote a secret.
func TestPanicIsReportedAsBug(t *testing.T) {
	bad := function.New(&function.Spec{
		Params: []function.Parameter{{Name: "value", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl:   func(args []cty.Value, _ cty.Type) (cty.Value, error) { panic(args[0].AsString()) },
	})
	table := With(Functions(Options{}), map[string]function.Function{"bad": bad})
	table = With(table, renderers(Options{}, templateFunctions{table: func() map[string]function.Function { return table }}))
	scope := &hcl.EvalContext{Functions: table, Variables: map[string]cty.Value{"template": cty.StringVal("${bad(x)}")}}
	for _, source := range []string{
		`bad("s3cr3t")`,
		`"x-${bad("s3cr3t")}"`,
		`templatestring(template, { x = "s3cr3t" })`,
		`[for x in ["s3cr3t"] : bad(x)]`,
	} {
		expr := parseExpression(t, source)
		_, diags := expr.Value(scope)
		diags = WithholdSecrets(diags, expr.Variables(), scope)
		if !diags.HasErrors() {
			t.Errorf("%s has a value", source)
			continue
		}
		if detail := diags[0].Detail; !strings.HasSuffix(detail, "This is a bug in cairn; please report it.") ||
			strings.Contains(detail, "s3cr3t") || strings.Contains(detail, "goroutine") {
			t.Errorf("%s: %s", source, detail)
		}
	}
}
