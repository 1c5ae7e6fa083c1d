// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package providerfunc_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/maintask"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/providerfunc"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

var cloud = stackaddrs.Provider{Hostname: "registry.example.com", Namespace: "example", Type: "cloud"}

// caller has one provider with the function join of two strings, the second of which may be unknown.
type caller struct {
	err   error // of finding functions
	calls int
	call  func(args []cty.Value) (cty.Value, error)
}

func (c *caller) Functions(context.Context, stackaddrs.Provider) (map[string]*engine.Function, error) {
	if c.err != nil {
		return nil, c.err
	}
	return map[string]*engine.Function{"join": {
		Parameters: []engine.FunctionParameter{{Name: "a", Type: cty.String}, {Name: "b", Type: cty.String, AllowUnknown: true}},
		Return:     cty.String,
	}}, nil
}

func (c *caller) CallFunction(_ context.Context, _ stackaddrs.Provider, _ string, args []cty.Value) (cty.Value, error) {
	c.calls++
	return c.call(args)
}

func find(t *testing.T, functions *providerfunc.Functions, name string) (function.Function, bool, hcl.Diagnostics) {
	t.Helper()
	ctx := maintask.Steady(t.Context())
	found, diags := functions.Find(ctx, cloud, lang.ProviderCall{Name: "provider::cloud::" + name})
	if found == nil {
		return function.Function{}, false, diags
	}
	return found.Function(ctx), true, diags
}

func TestCall(t *testing.T) {
	a, b, secret, unknown := cty.StringVal("a"), cty.StringVal("b"), cty.StringVal("hunter2").Mark(marks.Sensitive), cty.UnknownVal(cty.String)
	for name, test := range map[string]struct {
		args   []cty.Value
		result cty.Value
		err    error
		want   cty.Value
		says   string // in the error
		calls  int
	}{
		"known":                   {[]cty.Value{a, b}, cty.StringVal("ab"), nil, cty.StringVal("ab"), "", 1},
		"marked":                  {[]cty.Value{secret, b}, cty.StringVal("hb"), nil, cty.StringVal("hb").Mark(marks.Sensitive), "", 1},
		"unknown that may not be": {[]cty.Value{unknown, b}, cty.NilVal, nil, unknown, "", 0},
		"unknown that may be":     {[]cty.Value{a, unknown}, cty.StringVal("a?"), nil, cty.StringVal("a?"), "", 1},
		"result of another type":  {[]cty.Value{a, b}, cty.True, nil, cty.NilVal, "returned a bool and not a string", 1},
		"refused":                 {[]cty.Value{a, b}, cty.NilVal, &engine.FunctionError{Said: "b is too short.", Argument: 1}, cty.NilVal, "b is too short", 1},
		"refused with a secret":   {[]cty.Value{secret, b}, cty.NilVal, &engine.FunctionError{Said: "hunter2 is too short", Argument: 0}, cty.NilVal, "the details are hidden", 1},
		"provider configuration":  {[]cty.Value{stackconfig.ProviderRef(stackaddrs.AbsProviderConfigInstance{}), b}, cty.NilVal, nil, cty.NilVal, "string required", 0},
	} {
		engine := &caller{call: func([]cty.Value) (cty.Value, error) { return test.result, test.err }}
		f, _, diags := find(t, &providerfunc.Functions{Caller: engine}, "join")
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		got, err := f.Call(test.args)
		if (err != nil) != (test.says != "") || err == nil && !got.RawEquals(test.want) || engine.calls != test.calls {
			t.Errorf("%s: %#v, %v after %d calls, want %#v after %d", name, got, err, engine.calls, test.want, test.calls)
		}
		if err != nil && (!strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "hunter2")) {
			t.Errorf("%s: %v, want it to have %q", name, err, test.says)
		}
	}
}

// A function that returns something else than before fails, also if that was while planning.
func TestResultsMustStay(t *testing.T) {
	result := "1"
	engine := &caller{call: func([]cty.Value) (cty.Value, error) { return cty.StringVal(result), nil }}
	var planned providerfunc.Functions
	planned.Caller = engine
	f, _, _ := find(t, &planned, "join")
	call := func(f function.Function, args ...cty.Value) error {
		t.Helper()
		_, err := f.Call(args)
		return err
	}
	a, b, ephemeral := cty.StringVal("a"), cty.StringVal("b"), cty.StringVal("e").Mark(marks.Ephemeral)
	if err := errors.Join(call(f, a, b), call(f, a, ephemeral)); err != nil {
		t.Fatal(err)
	}
	if got := len(planned.Results.All()); got != 1 {
		t.Errorf("%d results are kept, want that without ephemeral values", got)
	}
	var applied providerfunc.Functions
	applied.Caller = engine
	applied.Results.Start(planned.Results.All())
	f, _, _ = find(t, &applied, "join")
	if err := call(f, a, b); err != nil {
		t.Error(err)
	}
	result = "2"
	if err := call(f, a, b); err == nil || !strings.Contains(err.Error(), "must always return the same") {
		t.Errorf("another result than while planning: %v", err)
	}
	if err := errors.Join(call(f, b, a), call(f, a, ephemeral)); err != nil {
		t.Errorf("other arguments: %v", err)
	}
}

func TestFind(t *testing.T) {
	for name, test := range map[string]struct {
		functions *providerfunc.Functions
		function  string
		found     bool
		want      string
	}{
		"there":                   {&providerfunc.Functions{Caller: &caller{}}, "join", true, ""},
		"not there":               {&providerfunc.Functions{Caller: &caller{}}, "split", false, "Unknown provider function"},
		"no functions at all":     {&providerfunc.Functions{}, "join", false, "Unknown provider function"},
		"no providers":            {&providerfunc.Functions{Caller: &caller{err: engine.ErrNoProviders}}, "join", false, "Provider functions unavailable"},
		"no providers needed":     {&providerfunc.Functions{Caller: &caller{err: engine.ErrNoProviders}, Optional: true}, "join", false, ""},
		"provider does not start": {&providerfunc.Functions{Caller: &caller{err: errors.New("no")}, Optional: true}, "join", false, "Provider functions unavailable"},
	} {
		_, found, diags := find(t, test.functions, test.function)
		got := ""
		for _, diag := range diags {
			got += diag.Summary
		}
		if found != test.found || got != test.want {
			t.Errorf("%s: %t, %q, want %t, %q", name, found, got, test.found, test.want)
		}
	}
}

func TestProvider(t *testing.T) {
	requirements := &stackconfig.ProviderRequirements{
		Providers: map[string]*stackconfig.ProviderRequirement{"c": {LocalName: "c", Provider: cloud}},
		Rejected:  map[string]bool{"bad": true},
	}
	for call, want := range map[string]string{
		"provider::c::join":     "",
		"provider::bad::join":   "",
		"provider::c":           "Invalid function name",
		"provider::other::join": "Provider not declared: The required_providers block",
		"provider::cloud::join": "Provider not declared: This stack calls the provider \"cloud\" by the local name \"c\"",
	} {
		provider, diags := providerfunc.Provider(&stackconfig.Stack{RequiredProviders: requirements}, lang.ProviderCall{Name: call})
		got := ""
		for _, diag := range diags {
			got += diag.Summary + ": " + diag.Detail
		}
		if !strings.HasPrefix(got, want) || (got == "") != (want == "") || (provider != nil) != (call == "provider::c::join") {
			t.Errorf("%s: %v, %q, want %q", call, provider, got, want)
		}
	}
}
