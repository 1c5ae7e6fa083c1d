// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package hclsource_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/internal/hclsource"
)

func TestConstant(t *testing.T) {
	const loop = "[for x in [1, 2] : x]"
	nested := strings.Repeat("[for x in [1,1,1,1,1,1,1,1,1,1] : ", 50) + "x" + strings.Repeat("]", 50)
	templates := `"` + strings.Repeat("%{ for x in [1,1,1,1,1,1,1,1,1,1] }", 50) + strings.Repeat("%{ endfor }", 50) + `"`
	for name, test := range map[string]struct {
		src, want string // the value, or a part of the error
	}{
		"text":                  {`"a"`, `cty.StringVal("a")`},
		"text of several lines": {"<<E\na\nb\nE\n", `cty.StringVal("a\nb\n")`},
		"text of texts":         {`"a${"b"}${"${1}"}"`, `cty.StringVal("ab1")`},
		"number":                {"-1.5", "cty.NumberFloatVal(-1.5)"},
		"boolean":               {"!(true)", "cty.False"},
		"list":                  {`["a", null]`, `cty.TupleVal([]cty.Value{cty.StringVal("a"), cty.NullVal(cty.DynamicPseudoType)})`},
		"object": {
			`{ a = 1, ("b") = 2 }`, `cty.ObjectVal(map[string]cty.Value{"a":cty.NumberIntVal(1), "b":cty.NumberIntVal(2)})`,
		},
		"variable":                {"a.b", "Variables not allowed"},
		"call":                    {"f(1)", "Function calls not allowed"},
		"loop in a call":          {"f(" + loop + ")", "Not a constant"},
		"loop":                    {loop, "Not a constant"},
		"loop in a list":          {"[" + loop + "]", "Not a constant"},
		"loop in an object":       {"{ a = " + loop + " }", "Not a constant"},
		"loop in a key":           {"{ (" + loop + ") = 1 }", "Not a constant"},
		"loop in a text":          {`"a${` + loop + `}"`, "Not a constant"},
		"loop in nothing but":     {`"${` + loop + `}"`, "Not a constant"},
		"loop behind an operator": {"!" + loop, "Not a constant"},
		"loop with an index":      {loop + "[0]", "Not a constant"},
		"loop with a splat":       {loop + "[*]", "Not a constant"},
		"loops in loops":          {nested, "Not a constant"},
		"loops of texts":          {templates, "Not a constant"},
		"object of a loop":        {"{ for x in [1] : x => x }", "Not a constant"},
		"condition":               {"true ? 1 : 2", "Not a constant"},
		"product":                 {"2 * 3", "Not a constant"},
		"largest number":          {"1e1000", "cty.NumberIntVal(1e+1000)"},
		"larger number":           {"1e2000", "Not a constant"},
		"huge number as a text":   {`"${1e17000}"`, "Not a constant"},
		"huge number, negative":   {"-1e17000", "Not a constant"},
		"smallest number":         {"1e-2000", "Not a constant"},
		"zero":                    {"0", "cty.NumberIntVal(0)"},
	} {
		t.Run(name, func(t *testing.T) {
			file, diags := hclsource.Parse([]byte("a = "+test.src+"\n"), "f.hcl")
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			value, diags := hclsource.Constant(file.Body.(*hclsyntax.Body).Attributes["a"].Expr)
			got := value.GoString()
			if diags.HasErrors() {
				got = diags[0].Summary
			}
			if !strings.HasPrefix(got, test.want) {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
