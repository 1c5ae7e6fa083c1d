// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package refs_test

import (
	"slices"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/internal/module/refs"
)

func parse(t *testing.T, text string) hclsyntax.Expression {
	t.Helper()
	expr, diags := hclsyntax.ParseExpression([]byte(text), "x.tf", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return expr
}

// describe writes a reference as SUBJECT KEY, and how many steps are left.
func describe(ref refs.Reference) string {
	return ref.Subject.String() + ref.Key.String() + "+" + string(rune('0'+len(ref.Rest)))
}

func TestInExpr(t *testing.T) {
	for text, want := range map[string][]string{
		`var.a`:                                 {"var.a+0"},
		`var.a.b[0]`:                            {"var.a+2"},
		`local.a + local.b`:                     {"local.a+0", "local.b+0"},
		`t.n`:                                   {"t.n+0"},
		`t.n.attr`:                              {"t.n+1"},
		`t.n[0].attr`:                           {"t.n[0]+1"},
		`t.n["k"]`:                              {`t.n["k"]+0`},
		`t.n.0.attr`:                            {"t.n[0]+1"},
		`t.n[*].attr`:                           {"t.n+0"},
		`t.n.*.attr`:                            {"t.n+0"},
		`t.n[var.i].attr`:                       {"t.n+0", "var.i+0"},
		`t.n[-1]`:                               {"t.n+0"},
		`resource.t.n.attr`:                     {"t.n+1"},
		`resource.template.n`:                   {"template.n+0"},
		`data.t.n[0].attr`:                      {"data.t.n[0]+1"},
		`ephemeral.t.n`:                         {"ephemeral.t.n+0"},
		`module.m`:                              {"module.m+0"},
		`module.m[0]`:                           {"module.m[0]+0"},
		`module.m[*].o`:                         {"module.m+0"},
		`module.m.o.x`:                          {"module.m.o+1"},
		`module.m["a"].o`:                       {`module.m.o["a"]+0`},
		`each.key`:                              {"each.key+0"},
		`each.value.x`:                          {"each.value+1"},
		`count.index`:                           {"count.index+0"},
		`self.id`:                               {"self+1"},
		`path.module`:                           {"path.module+0"},
		`terraform.applying`:                    {"terraform.applying+0"},
		`action.t.n`:                            {"action.t.n+0"},
		`list.t.n["k"].data[0]`:                 {`list.t.n["k"]+2`},
		`[for x in var.l : x.y if x.z]`:         {"var.l+0"},
		`{for k, v in var.m : k => local.a[v]}`: {"var.m+0", "local.a+0"},
		`{ a = t.n, (var.k) = 1 }`:              {"t.n+0", "var.k+0"},
		`"${var.a}-%{ if local.b }x%{ endif }"`: {"var.a+0", "local.b+0"},
		`try(var.a, provider::p::f(local.b))`:   {"var.a+0", "local.b+0"},
		`1 + 2`:                                 nil,
	} {
		found, diags := refs.InExpr(parse(t, text))
		var got []string
		for _, ref := range found {
			got = append(got, describe(ref))
		}
		if len(diags) > 0 || !slices.Equal(got, want) {
			t.Errorf("InExpr(%s) = %v, %v, want %v", text, got, diags, want)
		}
	}
}

// TestInvalid has in brackets where the mistake is.
func TestInvalid(t *testing.T) {
	for text, want := range map[string]string{
		`foo`:            "foo",
		`var`:            "var",
		`var["a"]`:       `["a"]`,
		`data.t`:         "data.t",
		`module[0]`:      "[0]",
		`module.m[0][1]`: "[1]",
		`t.n[1.5]`:       "[1.5]",
		`t.n[true]`:      "[true]",
		`each.foo`:       ".foo",
		`count`:          "count",
		`path.home`:      ".home",
		`terraform.env`:  ".env",
		`template.n`:     "template",
		`output.n`:       "output",
		`check.n`:        "check",
		`ephemeral.t`:    "ephemeral.t",
		`list.t`:         "list.t",
	} {
		found, diags := refs.InExpr(parse(t, text))
		if len(found) > 0 || len(diags) != 1 {
			t.Errorf("InExpr(%s) = %v, %v, want one error", text, found, diags)
			continue
		}
		if got := string(diags[0].Subject.SliceBytes([]byte(text))); got != want {
			t.Errorf("InExpr(%s): the error is about %q, want %q", text, got, want)
		}
	}
}

func TestRanges(t *testing.T) {
	const text = `module.m["a"].out.x`
	found, diags := refs.InExpr(parse(t, text))
	if len(found) != 1 || diags.HasErrors() {
		t.Fatal(found, diags)
	}
	if got, want := string(found[0].Range.SliceBytes([]byte(text))), `module.m["a"].out`; got != want {
		t.Errorf("Range is %s, want %s", got, want)
	}
	if got := string(found[0].Whole.SliceBytes([]byte(text))); got != text {
		t.Errorf("Whole is %s, want %s", got, text)
	}
}

func TestBody(t *testing.T) {
	const text = `
count = var.skipped
a     = var.a
lifecycle {
  b = var.skipped
}
block {
  count = var.kept
}
dynamic "setting" {
  for_each = var.settings
  content {
    name = setting.value
    dynamic "inner" {
      for_each = setting.value.inner
      iterator = it
      content {
        x = [it.key, inner.x]
      }
    }
  }
}
z = setting.z
`
	file, diags := hclsyntax.ParseConfig([]byte(text), "x.tf", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var f refs.Finder
	f.AddBody(file.Body.(*hclsyntax.Body), func(name string) bool { return name == "count" || name == "lifecycle" })
	var got []string
	for _, ref := range f.Found {
		got = append(got, ref.Subject.String())
	}
	want := []string{"var.a", "setting.z", "var.kept", "var.settings", "inner.x"}
	if !slices.Equal(got, want) || f.Diags.HasErrors() {
		t.Errorf("AddBody found %v, %v, want %v", got, f.Diags, want)
	}
}

func TestCalls(t *testing.T) {
	var f refs.Finder
	f.AddExpr(parse(t, `[for x in var.l : provider::p::f(x, upper("a"))][max(var.l...)]`))
	var got []string
	for _, call := range f.Calls {
		got = append(got, call.Name)
		if call.Expanded != (call.Name == "max") {
			t.Errorf("the call of %s has Expanded %t", call.Name, call.Expanded)
		}
	}
	slices.Sort(got)
	if want := []string{"max", "provider::p::f", "upper"}; !slices.Equal(got, want) {
		t.Errorf("calls are %v, want %v", got, want)
	}
}
