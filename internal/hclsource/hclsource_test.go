// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package hclsource_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/internal/hclsource"
)

func TestParse(t *testing.T) {
	repeat := strings.Repeat
	const deep, many = hclsource.MaxDepth, hclsource.MaxOperators
	for name, test := range map[string]struct{ src, want string }{
		"brackets":                  {"a = " + repeat("[", deep) + repeat("]", deep), ""},
		"brackets, one too many":    {"a = " + repeat("[", deep+1) + repeat("]", deep+1), "File too complicated"},
		"brackets, not closed":      {"a = " + repeat("[", 1<<16), "File too complicated"},
		"parentheses":               {"a = " + repeat("(", 1<<16), "File too complicated"},
		"calls":                     {"a = " + repeat("f(", 1<<16), "File too complicated"},
		"objects":                   {"a = " + repeat("{x=", 1<<16), "File too complicated"},
		"blocks":                    {repeat("a {\n", deep) + repeat("}\n", deep), ""},
		"blocks, too many":          {repeat("a {\n", 1<<16), "File too complicated"},
		"templates":                 {"a = " + repeat("\"${", 1<<16), "File too complicated"},
		"template directives":       {"a = \"" + repeat("%{if true}${\"", 1<<16), "File too complicated"},
		"directives":                {"a = \"" + repeat("%{if x}", deep) + repeat("%{endif}", deep) + "\"\n", ""},
		"directives, too many":      {"a = \"" + repeat("%{~ for x in y}", 1<<14) + repeat("%{endfor}", 1<<14) + "\"\n", "File too complicated"},
		"directives, not closed":    {"a = \"" + repeat("%{if x}", 1<<14) + "\"\n", "File too complicated"},
		"directives side by side":   {"a = \"" + repeat("%{if x}y%{else}z%{endif}", 1000) + "\"\n", ""},
		"heredocs":                  {"a = " + repeat("<<E\n${", 1<<16), "File too complicated"},
		"for expressions":           {"a = " + repeat("[for x in ", 1<<16), "File too complicated"},
		"side by side":              {"a = [" + repeat("[[x]],", 2_000) + "]\n", ""},
		"blocks side by side":       {repeat("a {\n b = 1\n}\n", 2_000), ""},
		"unary operators":           {"a = " + repeat("!", many) + "true\n", ""},
		"unary operators, too many": {"a = " + repeat("-", 1<<16) + "1\n", "File too complicated"},
		"binary operators":          {"a = 1" + repeat("+1", 1<<16) + "\n", "File too complicated"},
		"over lines in brackets":    {"a = (1" + repeat("+\n1", 1<<16) + ")\n", "File too complicated"},
		"conditions":                {"a = " + repeat("x ? ", 1<<16), "File too complicated"},
		"indexes":                   {"a = x" + repeat("[y]", 1<<16), "File too complicated"},
		"operators in many lines":   {repeat("x {\n a = 1+1+1\n}\n", 2000), ""},
		"operators between commas":  {"a = [" + repeat("1+1,", 2000) + "]\n", ""},
		"a long string":             {"a = \"" + repeat("x", 1<<16) + "\"\n", ""},
		"too large":                 {repeat("#", hclsource.MaxSize+1), "File too large"},
		"too many words":            {strings.Repeat("a ", 1<<20), "File too complicated"},
		"too many signs":            {strings.Repeat("!", 1<<20), "File too complicated"},
		"digits":                    {"a = " + repeat("9", hclsource.MaxDigits) + "\n", ""},
		"digits, too many":          {"a = " + repeat("9", 1<<16) + "\n", "File too complicated"},
		"digits behind the point":   {"a = 1." + repeat("9", 1<<16) + "\n", "File too complicated"},
		"digits around the point":   {"a = " + repeat("9", 600) + "." + repeat("9", 600) + "\n", "File too complicated"},
		"digits in a text":          {"a = \"" + repeat("9", 1<<16) + "\"\n", ""},
		"closed without being open": {repeat(")", 1000), "Argument or block definition required"},
	} {
		t.Run(name, func(t *testing.T) {
			file, diags := hclsource.Parse([]byte(test.src), "f.hcl")
			got := ""
			if diags.HasErrors() {
				got = diags[0].Summary
			}
			if got != test.want || got == "" && file == nil {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestParseJSON(t *testing.T) {
	repeat := strings.Repeat
	const deep = hclsource.MaxDepth
	for name, test := range map[string]struct{ src, want string }{
		"deep":               {`{"a": ` + repeat("[", deep-1) + repeat("]", deep-1) + "}", ""},
		"too deep":           {`{"a": ` + repeat("[", 1<<16), "File too complicated"},
		"objects":            {repeat(`{"a":`, 1<<16), "File too complicated"},
		"side by side":       {`{"a": [` + repeat("[],", 1000) + "[]]}", ""},
		"brackets in text":   {`{"a": "` + repeat("[{", 1000) + `"}`, ""},
		"quotes in text":     {`{"a": "\"` + repeat("[", 1000) + `"}`, ""},
		"backslash at end":   {`{"a": "\\"}`, ""},
		"digits":             {`{"a": ` + repeat("9", hclsource.MaxDigits) + "}", ""},
		"too many digits":    {`{"a": ` + repeat("9", 1<<16) + "}", "File too complicated"},
		"digits in text":     {`{"a": "` + repeat("9", 1<<16) + `"}`, ""},
		"text that is open":  {`{"a": "` + repeat("[", 1000), "Invalid JSON string"},
		"larger than it may": {repeat(" ", hclsource.MaxSize+1), "File too large"},
	} {
		t.Run(name, func(t *testing.T) {
			_, diags := hclsource.ParseJSON([]byte(test.src), "f.json")
			got := ""
			if diags.HasErrors() {
				got = diags[0].Summary
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// FuzzParse checks that whatever is accepted is what the parser makes of it, and that places are in the file.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"a = [1, (2 + 3) * -4]\nb {\n c = \"${d ? \"x\" : y[0]}\"\n}\n", "a = <<E\n%{if x}${y}%{endif}\nE\n", "}{)(", "a = !!!!true"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		file, diags := hclsource.Parse(src, "f.hcl")
		for _, diag := range diags {
			if diag.Subject != nil && diag.Subject.Start.Byte > len(src) {
				t.Errorf("%v is not in the file", diag.Subject)
			}
		}
		_, want := hclsyntax.ParseConfig(src, "f.hcl", hcl.InitialPos)
		if file != nil && diags.HasErrors() != want.HasErrors() {
			t.Errorf("errors %v, and of the parser %v", diags, want)
		}
	})
}
