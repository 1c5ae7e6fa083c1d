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
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

var cloud = stackaddrs.Provider{Hostname: "registry.example.com", Namespace: "example", Type: "cloud"}

// caller has one provider with the function join of two strings, the second of which may be
// unknown.
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

// The provider is called by the function's name, and its result is kept for the plan.
func TestCall(t *testing.T) {
	engine := &caller{call: func(args []cty.Value) (cty.Value, error) { return args[0], nil }}
	planned := providerfunc.Functions{Caller: engine}
	call := func(functions *providerfunc.Functions) error {
		t.Helper()
		f, _, diags := find(t, functions, "join")
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		got, err := f.Call([]cty.Value{cty.StringVal("a"), cty.StringVal("b")})
		if err == nil && !got.RawEquals(cty.StringVal("a")) {
			t.Errorf("join returns %#v, want what the provider returned", got)
		}
		return err
	}
	if err := call(&planned); err != nil || engine.calls != 1 || len(planned.Results()) != 1 {
		t.Fatalf("%v after %d calls, with %d results, want one of each", err, engine.calls, len(planned.Results()))
	}
	applied := providerfunc.Functions{Caller: engine}
	applied.Start(planned.Results())
	engine.call = func([]cty.Value) (cty.Value, error) { return cty.StringVal("other"), nil }
	if err := call(&applied); err == nil || !strings.Contains(err.Error(), "must always return the same") {
		t.Errorf("another result than while planning: %v", err)
	}
}

func TestFind(t *testing.T) {
	for name, test := range map[string]struct {
		functions *providerfunc.Functions
		function  string
		found     bool
		want      string
	}{
		"there":               {&providerfunc.Functions{Caller: &caller{}}, "join", true, ""},
		"not there":           {&providerfunc.Functions{Caller: &caller{}}, "split", false, "Unknown provider function"},
		"no functions at all": {&providerfunc.Functions{}, "join", false, "Unknown provider function"},
		"no providers": {
			&providerfunc.Functions{Caller: &caller{err: engine.ErrNoProviders}},
			"join",
			false,
			"Provider functions unavailable",
		},
		"no providers needed": {&providerfunc.Functions{Caller: &caller{err: engine.ErrNoProviders}, Optional: true}, "join", false, ""},
		"provider does not start": {
			&providerfunc.Functions{Caller: &caller{err: errors.New("no")}, Optional: true},
			"join",
			false,
			"Provider functions unavailable",
		},
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
