// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package body_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/body"
	"github.com/cairnstacks/cairn/internal/providers/builtin"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// parse returns the body of a file, in JSON if it starts with a brace.
func parse(t testing.TB, text string) hcl.Body {
	t.Helper()
	if strings.HasPrefix(text, "{") {
		file, diags := json.Parse([]byte(text), "main.tf.json")
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		return file.Body
	}
	file, diags := hclsyntax.ParseConfig([]byte(text), "main.tf", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return file.Body
}

// scope has values of all kinds.
var scope = &hcl.EvalContext{Variables: map[string]cty.Value{
	"unknown":   cty.DynamicVal,
	"text":      cty.UnknownVal(cty.String),
	"list":      cty.ListVal([]cty.Value{cty.StringVal("a"), cty.StringVal("b")}),
	"set":       cty.SetVal([]cty.Value{cty.StringVal("a"), cty.StringVal("b")}),
	"map":       cty.MapVal(map[string]cty.Value{"x": cty.StringVal("a"), "y": cty.StringVal("b")}),
	"none":      cty.ListValEmpty(cty.String),
	"partly":    cty.ListVal([]cty.Value{cty.StringVal("a"), cty.UnknownVal(cty.String)}),
	"unlisted":  cty.UnknownVal(cty.List(cty.String)),
	"secret":    cty.StringVal("s").Mark(marks.Sensitive),
	"secrets":   cty.ListVal([]cty.Value{cty.StringVal("s").Mark(marks.Sensitive)}),
	"hidden":    cty.ListVal([]cty.Value{cty.StringVal("s")}).Mark(marks.Sensitive),
	"ephemeral": cty.StringVal("e").Mark(marks.Ephemeral),
	"passing":   cty.ListVal([]cty.Value{cty.StringVal("e")}).Mark(marks.Ephemeral),
}}

// decoding is a body and its result: the value of one of its parts, or an error as "summary at
// range: detail".
type decoding struct {
	text string
	part string
	want string
	errs []string
}

func testDecode(t *testing.T, block *schema.Block, tests map[string]decoding) {
	t.Helper()
	decoder := body.NewDecoder(block)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, diags := decoder.Decode(t.Context(), parse(t, test.text), scope)
			if diff := cmp.Diff(test.errs, describe(diags)); diff != "" {
				t.Errorf("Decode(%s) has other diagnostics: %s", test.text, diff)
			}
			bare, _ := got.UnmarkDeep()
			if errs := bare.Type().TestConformance(block.Type()); len(errs) > 0 {
				t.Errorf("Decode(%s) = %#v, which is of another type: %v", test.text, got, errs)
			}
			if test.part == "" {
				return
			}
			if got := fmt.Sprintf("%#v", got.GetAttr(test.part)); got != test.want {
				t.Errorf("%s of Decode(%s)\n got %s\nwant %s", test.part, test.text, got, test.want)
			}
		})
	}
}

func describe(diags hcl.Diagnostics) []string {
	var all []string
	for _, diag := range diags {
		subject := diag.Subject
		all = append(all, fmt.Sprintf("%s at %d:%d-%d:%d: %s", diag.Summary, subject.Start.Line, subject.Start.Column, subject.End.Line,
			subject.End.Column, diag.Detail))
	}
	slices.Sort(all)
	return all
}

func TestDecodeFlat(t *testing.T) {
	testDecode(t, builtin.Schema().Managed["terraform_data"].Block, map[string]decoding{
		"empty":    {text: ``, part: "input", want: `cty.NullVal(cty.DynamicPseudoType)`},
		"computed": {text: ``, part: "id", want: `cty.NullVal(cty.String)`},
		"number":   {text: `input = 1`, part: "input", want: `cty.NumberIntVal(1)`},
		"unknown":  {text: `input = unknown`, part: "input", want: `cty.DynamicVal`},
		"object": {
			text: `input = { a = [1, text] }`,
			part: "input",
			want: `cty.ObjectVal(map[string]cty.Value{"a":cty.TupleVal([]cty.Value{cty.NumberIntVal(1), cty.UnknownVal(cty.String)})})`,
		},
		"secret": {text: `input = [secret]`, part: "input", want: `cty.TupleVal([]cty.Value{cty.StringVal("s").Mark(marks.Sensitive)})`},
		"JSON": {
			text: `{"input": ["${secret}"]}`,
			part: "input",
			want: `cty.TupleVal([]cty.Value{cty.StringVal("s").Mark(marks.Sensitive)})`,
		},
		"unsupported": {
			text: `inputs = 1`,
			errs: []string{`Unsupported argument at 1:1-1:7: An argument named "inputs" is not expected here. Did you mean "input"?`},
		},
		"failing": {
			text: `input = list[5]`, part: "input", want: `cty.DynamicVal`,
			errs: []string{`Invalid index at 1:13-1:16: The given key does not identify an element in this collection value.`},
		},
	})
}
