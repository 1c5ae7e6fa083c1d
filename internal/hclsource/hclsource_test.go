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
	for name, test := range map[string]struct{ src, want string }{
		"nested":              {"a = " + repeat("[", 1<<16), "Nesting too deep"},
		"blocks side by side": {repeat("a {\n b = 1\n}\n", 2_000), ""},
		"too large":           {repeat("#", hclsource.MaxSize+1), "File too large"},
		"too many words":      {repeat("a ", 1<<20), "File too complicated"},
		"too many signs":      {repeat("!", 1<<20), "File too complicated"},
	} {
		t.Run(name, func(t *testing.T) {
			file, diags := hclsource.Parse([]byte(test.src), "f.hcl")
			if got := summary(diags); got != test.want || got == "" && file == nil {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestParseJSON(t *testing.T) {
	for name, test := range map[string]struct{ src, want string }{
		"small":     {`{"a": [1]}`, ""},
		"nested":    {`{"a": ` + strings.Repeat("[", 1<<16), "Nesting too deep"},
		"too large": {strings.Repeat(" ", hclsource.MaxSize+1), "File too large"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, diags := hclsource.ParseJSON([]byte(test.src), "f.json"); summary(diags) != test.want {
				t.Errorf("got %v, want %q", diags, test.want)
			}
		})
	}
}

// summary is that of the first error.
func summary(diags hcl.Diagnostics) string {
	if !diags.HasErrors() {
		return ""
	}
	return diags[0].Summary
}

// FuzzParse checks that a file is accepted only if the parser accepts it, and that places are in
// the file.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"a = [1, (2 + 3) * -4]\nb {\n c = \"${d ? \"x\" : y[0]}\"\n}\n", "a = <<E\n%{if x}${y}%{endif}\nE\n", "}{)(",
		"a = !!!!true",
	} {
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
