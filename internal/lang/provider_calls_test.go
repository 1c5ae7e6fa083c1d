// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	hcljson "github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

func callNames(calls []ProviderCall) []string {
	var names []string
	for _, call := range calls {
		names = append(names, call.Name)
	}
	return names
}

func TestProviderCalls(t *testing.T) {
	for source, want := range map[string][]string{
		`upper("provider::a::b()")`:                    nil,
		`core::upper(1)`:                               nil,
		`provider::a::b(1)`:                            {"provider::a::b"},
		`try(provider::a::b(provider::c::d(x)), 1)`:    {"provider::a::b", "provider::c::d"},
		`[for x in provider::a::b() : x if f(x)]`:      {"provider::a::b"},
		`"${provider::a::b(1)} %{ if true }y%{endif}"`: {"provider::a::b"},
		`provider::broken(1)`:                          {"provider::broken"},
	} {
		if diff := cmp.Diff(want, callNames(providerCalls(parseExpression(t, source)))); diff != "" {
			t.Errorf("providerCalls(%s) (-want +got):\n%s", source, diff)
		}
	}
}

// In JSON, strings are templates, those that name attributes too.
func TestProviderCallsInJSON(t *testing.T) {
	const source = `{ "x": { "a": ["${provider::p::one(1)}", 2, "provider::p::text()"], "${provider::p::two(2)}": null } }`
	file, diags := hcljson.Parse([]byte(source), "test.json")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	attrs, diags := file.Body.JustAttributes()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	calls := providerCalls(attrs["x"].Expr)
	got := callNames(calls)
	slices.Sort(got)
	if diff := cmp.Diff([]string{"provider::p::one", "provider::p::two"}, got); diff != "" {
		t.Fatalf("calls (-want +got):\n%s", diff)
	}
	if calls[0].Range != attrs["x"].Expr.Range() {
		t.Errorf("range %s, want that of the expression, %s", calls[0].Range, attrs["x"].Expr.Range())
	}
}

func TestProviderCallParts(t *testing.T) {
	for name, want := range map[string][]string{
		"provider::a::b":    {"a", "b"},
		"provider::a":       nil,
		"provider::a::":     nil,
		"provider::::b":     nil,
		"provider::a::b::c": nil,
	} {
		localName, function, ok := ProviderCall{Name: name}.Parts()
		switch {
		case ok != (want != nil):
			t.Errorf("Parts(%q): ok is %t, want %t", name, ok, want != nil)
		case ok && (localName != want[0] || function != want[1]):
			t.Errorf("Parts(%q) = %q, %q, want %q", name, localName, function, want)
		}
	}
}

// Templates call functions of providers that the expression itself does not.
func TestProviderFunctionsInTemplates(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file.tmpl"), []byte("${provider::p::shout(word)}?"), 0o600); err != nil {
		t.Fatal(err)
	}
	table := Functions(Options{BaseDir: dir})
	find := func(call ProviderCall) (function.Function, hcl.Diagnostics) {
		if call.Name == "provider::p::shout" {
			return stdlib.UpperFunc, nil
		}
		return function.Function{}, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "No such function", Subject: call.Range.Ptr()}}
	}
	evaluate := func(source string) (cty.Value, hcl.Diagnostics) {
		e := parseExpression(t, source)
		functions, diags := ProviderFunctions([]hcl.Expression{e}, Options{BaseDir: dir}, table, find)
		if diags.HasErrors() {
			return cty.DynamicVal, diags
		}
		parent := &hcl.EvalContext{Functions: table, Variables: map[string]cty.Value{
			"good": cty.StringVal("${provider::p::shout(word)}!"),
			"bad":  cty.StringVal("${provider::p::whisper(word)}!"),
		}}
		scope := parent.NewChild()
		scope.Functions = functions
		return e.Value(scope)
	}
	for source, want := range map[string]string{
		`provider::p::shout("a")`:                          "A",
		`templatestring(good, { word = "b" })`:             "B!",
		`core::templatestring(good, { word = "b" })`:       "B!",
		`upper(templatefile("file.tmpl", { word = "c" }))`: "C?",
		`"${provider::p::shout("d")}${upper("e")}"`:        "DE",
	} {
		if got, diags := evaluate(source); diags.HasErrors() || !got.RawEquals(cty.StringVal(want)) {
			t.Errorf("%s = %#v (%v), want %q", source, got, diags, want)
		}
	}
	for source, want := range map[string]string{
		`provider::p::whisper("a")`:                                 "No such function",
		`templatestring(bad, { word = "b" })`:                       "No such function",
		`templatestring(good, { word = templatestring(good, {}) })`: "word",
	} {
		if _, diags := evaluate(source); !diags.HasErrors() || !strings.Contains(diags.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", source, diags, want)
		}
	}
	functions, _ := ProviderFunctions([]hcl.Expression{parseExpression(t, `upper("x")`)}, Options{BaseDir: dir}, table, find)
	if len(functions) != 0 {
		t.Errorf("an expression without such functions needs %d of its own", len(functions))
	}
}
