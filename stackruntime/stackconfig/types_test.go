// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"strconv"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	hcljson "github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"
)

func TestParseType(t *testing.T) {
	t.Parallel()
	object := cty.Object(map[string]cty.Type{"a": cty.String, "b": cty.List(cty.Number)})
	for text, want := range map[string]cty.Type{
		`string`:            cty.String,
		`set(map(bool))`:    cty.Set(cty.Map(cty.Bool)),
		`tuple([string])`:   cty.Tuple([]cty.Type{cty.String}),
		`any`:               cty.NilType,
		`strin`:             cty.NilType,
		`providerconfig(a)`: cty.NilType,
		`3`:                 cty.NilType,
		`object({ a = optional(string, "x"), b = list(number) })`: object,
	} {
		native, diags := hclsyntax.ParseExpression([]byte(text), "f.tfvars", hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		inJSON, diags := hcljson.ParseExpression([]byte(strconv.Quote(text)), "f.json")
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		for syntax, expr := range map[string]hcl.Expression{"native": native, "JSON": inJSON} {
			got, diags := ParseType(expr)
			switch {
			case want == cty.NilType:
				if len(diags) != 1 || diags[0].Subject == nil || diags[0].Subject.Filename != expr.Range().Filename {
					t.Errorf("%s in %s: %v, want one error with its place", text, syntax, diags)
				}
			case diags.HasErrors() || !got.WithoutOptional().Equals(want):
				t.Errorf("%s in %s: %#v, %v, want %#v", text, syntax, got.Constraint, diags, want)
			}
		}
	}
}
