// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package safehcl_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/bounds"
	"github.com/cairnstacks/cairn/internal/safehcl"
)

func TestParseConfig(t *testing.T) {
	repeat := strings.Repeat
	const deep, many = safehcl.MaxDepth, safehcl.MaxOperators
	for name, test := range map[string]struct{ src, want string }{
		"brackets":                  {"a = " + repeat("[", deep) + repeat("]", deep), ""},
		"brackets, one too many":    {"a = " + repeat("[", deep+1) + repeat("]", deep+1), "Nesting too deep"},
		"brackets, not closed":      {"a = " + repeat("[", 1<<16), "Nesting too deep"},
		"parentheses":               {"a = " + repeat("(", 1<<16), "Nesting too deep"},
		"calls":                     {"a = " + repeat("f(", 1<<16), "Nesting too deep"},
		"objects":                   {"a = " + repeat("{x=", 1<<16), "Nesting too deep"},
		"blocks":                    {repeat("a {\n", deep) + repeat("}\n", deep), ""},
		"blocks, too many":          {repeat("a {\n", 1<<16), "Nesting too deep"},
		"templates":                 {"a = " + repeat("\"${", 1<<16), "Nesting too deep"},
		"template directives":       {"a = \"" + repeat("%{if true}${\"", 1<<16), "Nesting too deep"},
		"directives":                {"a = \"" + repeat("%{if x}", deep) + repeat("%{endif}", deep) + "\"\n", ""},
		"directives, too many":      {"a = \"" + repeat("%{~ for x in y}", 1<<14) + repeat("%{endfor}", 1<<14) + "\"\n", "Nesting too deep"},
		"directives, not closed":    {"a = \"" + repeat("%{if x}", 1<<14) + "\"\n", "Nesting too deep"},
		"directives side by side":   {"a = \"" + repeat("%{if x}y%{else}z%{endif}", 1000) + "\"\n", ""},
		"heredocs":                  {"a = " + repeat("<<E\n${", 1<<16), "Nesting too deep"},
		"for expressions":           {"a = " + repeat("[for x in ", 1<<16), "Nesting too deep"},
		"side by side":              {"a = [" + repeat("[[x]],", 2_000) + "]\n", ""},
		"blocks side by side":       {repeat("a {\n b = 1\n}\n", 2_000), ""},
		"unary operators":           {"a = " + repeat("!", many) + "true\n", ""},
		"unary operators, too many": {"a = " + repeat("-", 1<<16) + "1\n", "Expression too long"},
		"operators in brackets":     {"a = " + repeat(repeat("!", many/100)+"(", 150) + "true" + repeat(")", 150) + "\n", "Expression too long"},
		"operators in a list":       {"a = 1 + f(" + repeat("!x,", many) + "x)\n", ""},
		"operators in objects":      {"a = -f({\n" + repeat("x = 1+1\n", many) + "})\n", ""},
		"binary operators":          {"a = 1" + repeat("+1", 1<<16) + "\n", "Expression too long"},
		"over lines in brackets":    {"a = (1" + repeat("+\n1", 1<<16) + ")\n", "Expression too long"},
		"conditions":                {"a = " + repeat("x ? ", 1<<16), "Expression too long"},
		"indexes":                   {"a = x" + repeat("[y]", 1<<16), "Expression too long"},
		"operators in many lines":   {repeat("x {\n a = 1+1+1\n}\n", 2000), ""},
		"operators between commas":  {"a = [" + repeat("1+1,", 2000) + "]\n", ""},
		"a long string":             {"a = \"" + repeat("x", 1<<16) + "\"\n", ""},
		"digits":                    {"a = " + repeat("9", safehcl.MaxDigits) + "\n", ""},
		"digits, too many":          {"a = " + repeat("9", 1<<16) + "\n", "Number too long"},
		"digits behind the point":   {"a = 1." + repeat("9", 1<<16) + "\n", "Number too long"},
		"digits around the point":   {"a = " + repeat("9", 600) + "." + repeat("9", 600) + "\n", "Number too long"},
		"digits in a text":          {"a = \"" + repeat("9", 1<<16) + "\"\n", ""},
		"closed without being open": {repeat(")", 1000), "Argument or block definition required"},
	} {
		t.Run(name, func(t *testing.T) {
			file, diags := safehcl.ParseConfig([]byte(test.src), "f.hcl", hcl.InitialPos)
			if got := summary(diags); got != test.want || got == "" && file == nil {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestParseJSON(t *testing.T) {
	repeat := strings.Repeat
	const deep = safehcl.MaxDepth
	for name, test := range map[string]struct{ src, want string }{
		"deep":                {`{"a": ` + repeat("[", deep-1) + repeat("]", deep-1) + "}", ""},
		"too deep":            {`{"a": ` + repeat("[", 1<<16), "Nesting too deep"},
		"objects":             {repeat(`{"a":`, 1<<16), "Nesting too deep"},
		"side by side":        {`{"a": [` + repeat("[],", 1000) + "[]]}", ""},
		"brackets in text":    {`{"a": "` + repeat("[{", 1000) + `"}`, ""},
		"quotes in text":      {`{"a": "\"` + repeat("[", 1000) + `"}`, ""},
		"backslash at end":    {`{"a": "\\"}`, ""},
		"digits":              {`{"a": ` + repeat("9", safehcl.MaxDigits) + "}", ""},
		"too many digits":     {`{"a": ` + repeat("9", 1<<16) + "}", "Number too long"},
		"digits in text":      {`{"a": "` + repeat("9", 1<<16) + `"}`, ""},
		"template":            {`{"a": "${` + repeat("[", 1<<16) + `"}`, "Nesting too deep"},
		"template in a key":   {`{"${` + repeat("(", 1<<16) + `": 1}`, "Nesting too deep"},
		"template, escaped":   {`{"a": "\u0024\u007b` + repeat("(", 1<<16) + `"}`, "Nesting too deep"},
		"directives":          {`{"a": "` + repeat("%{if x}", 1<<16) + `"}`, "Nesting too deep"},
		"operators":           {`{"a": "${` + repeat("!", 1<<16) + `true}"}`, "Expression too long"},
		"end of line in text": {"{\"a\": \"\n" + repeat("[", 1<<16), "Nesting too deep"},
		"text that is open":   {`{"a": "` + repeat("[", 1000), "Invalid JSON string"},
	} {
		t.Run(name, func(t *testing.T) {
			_, diags := safehcl.ParseJSON([]byte(test.src), "f.json")
			if got := summary(diags); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestJSONIsBounded checks that strings in JSON keep the rules of evaluation wherever they stand.
func TestJSONIsBounded(t *testing.T) {
	numbers := make([]cty.Value, 2048)
	for i := range numbers {
		numbers[i] = cty.NumberIntVal(int64(i))
	}
	scope := &hcl.EvalContext{Variables: map[string]cty.Value{"n": cty.TupleVal(numbers), "x": cty.StringVal("1e60000")}}
	const loops = `%{for a in n}%{for b in n}%{for c in n}%{endfor}%{endfor}%{endfor}`
	for name, test := range map[string]struct{ src, want string }{
		"string":    {`{"v": "` + loops + `"}`, "Evaluation takes too long"},
		"escaped":   {`{"v": "` + strings.ReplaceAll(loops, "for", `f\u006fr`) + `"}`, "Evaluation takes too long"},
		"in a list": {`{"v": ["a", ["` + loops + `"]]}`, "Evaluation takes too long"},
		"in a map":  {`{"v": {"a": {"b": "` + loops + `"}}}`, "Evaluation takes too long"},
		"key":       {`{"v": {"` + loops + `": 1}}`, "Evaluation takes too long"},
		"number":    {`{"v": "${-x}"}`, "Operation failed"},
		"few":       {`{"v": ["%{for a in n}%{endfor}", {"${x}": "${1 + 1}"}, null, 1, "$${"]}`, ""},
		"mistake":   {`{"v": ["${missing + 1}"]}`, "Unknown variable"},
	} {
		t.Run(name, func(t *testing.T) {
			file, diags := safehcl.ParseJSON([]byte(test.src), "f.json")
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			attributes, diags := file.Body.JustAttributes()
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			value, diags := bounds.Evaluate(t.Context(), attributes["v"].Expr, scope, bounds.NewAllowance(time.Hour))
			if got := summary(diags); got != test.want {
				t.Errorf("got %q, want %q: %v", got, test.want, diags)
			}
			const want = `cty.TupleVal([]cty.Value{cty.StringVal(""), cty.ObjectVal(map[string]cty.Value{"1e60000":cty.NumberIntVal(2)}), ` +
				`cty.NullVal(cty.DynamicPseudoType), cty.NumberIntVal(1), cty.StringVal("${")})`
			if got := value.GoString(); test.want == "" && got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// TestBoundedJSONIsStatic checks that the static forms of JSON stay.
func TestBoundedJSONIsStatic(t *testing.T) {
	file, diags := safehcl.ParseJSON([]byte(`{"b": {"list": ["a.b"], "map": {"k": "c"}, "call": "f(1)"}}`), "f.json")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	content, _, diags := file.Body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "b"}}})
	if diags.HasErrors() || len(content.Blocks) != 1 {
		t.Fatal(content, diags)
	}
	attributes, diags := content.Blocks[0].Body.JustAttributes()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	elements, diags := hcl.ExprList(attributes["list"].Expr)
	if diags.HasErrors() || len(elements) != 1 {
		t.Fatal(elements, diags)
	}
	if traversal, diags := hcl.AbsTraversalForExpr(elements[0]); diags.HasErrors() || len(traversal) != 2 {
		t.Error(traversal, diags)
	}
	pairs, diags := hcl.ExprMap(attributes["map"].Expr)
	if diags.HasErrors() || len(pairs) != 1 || hcl.ExprAsKeyword(pairs[0].Value) != "c" {
		t.Error(pairs, diags)
	}
	if call, diags := hcl.ExprCall(attributes["call"].Expr); diags.HasErrors() || call.Name != "f" {
		t.Error(call, diags)
	}
	if _, diags := hcl.ExprList(attributes["map"].Expr); !diags.HasErrors() {
		t.Error("a map is a list")
	}
}

// summary is that of the first error.
func summary(diags hcl.Diagnostics) string {
	if !diags.HasErrors() {
		return ""
	}
	return diags[0].Summary
}

func TestParseExpression(t *testing.T) {
	deep := strings.Repeat("[", 100_000)
	for name, test := range map[string]struct {
		parse func([]byte, string, hcl.Pos) (hclsyntax.Expression, hcl.Diagnostics)
		src   string
	}{
		"expression": {safehcl.ParseExpression, "\n" + deep},
		"template":   {safehcl.ParseTemplate, "\n${" + deep},
	} {
		t.Run(name, func(t *testing.T) {
			expr, diags := test.parse([]byte(test.src), "f.hcl", hcl.Pos{Line: 3, Column: 1})
			if expr == nil || summary(diags) != "Nesting too deep" || diags[0].Subject.Filename != "f.hcl" || diags[0].Subject.Start.Line != 4 {
				t.Errorf("got %v, want an error at f.hcl:4", diags)
			}
			shallow := strings.Replace(test.src, deep, strings.Repeat("[", 90)+strings.Repeat("]", 90), 1) + map[string]string{"template": "}"}[name]
			if expr, diags := test.parse([]byte(shallow), "f.hcl", hcl.InitialPos); expr == nil || diags.HasErrors() {
				t.Errorf("90 levels: %v", diags)
			}
		})
	}
}

// TestPlaces checks that errors say where in a file of JSON the nesting is.
func TestPlaces(t *testing.T) {
	for name, src := range map[string]string{
		"brackets": "{\n \"a\": " + strings.Repeat("[", 100_000),
		"template": "{\n \"a\": \"\\u0024{" + strings.Repeat("[", 100_000) + "}\"}",
		"digits":   "{\n \"a\": " + strings.Repeat("9", 100_000) + "}",
	} {
		_, diags := safehcl.ParseJSON([]byte(src), "f.json")
		if !diags.HasErrors() || diags[0].Subject.Filename != "f.json" || diags[0].Subject.Start.Line != 2 {
			t.Errorf("%s: got %v, want an error at f.json:2", name, diags)
		}
	}
}
