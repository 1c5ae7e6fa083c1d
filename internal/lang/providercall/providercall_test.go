// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package providercall_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/internal/lang/providercall"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

var cloud = stackaddrs.Provider{Hostname: "registry.example.com", Namespace: "example", Type: "cloud"}

// signature takes a string that must be known, one that need not be, and any number of lists of
// numbers, or null.
var signature = &engine.Function{
	Parameters: []engine.FunctionParameter{{Name: "a", Type: cty.String}, {Name: "b", Type: cty.String, AllowUnknown: true}},
	Variadic:   &engine.FunctionParameter{Name: "more", Type: cty.List(cty.Number), AllowNull: true},
	Return:     cty.String,
}

// callable makes the function with a call that counts, and keeps the arguments of the last.
func callable(result cty.Value, err error, results *providercall.Results) (f function.Function, calls *int, last *[]cty.Value) {
	calls, last = new(int), new([]cty.Value)
	call := providercall.Function{Provider: cloud, Name: "join", Signature: signature, Results: results}
	call.Call = func(args []cty.Value) (cty.Value, error) {
		*calls, *last = *calls+1, args
		return result, err
	}
	return call.Callable(), calls, last
}

func TestCallable(t *testing.T) {
	hidden := cty.StringVal("hunter2").Mark(marks.Sensitive)
	variables := map[string]cty.Value{
		"unknown":        cty.UnknownVal(cty.String),
		"any":            cty.DynamicVal,
		"hidden":         hidden,
		"fleeting":       cty.StringVal("hunter2").Mark(marks.Ephemeral),
		"hidden_unknown": cty.UnknownVal(cty.String).Mark(marks.Sensitive),
		"handle":         cty.CapsuleVal(cty.Capsule("handle", reflect.TypeFor[string]()), new(string)),
	}
	said := cty.StringVal("said")
	for source, test := range map[string]struct {
		result cty.Value
		err    error
		want   cty.Value
		says   string // in the error
		calls  int
	}{
		`f("a", "b")`:                   {said, nil, said, "", 1},
		`f(1, true)`:                    {said, nil, said, "", 1},
		`f("a", "b", [1], ["2"], null)`: {said, nil, said, "", 1},
		`f("a", "b", [[]])`:             {said, nil, cty.NilVal, "number required", 0},
		`f("a")`:                        {said, nil, cty.NilVal, "Not enough function arguments", 0},
		`f(null, "b")`:                  {said, nil, cty.NilVal, `Invalid value for "a" parameter: argument must not be null`, 0},
		`f("a", "b", handle)`:           {said, nil, cty.NilVal, "list of number required", 0},
		`f(hidden, "b")`:                {said, nil, said.Mark(marks.Sensitive), "", 1},
		`f(hidden, fleeting)`:           {said, nil, said.Mark(marks.Sensitive).Mark(marks.Ephemeral), "", 1},
		`f("a", "b", sensitive_list...)`: {
			said, nil, said.Mark(marks.Sensitive), "", 1,
		},
		`f(unknown, "b")`:        {said, nil, cty.UnknownVal(cty.String), "", 0},
		`f(any, "b")`:            {said, nil, cty.UnknownVal(cty.String), "", 0},
		`f(hidden_unknown, "b")`: {said, nil, cty.UnknownVal(cty.String).Mark(marks.Sensitive), "", 0},
		`f("a", unknown)`:        {said, nil, said, "", 1},
		`f("a", "b", [any])`:     {said, nil, cty.UnknownVal(cty.String), "", 0},
		`f("other", "type")`:     {cty.True, nil, cty.NilVal, "returned a bool and not a string", 1},
		`f("refused", "b")`: {
			cty.NilVal,
			&engine.FunctionError{Said: "b is too short.", Argument: 1},
			cty.NilVal,
			`Invalid value for "b" parameter: b is too short.`,
			1,
		},
		`f("r", "b", [1], [2])`: {
			cty.NilVal,
			&engine.FunctionError{Said: "No.", Argument: 3},
			cty.NilVal,
			`Invalid value for "more" parameter: No.`,
			1,
		},
		`f("refused", "b", null)`: {cty.NilVal, &engine.FunctionError{Said: "No.", Argument: 7}, cty.NilVal, `failed: No.`, 1},
		`f("refused", "whole")`:   {cty.NilVal, &engine.FunctionError{Said: "No.", Argument: -1}, cty.NilVal, `failed: No.`, 1},
		`f(hidden, "refused")`: {
			cty.NilVal,
			&engine.FunctionError{Said: "hunter2 is too short", Argument: 0},
			cty.NilVal,
			"the details are hidden",
			1,
		},
		`f("crash", fleeting)`: {
			cty.NilVal,
			&engine.FunctionError{Problem: "It crashed", Said: "hunter2", Argument: -1},
			cty.NilVal,
			"It crashed (the details are hidden",
			1,
		},
		`f("not there", fleeting)`: {cty.NilVal, errors.New("no such file"), cty.NilVal, "no such file", 1},
	} {
		f, calls, _ := callable(test.result, test.err, nil)
		variables["sensitive_list"] = cty.TupleVal([]cty.Value{cty.ListVal([]cty.Value{cty.Zero.Mark(marks.Sensitive)})})
		e, diags := hclsyntax.ParseExpression([]byte(source), "", hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		got, diags := e.Value(&hcl.EvalContext{Functions: map[string]function.Function{"f": f}, Variables: variables})
		if diags.HasErrors() != (test.says != "") || !diags.HasErrors() && !got.RawEquals(test.want) || *calls != test.calls {
			t.Errorf("%s: %#v, %v after %d calls, want %#v after %d", source, got, diags, *calls, test.want, test.calls)
		}
		if diags.HasErrors() && (!strings.Contains(diags.Error(), test.says) || strings.Contains(diags.Error(), "hunter2")) {
			t.Errorf("%s: %v, want it to have %q", source, diags, test.says)
		}
	}
}

// The provider gets values of the types of its parameters, without marks.
func TestArguments(t *testing.T) {
	f, _, last := callable(cty.StringVal(""), nil, nil)
	args := []cty.Value{
		cty.StringVal("a").Mark(marks.Sensitive),
		cty.UnknownVal(cty.String),
		cty.ListVal([]cty.Value{cty.Zero.Mark(marks.Ephemeral)}),
	}
	if _, err := f.Call(args); err != nil {
		t.Fatal(err)
	}
	want := []cty.Value{cty.StringVal("a"), cty.UnknownVal(cty.String), cty.ListVal([]cty.Value{cty.Zero})}
	for i, got := range *last {
		if !got.RawEquals(want[i]) {
			t.Errorf("argument %d is %#v, want %#v", i, got, want[i])
		}
	}
}

// A value that only this process knows is not sent, also where a parameter takes every type.
func TestCapsulesAreRefused(t *testing.T) {
	handle := cty.CapsuleVal(cty.Capsule("handle", reflect.TypeFor[string]()), new(string))
	for _, arg := range []cty.Value{
		handle,
		cty.TupleVal([]cty.Value{handle}),
		cty.ObjectVal(map[string]cty.Value{"x": cty.MapVal(map[string]cty.Value{"y": handle})}),
	} {
		call := providercall.Function{
			Provider: cloud,
			Signature: &engine.Function{
				Parameters: []engine.FunctionParameter{{Name: "any", Type: cty.DynamicPseudoType}},
				Return:     cty.DynamicPseudoType,
			},
			Call: func(args []cty.Value) (cty.Value, error) { return args[0], nil },
		}
		if got, err := call.Callable().Call([]cty.Value{arg}); err == nil || !strings.Contains(err.Error(), "cannot be given to functions") {
			t.Errorf("with %#v: %#v, %v, want an error", arg, got, err)
		}
	}
}

// A function that returns something else than before fails, also if that was while planning.
func TestResultsMustStay(t *testing.T) {
	var planned providercall.Results
	call := func(results *providercall.Results, result string, args ...cty.Value) error {
		t.Helper()
		f, _, _ := callable(cty.StringVal(result), nil, results)
		_, err := f.Call(args)
		return err
	}
	a, b, ephemeral, unknown := cty.StringVal("a"), cty.StringVal("b"), cty.StringVal("e").Mark(marks.Ephemeral), cty.UnknownVal(cty.String)
	if err := errors.Join(call(&planned, "1", a, b), call(&planned, "1", a, ephemeral), call(&planned, "1", a, unknown)); err != nil {
		t.Fatal(err)
	}
	if got := planned.All(); len(got) != 1 {
		t.Fatalf("%d results are kept, want that without ephemeral or unknown arguments", len(got))
	}
	var applied providercall.Results
	applied.Expect(planned.All()[0])
	if err := call(&applied, "1", a, b); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := call(&applied, "2", a, b); err == nil || !strings.Contains(err.Error(), "must always return the same") {
			t.Errorf("another result than while planning: %v", err)
		}
	}
	if err := errors.Join(call(&applied, "2", b, a), call(&applied, "2", a, ephemeral), call(&applied, "2", a, unknown)); err != nil {
		t.Errorf("other arguments: %v", err)
	}
}
