// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package expr_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
)

// scope has values by the text of their reference, and keeps the references it was asked for.
type scope struct {
	values map[string]cty.Value
	asked  []string
}

func newScope() *scope {
	text := cty.StringVal
	return &scope{values: map[string]cty.Value{
		"var.a":   text("A"),
		"var.b":   text("B"),
		"var.yes": cty.True,
		"var.list": cty.ListVal([]cty.Value{
			cty.ObjectVal(map[string]cty.Value{"name": text("n0")}),
			cty.ObjectVal(map[string]cty.Value{"name": text("n1")}),
		}),
		"local.l": text("L"),
		"component.c": cty.ObjectVal(map[string]cty.Value{
			"k": cty.ObjectVal(map[string]cty.Value{"out": text("O")}),
		}),
		"stack.s":   cty.ObjectVal(map[string]cty.Value{"out": text("S")}),
		"each.key":  text("K"),
		"var.count": cty.NumberIntVal(1),
	}}
}

func (s *scope) ResolveExpressionReference(_ context.Context, ref stackaddrs.Reference) (expr.Referenceable, hcl.Diagnostics) {
	name := ref.Target.String()
	s.asked = append(s.asked, name)
	value, ok := s.values[name]
	if !ok {
		return nil, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Unknown symbol", Detail: name, Subject: ref.Range.Ptr()}}
	}
	return expr.JustValue{Value: value}, nil
}

func (s *scope) Functions() map[string]function.Function {
	return map[string]function.Function{"upper": stdlib.UpperFunc}
}

func (s *scope) FunctionOptions() lang.Options { return lang.Options{} }

func (s *scope) ProviderFunction(_ context.Context, call lang.ProviderCall) (function.Function, hcl.Diagnostics) {
	if call.Name == "provider::p::lower" {
		return stdlib.LowerFunc, nil
	}
	return function.Function{}, hcl.Diagnostics{
		{Severity: hcl.DiagError, Summary: "No such function", Detail: call.Name, Subject: call.Range.Ptr()},
	}
}

func parse(t *testing.T, src string) hcl.Expression {
	t.Helper()
	e, diags := hclsyntax.ParseExpression([]byte(src), "test.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatalf("%s: %s", src, diags)
	}
	return e
}

func TestRow226Expressions(t *testing.T) {
	for src, want := range map[string]cty.Value{
		`"text"`:                           cty.StringVal("text"),
		`1 + 2`:                            cty.NumberIntVal(3),
		`var.a`:                            cty.StringVal("A"),
		`component.c["k"].out`:             cty.StringVal("O"),
		`"${var.a}${var.b}-${local.l}"`:    cty.StringVal("AB-L"),
		`[upper(stack.s.out), each.key]`:   cty.TupleVal([]cty.Value{cty.StringVal("S"), cty.StringVal("K")}),
		`{ a = var.a, list = var.list }.a`: cty.StringVal("A"),
	} {
		got, diags := expr.EvalExpr(t.Context(), parse(t, src), expr.PlanPhase, newScope())
		if diags.HasErrors() || !got.RawEquals(want) {
			t.Errorf("%s: got %#v, %v, want %#v", src, got, diags, want)
		}
	}
}

// All bad references of an expression are reported, each with its own place, and nothing is
// evaluated.
func TestRow226InvalidReferences(t *testing.T) {
	for src, want := range map[string][]string{
		`var.missing`:                           {"Unknown symbol `var.missing`"},
		`"${var.missing}${var.a}${local.gone}"`: {"Unknown symbol `local.gone`", "Unknown symbol `var.missing`"},
		`path.module`:                           {"Unknown symbol `path`"},
		`var["a"]`:                              {"Incomplete reference `[\"a\"]`"},
		`[local]`:                               {"Incomplete reference `local`"},
	} {
		got, diags := expr.EvalExpr(t.Context(), parse(t, src), expr.PlanPhase, newScope())
		var found []string
		for _, diag := range diags {
			found = append(found, diag.Summary+" `"+string(diag.Subject.SliceBytes([]byte(src)))+"`")
		}
		slices.Sort(found)
		if diff := cmp.Diff(want, found); diff != "" {
			t.Errorf("%s: errors (-want +got):\n%s", src, diff)
		}
		if !expr.IsFailed(got) {
			t.Errorf("%s: got %#v, want a placeholder", src, got)
		}
	}
}

func TestRow227NestedReferencesAreFound(t *testing.T) {
	for src, want := range map[string]string{
		`var.yes ? var.a : var.b`: "var.a var.b var.yes",
		`var.list[*].name`:        "var.list",
		`var.list.*.name`:         "var.list",
		`"a ${var.a} %{ if var.yes }${var.b}%{ else }${local.l}%{ endif }"`: "local.l var.a var.b var.yes",
		`"%{ for x in var.list }${x.name}${local.l}%{ endfor }"`:            "local.l var.list",
		`{ for x in var.list : x.name => stack.s if var.yes }`:              "stack.s var.list var.yes",
		`var.list[var.count].name`:                                          "var.count var.list",
		`{ (var.a) = [{ deep = !(var.count > 0) }] }`:                       "var.a var.count",
		`(var.a)`: "var.a",
	} {
		s := newScope()
		if _, diags := expr.EvalExpr(t.Context(), parse(t, src), expr.PlanPhase, s); diags.HasErrors() {
			t.Errorf("%s: %s", src, diags)
		}
		slices.Sort(s.asked)
		if got := strings.Join(s.asked, " "); got != want {
			t.Errorf("%s: asked for %s, want %s", src, got, want)
		}
	}
}

const providerBody = `
region = var.a
tags   = { for x in var.list : x.name => local.l }

retry {
  count = var.count
  on {
    text = "${each.key}-${stack.s.out}"
  }
  on {
    text = var.yes ? component.c["k"].out : var.b
  }
}
`

var providerSpec = hcldec.ObjectSpec{
	"region": &hcldec.AttrSpec{Name: "region", Type: cty.String},
	"tags":   &hcldec.AttrSpec{Name: "tags", Type: cty.Map(cty.String)},
	"token":  &hcldec.AttrSpec{Name: "token", Type: cty.String},
	"retry": &hcldec.BlockSpec{TypeName: "retry", Nested: hcldec.ObjectSpec{
		"count": &hcldec.AttrSpec{Name: "count", Type: cty.Number},
		"on":    &hcldec.BlockListSpec{TypeName: "on", Nested: hcldec.ObjectSpec{"text": &hcldec.AttrSpec{Name: "text", Type: cty.String}}},
	}},
}

func parseBody(t *testing.T, src string) hcl.Body {
	t.Helper()
	file, diags := hclsyntax.ParseConfig([]byte(src), "test.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return file.Body
}

func TestRow227And228ProviderBody(t *testing.T) {
	s := newScope()
	got, diags := expr.EvalBody(t.Context(), parseBody(t, providerBody), providerSpec, expr.PlanPhase, s)
	text := cty.StringVal
	want := cty.ObjectVal(map[string]cty.Value{
		"region": text("A"),
		"tags":   cty.MapVal(map[string]cty.Value{"n0": text("L"), "n1": text("L")}),
		"token":  cty.NullVal(cty.String),
		"retry": cty.ObjectVal(map[string]cty.Value{
			"count": cty.NumberIntVal(1),
			"on": cty.ListVal([]cty.Value{
				cty.ObjectVal(map[string]cty.Value{"text": text("K-S")}),
				cty.ObjectVal(map[string]cty.Value{"text": text("O")}),
			}),
		}),
	})
	if diags.HasErrors() || !got.RawEquals(want) {
		t.Errorf("got %#v, %v, want %#v", got, diags, want)
	}
	slices.Sort(s.asked)
	if got, want := strings.Join(s.asked, " "), "component.c each.key local.l stack.s var.a var.b var.count var.list var.yes"; got != want {
		t.Errorf("asked for %s, want %s", got, want)
	}
}

func TestRow228ProviderBodyErrors(t *testing.T) {
	for src, want := range map[string]string{
		`region = var.missing`:                           "Unknown symbol",
		"retry {\n  on {\n    text = local.gone\n  }\n}": "Unknown symbol",
		`nation = "x"`:                                   "Unsupported argument",
		`region = ["x"]`:                                 "Incorrect attribute value type",
	} {
		got, diags := expr.EvalBody(t.Context(), parseBody(t, src), providerSpec, expr.PlanPhase, newScope())
		if len(diags) != 1 || diags[0].Summary != want {
			t.Errorf("%s: got %v, want only %q", src, diags, want)
		}
		if !expr.IsFailed(got) || !got.Type().Equals(hcldec.ImpliedType(providerSpec)) {
			t.Errorf("%s: got %#v, want a placeholder of the body's type", src, got)
		}
	}
}
