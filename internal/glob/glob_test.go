// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package glob

import (
	"regexp"
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	for pattern, paths := range map[string]struct{ match, differ string }{
		"a/b.tf":           {"a/b.tf", "a/b.tfx x/a/b.tf a/bxtf"},
		"a/*.tf":           {"a/b.tf a/.tf", "a/b/c.tf b.tf"},
		"**/*.tf":          {"b.tf a/b.tf a/b/c.tf", "a/b.tfvars"},
		"a/**":             {"a/b a/b/c", "a b/a/b ab/c"},
		"**":               {"a a/b", ""},
		"*":                {"a .b", "a/b"},
		"a/*":              {"a/b", "a a/b/c b/b"},
		"*/b":              {"a/b", "b a/a/b a/bb"},
		"a/**/c":           {"a/c a/b/c a/b/b/c", "a/bc ac"},
		"a**/b":            {"a/b ax/b", "a/x/b"},
		"a/?.tf":           {"a/b.tf", "a/.tf a/bb.tf"},
		"[ab-d]x":          {"ax cx", "ex x"},
		"a[!b]c":           {"axc", "abc a/c"},
		"a/{b,c}/*.{tf,x}": {"a/b/m.tf a/c/m.x", "a/d/m.tf a/b/m.y"},
		`a\*b`:             {"a*b", "axb"},
		"a.(b":             {"a.(b", "ax(b"},
		"a,b}*":            {"a,b}c", "a"},
	} {
		p, err := Compile(pattern)
		if err != nil {
			t.Errorf("%s: %s", pattern, err)
			continue
		}
		for path := range strings.FieldsSeq(paths.match) {
			if !p.Match(path) {
				t.Errorf("%s does not match %s", pattern, path)
			}
		}
		for path := range strings.FieldsSeq(paths.differ) {
			if p.Match(path) {
				t.Errorf("%s matches %s", pattern, path)
			}
		}
	}
}

func TestCompileErrors(t *testing.T) {
	for _, pattern := range []string{"a[", "a[]", "a[!]", "{a", `a\`, "[z-a]"} {
		if p, err := Compile(pattern); err == nil {
			t.Errorf("%s is taken as %s", pattern, p.matcher)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, seed := range []string{"a/**/*.tf", "[!a-b]{c,d}", `\*`, "a/b/*.tf", "a/**", "**", "*", "*c.tf", "a/b/**", "a/*f*", "a**"} {
		f.Add(seed, "a/b/c.tf")
	}
	f.Fuzz(func(t *testing.T, pattern, path string) {
		p, err := Compile(pattern)
		if err == nil && !HasMeta(pattern) && p.Match(path) != (pattern == path) {
			t.Errorf("plain %q and %q", pattern, path)
		}
		if err == nil && p.Match(path) && !strings.HasPrefix(path, p.Prefix()) {
			t.Errorf("%q matches %q, which does not begin with %q", pattern, path, p.Prefix())
		}
		if expr, translateErr := translate(pattern); err == nil && translateErr == nil {
			if matcher, regexpErr := regexp.Compile(`^(?s:` + expr + `)$`); regexpErr == nil && matcher.MatchString(path) != p.Match(path) {
				t.Errorf("%q and %q: the regular expression %s says otherwise", pattern, path, matcher)
			}
		}
	})
}
