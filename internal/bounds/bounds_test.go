// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package bounds_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/cairnstacks/cairn/internal/bounds"
	"github.com/cairnstacks/cairn/internal/safehcl"
)

func parse(t testing.TB, source string) hclsyntax.Expression {
	t.Helper()
	expr, diags := safehcl.ParseExpression([]byte(source), "test.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return expr
}

func scope(variables map[string]cty.Value) *hcl.EvalContext {
	return &hcl.EvalContext{Variables: variables, Functions: map[string]function.Function{
		"range": stdlib.RangeFunc, "length": stdlib.LengthFunc, "repeat": function.New(&function.Spec{
			Params: []function.Parameter{{Name: "count", Type: cty.Number}},
			Type:   function.StaticReturnType(cty.String),
			Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
				count, _ := args[0].AsBigFloat().Int64()
				return cty.StringVal(strings.Repeat("x", int(count))), nil
			},
		}),
	}}
}

// Any expression with too many rounds or too large values ends with an error at its place.
func TestEvaluate(t *testing.T) {
	// With an allowance, the limits of each evaluation are an eighth, and are reached in an eighth
	// of the time.
	for source, want := range map[string]string{
		`[for a in range(1024): [for b in range(1024): [for c in range(1024): 1]]]`:                           "go round more than 524288 times",
		`{for a in range(1024): a => {for b in range(1024): b => {for c in range(1024): c => 1}}}`:            "more than 524288 elements",
		`"%{for a in range(1024)}%{for b in range(1024)}%{for c in range(1024)}x%{endfor}%{endfor}%{endfor}"`: "go round more than 524288 times",
		`[for a in range(100): [for b in range(10): big]]`:                                                    "more than 524288 elements",
		`length([for a in range(1024): [big, big]])`:                                                          "more than 524288 elements",
		`length([for a in range(100): "${text}${text}"])`:                                                     "more than 16 MiB of text",
		`length({for a in range(100): "${a}${text}" => 1})`:                                                   "more than 16 MiB of text",
		`[for a in range(100): 1 if "${text}${text}" == ""]`:                                                  "",
		`[for a in range(100): [for b in range(100): 1]]`:                                                     "",
		`"${text}${text}${text}${text}${text}${text}${text}"`:                                                 "",
		`"1e600000000" + 1`:    "too many digits",
		`-"1e600000000"`:       "too many digits",
		`"1e-600000000" * 2`:   "too many digits",
		`"1e10000" * "1e9999"`: "too many digits",
		`"1e10000" * 2`:        "",
		`1 + null`:             "argument must not be null",
	} {
		variables := map[string]cty.Value{
			"text": cty.StringVal(strings.Repeat("x", 1<<20)), "big": cty.TupleVal(slices.Repeat([]cty.Value{cty.True}, 1000)),
		}
		_, diags := bounds.Evaluate(t.Context(), parse(t, source), scope(variables), bounds.NewAllowance(time.Hour))
		switch {
		case want == "" && diags.HasErrors():
			t.Errorf("%s fails with: %s", source, diags)
		case want != "" && (len(diags) != 1 || !strings.Contains(diags[0].Detail, want)):
			t.Errorf("%s: got %v, want one error with %q", source, diags, want)
		}
	}
}

// A value that each line doubles ends with an error at the line that makes it too large, be it long
// or of many parts.
func TestNamedValues(t *testing.T) {
	for source, want := range map[string]string{
		`"${x}${x}"`:              "16 MiB of text",
		`[x, x]`:                  "524288 elements",
		`[for i in range(10): x]`: "524288 elements",
	} {
		x := cty.StringVal("0123456789abcdef")
		if source == `"${x}${x}"` {
			x = cty.StringVal(strings.Repeat("x", 1<<21)) // of parts, so much more time is needed
		}
		expr := parse(t, source)
		for level := 0; ; level++ {
			value, diags := bounds.Evaluate(t.Context(), expr, scope(map[string]cty.Value{"x": x}), bounds.NewAllowance(time.Hour))
			if diags.HasErrors() {
				if level < 3 || !strings.Contains(diags[0].Detail, want) || *diags[0].Subject != expr.Range() {
					t.Errorf("%s, level %d: %s", source, level, diags)
				}
				break
			}
			if level == 60 {
				t.Errorf("%s has no end", source)
				break
			}
			x = value
		}
	}
}

// Constants are evaluated without a scope, and so without a budget.
func TestConstantLoops(t *testing.T) {
	for source, want := range map[string]string{
		`[for a in [1]: [for b in [1]: b]]`:                 "",
		`[for a in [1]: [for b in [1]: [for c in [1]: c]]]`: "nested at most 2 deep",
	} {
		_, diags := parse(t, source).Value(nil)
		if diags.HasErrors() != (want != "") || want != "" && !strings.Contains(diags[0].Detail, want) {
			t.Errorf("%s: got %v, want %q", source, diags, want)
		}
	}
}

func TestInterruption(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, diags := bounds.Evaluate(ctx, parse(t, `[for a in range(1024): a]`), scope(nil), nil)
	if len(diags) != 1 || !strings.Contains(diags[0].Detail, "interrupted") {
		t.Errorf("got %v", diags)
	}
}

// Where files are edited, all evaluations together end. One of them says so.
func TestAllowance(t *testing.T) {
	for name, test := range map[string]struct {
		period time.Duration
		source string
	}{
		"time": {time.Nanosecond, `[for a in range(1024): a]`},
		"text": {time.Hour, `repeat(10000000)`},
	} {
		t.Run(name, func(t *testing.T) {
			allowance := bounds.NewAllowance(test.period)
			var all hcl.Diagnostics
			for range 50 {
				value, diags := bounds.Evaluate(t.Context(), parse(t, test.source), scope(nil), allowance)
				if all = all.Extend(diags); diags.HasErrors() && value.IsKnown() {
					t.Errorf("got %#v with %s", value, diags)
				}
			}
			if len(all) != 1 || all[0].Summary != "Evaluation takes too long" {
				t.Errorf("got %v, want one error", all)
			}
		})
	}
}

func BenchmarkEvaluate(b *testing.B) {
	for name, source := range map[string]string{"template": `"${x}-y"`, "loop": `[for a in range(1000): a]`} {
		expr, in := parse(b, source), scope(map[string]cty.Value{"x": cty.StringVal("x")})
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, diags := bounds.Evaluate(b.Context(), expr, in, nil); diags.HasErrors() {
					b.Fatal(diags)
				}
			}
		})
	}
}

// Of functions with similar names, the same one is proposed in each run.
func TestFunctionIsSuggested(t *testing.T) {
	functions := map[string]function.Function{}
	for _, name := range []string{"max", "min", "core::max", "core::min"} {
		functions[name] = stdlib.MaxFunc
	}
	for source, want := range map[string]string{
		`mix(1)`:                  `There is no function named "mix". Did you mean "max"?`,
		`[for x in [1]: min_(x)]`: `There is no function named "min_". Did you mean "min"?`,
		`core::mix(1)`:            `There is no function named "core::mix". Did you mean "core::max"?`,
		`nothing_like_it(1)`:      `There is no function named "nothing_like_it".`,
		`other::mix(1)`:           `There are no functions in namespace "other::".`,
	} {
		for range 20 { // HCL goes through a map
			_, diags := bounds.Evaluate(t.Context(), parse(t, source), &hcl.EvalContext{Functions: functions}, nil)
			if len(diags) != 1 || diags[0].Detail != want {
				t.Fatalf("%s: got %v, want %s", source, diags, want)
			}
		}
	}
}

func TestCheckFinite(t *testing.T) {
	capsule := cty.CapsuleVal(cty.Capsule("reference", reflect.TypeFor[string]()), new("x"))
	for name, value := range map[string]cty.Value{
		"number": cty.Zero, "unknown": cty.UnknownVal(cty.Number), "dynamic": cty.DynamicVal,
		"null": cty.NullVal(cty.List(cty.Number)), "capsule": capsule,
		"parts": cty.TupleVal([]cty.Value{
			cty.SetVal([]cty.Value{cty.Zero.Mark("x")}), cty.MapVal(map[string]cty.Value{"a": capsule}), cty.EmptyObjectVal,
		}),
	} {
		if err := bounds.CheckFinite(value); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	infinite := cty.ObjectVal(map[string]cty.Value{
		"capsule": capsule,
		"numbers": cty.ListVal([]cty.Value{cty.Zero, cty.NegativeInfinity.Mark("x")}).Mark("y"),
	})
	want := cty.GetAttrPath("numbers").IndexInt(1)
	if err, ok := errors.AsType[cty.PathError](bounds.CheckFinite(infinite)); !ok || !err.Path.Equals(want) {
		t.Errorf("got %v, want the path %v", err, want)
	}
}
