// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package compile

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/states/slstest"
)

func loadTop(id, archive string) (*High, string) {
	high, diags := LoadTop(slstest.Tree(archive), id, LoadOptions{})
	var found []string
	for _, diag := range diags {
		at := ""
		if diag.Subject != nil {
			at = fmt.Sprintf(" %s:%d:%d", diag.Subject.Filename, diag.Subject.Start.Line, diag.Subject.Start.Column)
		}
		found = append(found, fmt.Sprintf("%s%s %s", problem.CodeOf(diag), at, diag.Summary))
	}
	return high, strings.Join(found, "; ")
}

func TestLoadTop(t *testing.T) {
	const states = "-- a.sls --\na: {m.f: []}\n-- b.sls --\ninclude: [c]\nb: {m.f: []}\n-- c/init.sls --\nc: {m.f: []}\n"
	tests := map[string]struct{ top, id, want string }{
		"patterns in their order": {"base: {'w*': [b], '*': [a], 'x*': [c]}", "web", "c b a"},
		"each file once":          {"base: {'*': [a, b], 'w*': [c, a]}", "web", "a c b"},
		"a single name":           {"base: {'w??': b}", "web", "c b"},
		"set of characters":       {"base: {'web[1-3]': a, 'web[!1-3]': b}", "web2", "a"},
		"other environments":      {"dev: {'*': [b]}\nbase: {'*': [a]}", "web", "a"},
		"list":                    {"base: {'db, web': [{match: list}, a], 'db,webs': [{match: list}, b]}", "web", "a"},
		"regular expression":      {"base: {'(db|web)\\d': [{match: pcre}, a], 'eb': [{match: pcre}, b]}", "web1.example", "a"},
		"compound": {
			"base: {'w* and not web2': [{match: compound}, a], 'E@web\\d or db': [{match: compound}, b]}", "web2", "c b",
		},
		"compound with parentheses": {
			"base: {'not ( db or L@x,web ) or mail': [{match: compound}, a], 'web and ( not db )': [{match: compound}, b]}",
			"web", "c b",
		},
		"and before or": {"base: {'web or db and db': [{match: compound}, a], 'db and db or mail': [{match: compound}, b]}", "web", "a"},
		"missing files": {"base: {'*': [none, {ignore_missing: true}, a]}", "web", "a"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			high, found := loadTop(test.id, "-- top.sls --\n"+test.top+"\n"+states)
			if got := strings.Join(high.Loaded, " "); got != test.want || found != "" {
				t.Errorf("got %s, want %s (%s)", got, test.want, found)
			}
		})
	}
	wrong := map[string]struct{ top, want string }{
		"no match":            {"base: {'db*': [a]}", "order/unknown-ref top.sls:1:1 No matching target"},
		"unknown file":        {"base:\n  '*':\n    - aa", "order/unknown-ref top.sls:3:7 Unknown SLS"},
		"name with a path":    {"base: {'*': [../a]}", "order/bad-path top.sls:1:14 Invalid SLS name"},
		"grains":              {"base: {'os:Debian': [{match: grain}, a], '*': [a]}", "order/syntax top.sls:1:30 Unsupported target"},
		"grains in compound":  {"base: {'G@os:Debian or *': [{match: compound}, a]}", "order/syntax top.sls:1:37 Unsupported target"},
		"broken compound":     {"base: {'a or': [{match: compound}, a]}", "order/syntax top.sls:1:25 Unsupported target"},
		"open parenthesis":    {"base: {'( a': [{match: compound}, a]}", "order/syntax top.sls:1:24 Unsupported target"},
		"words side by side":  {"base: {'a b': [{match: compound}, a]}", "order/syntax top.sls:1:24 Unsupported target"},
		"regular expression":  {"base: {'(': [{match: pcre}, a]}", "order/syntax top.sls:1:22 Unsupported target"},
		"unknown option":      {"base: {'*': [{mach: glob}, a]}", "order/unknown-key top.sls:1:15 Unknown target option"},
		"unknown environment": {"bass: {'*': [a]}", "order/unknown-ref top.sls:1:1 Unknown environment"},
		"list of targets":     {"base: [a]", "order/syntax top.sls:1:7 Invalid environment"},
		"empty":               {"", "order/syntax top.sls:1:1 Mapping expected"},
		"template":            {"base: {'*': [{{ x }}]}", "order/syntax top.sls:1:14 Unsupported renderer"},
		"list in a list":      {"base: {'*': [[a]]}", "order/syntax top.sls:1:14 Invalid SLS name"},
		"number of targets":   {"base: {'*': {a: b}}", "order/not-a-set top.sls:1:13 List expected"},
	}
	for name, test := range wrong {
		t.Run(name, func(t *testing.T) {
			if _, found := loadTop("web", "-- top.sls --\n"+test.top+"\n"+states); found != test.want {
				t.Errorf("got %s, want %s", found, test.want)
			}
		})
	}
	t.Run("no top file", func(t *testing.T) {
		if _, found := loadTop("web", states); found != "order/bad-path No top file" {
			t.Errorf("got %s", found)
		}
	})
}

// FuzzCompound checks that a target that is understood matches an id or does not, and that "not"
// makes it the other way round.
func FuzzCompound(f *testing.F) {
	f.Add("w* and not ( E@web\\d or L@a,b )", "web1")
	f.Add("not not a", "a") //nolint:dupword // twice the contrary
	f.Fuzz(func(t *testing.T, expression, id string) {
		matches, err := parseCompound(expression)
		if err != nil {
			return
		}
		not, err := parseCompound("not ( " + expression + " )")
		if err != nil {
			t.Fatal(err)
		}
		if matches(id) == not(id) {
			t.Errorf("%q and its contrary are the same for %q", expression, id)
		}
	})
}

// FuzzLoadTop checks that problems lie within the file, and that without errors only files are
// loaded that there are.
func FuzzLoadTop(f *testing.F) {
	f.Add("base: {'w*': [a, {match: glob}], 'E@x or L@web': [{match: compound}, {ignore_missing: true}, b]}\n")
	f.Add("base: {'*': a}\ndev: [x]\n")
	f.Fuzz(func(t *testing.T, top string) {
		files := fstest.MapFS{"top.sls": {Data: []byte(top)}, "a.sls": {Data: []byte("a: test.nop\n")}}
		high, diags := LoadTop(files, "web", LoadOptions{})
		for _, name := range high.Loaded {
			if !diags.HasErrors() && name != "a" && name != "top" {
				t.Errorf("%q was loaded", name)
			}
		}
		lines := 1
		for _, end := range []string{"\n", "\r", "\u0085", "\u2028", "\u2029"} {
			lines += strings.Count(top, end)
		}
		for _, diag := range diags {
			if diag.Subject != nil && diag.Subject.Start.Line > lines+1 {
				t.Errorf("line %d of %d: %s", diag.Subject.Start.Line, lines, diag.Detail)
			}
		}
	})
}
