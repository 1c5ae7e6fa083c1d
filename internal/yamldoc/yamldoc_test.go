// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package yamldoc

import (
	"fmt"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 [x]\n")
	for i := range 20 {
		fmt.Fprintf(&bomb, "a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 10), ","))
	}
	tests := map[string]struct {
		src, want string // the summary and place of the error
	}{
		"list":             {"- a\n- b\n", ""},
		"empty":            {"", ""},
		"alias":            {"a: &x [1]\nb: *x\n", ""},
		"syntax":           {"a: b: c\n", "Invalid YAML at f.yaml:1"},
		"bomb":             {bomb.String(), "Too many YAML aliases at f.yaml:6"},
		"endless":          {"a: &x [*x]\n", "Recursive YAML alias at f.yaml:1"},
		"large":            {strings.Repeat("#", maxSize+1), "File too large at f.yaml:0"},
		"two documents":    {"a: 1\n---\nb: 2\n", "Several YAML documents at f.yaml:2"},
		"unfinished":       {"a: [1\n", "Invalid YAML at f.yaml:1"},
		"unknown anchor":   {"a: *x\n", "Invalid YAML at f.yaml:1"},
		"end of documents": {"a: 1\n...\n", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, diags := Parse("f.yaml", []byte(test.src))
			got := ""
			if diags.HasErrors() {
				got = fmt.Sprintf("%s at %s:%d", diags[0].Summary, diags[0].Subject.Filename, diags[0].Subject.Start.Line)
			}
			if got != test.want {
				t.Errorf("got %q, want %q (%v)", got, test.want, diags)
			}
		})
	}
}

func TestPairs(t *testing.T) {
	root, diags := Parse("f.yaml", []byte("a: &x 1\n? [b]\n: 2\nc: *x\na: 3\n"))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	pairs, diags := Pairs("f.yaml", root)
	var got []string
	for _, pair := range pairs {
		got = append(got, pair.Name+"="+pair.Value.Value)
	}
	for _, diag := range diags {
		got = append(got, diag.Summary)
	}
	if want := "a=1, c=1, Invalid key type, Repeated key"; strings.Join(got, ", ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("- a: &x [1, *x]\n"))
	f.Add([]byte("a: b: c"))
	f.Fuzz(func(t *testing.T, src []byte) {
		root, diags := Parse("f.yaml", src)
		if root != nil && diags.HasErrors() {
			t.Error("content and errors")
		}
	})
}

func TestTabs(t *testing.T) {
	for src, want := range map[string]string{
		"a:\n\tb: 1\n":   "The line begins with a tab; YAML is indented with spaces only.",
		"a:\n  \tb: [\n": "The line begins with a tab",
		"a: [\n":         "",
	} {
		_, diags := Parse("f.yaml", []byte(src))
		if len(diags) != 1 || !strings.Contains(diags[0].Detail, want) || want == "" && strings.Contains(diags[0].Detail, "tab") {
			t.Errorf("%q: got %v, want %q in it", src, diags, want)
		}
	}
}
