// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/wantdiag"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/components"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/maintask"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// The tests in this file are of objects whose behaviour is the same in each phase. They evaluate in
// the inspect phase, which needs neither an engine nor a state: no component is asked for results.

// inspected is a configuration in a directory, bound to an evaluation in the inspect phase.
type inspected struct {
	*Main
	dir string
}

// inspect loads the files of an archive. Their names are relative to the root stack.
func inspect(t *testing.T, archive string, inputs map[string]cty.Value) inspected {
	t.Helper()
	dir := t.TempDir()
	for _, file := range txtar.Parse([]byte(archive)).Files {
		path := filepath.Join(dir, filepath.FromSlash(file.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, file.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	config, diags := stackconfig.Load(dir)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return inspected{NewForInspecting(Options{Config: config}, InspectOptions{State: stackstate.New(), Inputs: inputs}), dir}
}

// check asks all objects that need no engine for their diagnostics.
func (m inspected) check(t *testing.T) hcl.Diagnostics {
	t.Helper()
	_, diags := maintask.Run(t.Context(), &m.Main.panics, func(ctx context.Context) (struct{}, hcl.Diagnostics) {
		return struct{}{}, m.explainCycles(checkStack(ctx, m.stack))
	})
	return diags
}

func checkStack(ctx context.Context, s *Stack) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, l := range s.locals {
		diags = diags.Extend(l.Check(ctx))
	}
	for _, o := range s.outputs {
		_, moreDiags := o.CheckValue(ctx)
		diags = diags.Extend(moreDiags)
	}
	for _, c := range s.components {
		_, moreDiags := c.CheckInstances(ctx)
		diags = diags.Extend(moreDiags)
	}
	for _, p := range s.providers {
		_, moreDiags := p.CheckInstances(ctx)
		diags = diags.Extend(moreDiags)
	}
	for _, c := range s.calls {
		instances, moreDiags := c.CheckInstances(ctx)
		diags = diags.Extend(moreDiags)
		for _, inst := range instances.InOrder() {
			diags = diags.Extend(inst.Check(ctx))
			diags = diags.Extend(checkStack(ctx, inst.stack))
		}
	}
	return diags
}

// eval evaluates an expression in a stack instance.
func (m inspected) eval(t *testing.T, source string, stack stackaddrs.StackInstance) (cty.Value, hcl.Diagnostics) {
	t.Helper()
	e, diags := hclsyntax.ParseExpression([]byte(source), "test", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return m.EvalExpr(t.Context(), e, stack)
}

const childStack = `
-- child/main.tfcomponent.hcl --
variable "v" { type = string }
locals { own = "own ${var.v}" }
output "out" {
  type  = string
  value = upper(var.v)
}
`

// Each mistake is reported once, on its line.
func TestMistakes(t *testing.T) {
	for name, archive := range map[string]string{
		"references": `
locals {
  a = var.nosuch       # want error "Unknown variable" ` + "`var.nosuch`" + `
  b = local.nosuch     # want error "Unknown local value" ` + "`local.nosuch`" + `
  c = component.nosuch # want error "Unknown component" ` + "`component.nosuch`" + `
  d = stack.nosuch     # want error "Unknown embedded stack" ` + "`stack.nosuch`" + `
  e = provider.p.x     # want error "Unknown provider configuration" ` + "`provider.p.x`" + `
  f = each.key         # want error "Symbol not available here" ` + "`each.key`" + `
  g = path.module      # want error "Unknown symbol" ` + "`path`" + `
  h = [local.a, local.f, "depends on mistakes, and is none"]
}
`,
		"all of one expression": `
locals {
  a = "${var.x}${var.y}" # want error "Unknown variable" ` + "`var.x`" + ` want error "Unknown variable" ` + "`var.y`" + `
}
`,
		"scopes": `
locals { secret = "of the root" }
stack "s" {
  for_each = toset(["k"])
  source   = "./child"
  inputs   = { v = "${each.key}${each.value}" }
}
stack "single" {
  source = "./child"
  inputs = { v = each.key } # want error "Symbol not available here" ` + "`each.key`" + `
}
stack "with_itself" {
  for_each = toset([each.key]) # want error "Symbol not available here" ` + "`each.key`" + `
  source   = "./child"
  inputs   = { v = "x" }
}
` + childStack + `
-- child/more.tfcomponent.hcl --
locals {
  above = local.secret # want error "Unknown local value" ` + "`local.secret`" + `
}
`,
		"for_each": `
variable "secret" {
  type      = set(string)
  sensitive = true
}
variable "passing" {
  type      = set(string)
  ephemeral = true
}
component "list" {
  source   = "./mod"
  for_each = ["a"] # want error "for_each needs a map, an object or a set of strings" ` + "`[\"a\"]`" + `
}
component "null" {
  source   = "./mod"
  for_each = null # want error "for_each cannot be null" ` + "`null`" + `
}
component "numbers" {
  source   = "./mod"
  for_each = toset([1]) # want error "for_each set must hold strings" ` + "`toset([1])`" + `
}
component "holes" {
  source   = "./mod"
  for_each = toset(["a", null]) # want error "for_each cannot contain null" ` + "`toset([\"a\", null])`" + `
}
component "secret" {
  source   = "./mod"
  for_each = var.secret # want error "for_each cannot be sensitive" ` + "`var.secret`" + `
}
component "passing" {
  source   = "./mod"
  for_each = var.passing # want error "for_each cannot be ephemeral" ` + "`var.passing`" + `
}
component "good" {
  source   = "./mod"
  for_each = { a = sensitive("x") }
}
-- mod/main.tf --
`,
		"marks": `
variable "token" {
  type      = string
  ephemeral = true
}
output "leak" {
  type  = string
  value = "x${var.token}" # want error "Ephemeral value in a lasting output" ` + "`\"x${var.token}\"`" + `
}
stack "s" {
  source = "./child"
  inputs = { v = var.token } # want error "Variable does not take ephemeral values" ` + "`var.token`" + `
}
` + childStack,
		"types": `
locals { a = 1 + "x" } # want error "Invalid operand" ` + "`\"x\"`" + `
output "o" {
  type  = list(string)
  value = "x" # want error "Output value has the wrong type" ` + "`\"x\"`" + `
}
stack "s" {
  source = "./child"
  inputs = { v = ["x"] } # want error "Embedded stack inputs do not fit" ` + "`[\"x\"]`" + `
}
` + childStack,
	} {
		t.Run(name, func(t *testing.T) {
			m := inspect(t, "-- main.tfcomponent.hcl --\n"+archive, nil)
			want, err := wantdiag.Expected(m.dir)
			if err != nil {
				t.Fatal(err)
			}
			source := func(name string) []byte {
				src, err := os.ReadFile(filepath.Join(m.dir, filepath.FromSlash(name)))
				if err != nil {
					t.Error(err)
				}
				return src
			}
			diags := m.check(t)
			if diff := cmp.Diff(want, wantdiag.Found(diags, source)); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s\n%v", diff, diags)
			}
		})
	}
}

func TestValues(t *testing.T) {
	m := inspect(t, `
-- main.tfcomponent.hcl --
variable "given" { type = list(string) }
variable "absent" { type = string }
variable "default" {
  type    = object({ a = optional(string, "A"), b = optional(number) })
  default = {}
}
variable "secret" {
  type      = string
  sensitive = true
}
locals {
  twice   = "${local.once}${local.once}"
  once    = join("-", var.given)
  derived = "hidden ${var.secret}"
}
stack "single" {
  source = "./child"
  inputs = { v = local.once }
}
stack "keyed" {
  for_each = { a = "x", b = "y" }
  source   = "./child"
  inputs   = { v = "${each.key}${each.value}" }
}
stack "none" {
  for_each = {}
  source   = "./child"
  inputs   = { v = "" }
}
stack "open" {
  for_each = toset([var.absent])
  source   = "./child"
  inputs   = { v = each.key }
}
`+childStack, map[string]cty.Value{
		"given":  cty.TupleVal([]cty.Value{cty.StringVal("p"), cty.NumberIntVal(1)}),
		"secret": cty.StringVal("s3cret"),
	})
	text, root := cty.StringVal, stackaddrs.RootStackInstance
	result := func(out string) cty.Value { return cty.ObjectVal(map[string]cty.Value{"out": text(out)}) }
	resultType := cty.Object(map[string]cty.Type{"out": cty.String})
	for name, test := range map[string]struct {
		expression string
		stack      stackaddrs.StackInstance
		want       cty.Value
	}{
		"converted variable":   {`var.given`, root, cty.ListVal([]cty.Value{text("p"), text("1")})},
		"variable not given":   {`var.absent`, root, cty.UnknownVal(cty.String)},
		"default":              {`var.default.a`, root, text("A")},
		"local values":         {`local.twice`, root, text("p-1p-1")},
		"sensitive":            {`local.derived`, root, text("hidden s3cret").Mark(marks.Sensitive)},
		"embedded stack":       {`stack.single`, root, result("P-1")},
		"with for_each":        {`stack.keyed`, root, cty.MapVal(map[string]cty.Value{"a": result("AX"), "b": result("BY")})},
		"without instances":    {`stack.none`, root, cty.MapValEmpty(resultType)},
		"keys not known":       {`stack.open`, root, cty.UnknownVal(cty.Map(resultType))},
		"inside":               {`local.own`, root.Child("keyed", stackaddrs.StringKey("b")), text("own by")},
		"not applying":         {`terraform.applying`, root, cty.False.Mark(marks.Ephemeral)},
		"impure until applied": {`timestamp()`, root, cty.UnknownVal(cty.String).RefineNotNull()},
	} {
		t.Run(name, func(t *testing.T) {
			got, diags := m.eval(t, test.expression, test.stack)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			if !got.RawEquals(test.want) {
				t.Errorf("%s: got %#v, want %#v", test.expression, got, test.want)
			}
		})
	}
	t.Run("no such stack", func(t *testing.T) {
		_, diags := m.eval(t, `local.own`, root.Child("keyed", stackaddrs.StringKey("z")))
		if len(diags) != 1 || diags[0].Summary != "Unknown stack" {
			t.Errorf(`got %v, want "Unknown stack"`, diags)
		}
	})
}

// Without the static search, the promises find cycles themselves, each once.
func TestCyclesOfPromises(t *testing.T) {
	for name, test := range map[string]struct{ archive, want string }{
		"itself": {`locals { a = local.a }`, "Item depends on itself: local.a"},
		"two":    {"locals {\n  b = local.a\n  a = local.b\n}", "Items depend on each other in a circle: local.a local.b"},
		"for_each": {
			"stack \"s\" {\n  source   = \"./child\"\n  for_each = stack.s\n  inputs   = { v = \"\" }\n}\n" + childStack,
			"Item depends on itself: stack.s for_each",
		},
		"through a stack": {
			"stack \"s\" {\n  source = \"./child\"\n  inputs = { v = stack.s.out }\n}\n" + childStack,
			"Items depend on each other in a circle: stack.s inputs stack.s.output.out stack.s.var.v",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, diag := range inspect(t, "-- main.tfcomponent.hcl --\n"+test.archive, nil).check(t) {
				text := diag.Summary + ":"
				for line := range strings.SplitSeq(diag.Detail, "\n") {
					if item, ok := strings.CutPrefix(line, "  - "); ok {
						item, _, _ = strings.Cut(item, ", at ")
						text += " " + item
					}
				}
				got = append(got, text)
			}
			if diff := cmp.Diff([]string{test.want}, got); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s", diff)
			}
		})
	}
}

// required is a function that returns the components that something requires.
type required func(context.Context) components.Set

// Blocks and values require components: docs/language.md, section 4.6.
func TestRequiredComponents(t *testing.T) {
	m := inspect(t, `
-- main.tfcomponent.hcl --
required_providers {
  p = {
    source  = "example.com/corp/p"
    version = "1.0.0"
  }
}
variable "v" {
  type    = string
  default = "x"
}
locals { l = component.a.out }
provider "p" "x" {
  config { token = local.l }
}
component "a" { source = "./mod" }
component "b" {
  source    = "./mod"
  inputs    = { in = var.v }
  providers = { p = provider.p.x }
}
component "c" {
  source     = "./mod"
  depends_on = [stack.s]
}
stack "s" {
  source   = "./inner"
  for_each = toset(["k", "m"])
  inputs   = { v = component.b.out }
}
output "o" {
  type  = string
  value = stack.s["k"].out
}
removed {
  from   = stack.gone
  source = "./inner"
  inputs = { v = local.l }
}
-- mod/main.tf --
-- inner/main.tfcomponent.hcl --
variable "v" { type = string }
component "d" {
  source = "./mod"
  inputs = { in = var.v }
}
component "free" { source = "./mod" }
output "out" {
  type  = string
  value = component.d.out
}
-- inner/mod/main.tf --
`, nil)
	root := m.stack
	_, diags := maintask.Run(t.Context(), &m.Main.panics, func(ctx context.Context) (struct{}, hcl.Diagnostics) {
		inner := root.calls["s"].Instances(ctx).Instances[stackaddrs.StringKey("k")].stack
		by := func(stack *Stack, decl any) required {
			return func(ctx context.Context) components.Set { return stack.requiredBy(ctx, decl) }
		}
		const inside = ` stack.s["k"].component.d stack.s["k"].component.free stack.s["m"].component.d stack.s["m"].component.free`
		for name, test := range map[string]struct {
			required
			want string
		}{
			"local value":                 {by(root, root.locals["l"].config.decl), "component.a"},
			"provider":                    {by(root, slices.Collect(maps.Values(root.providers))[0].config.decl), "component.a"},
			"component":                   {root.components["b"].RequiredComponents, "component.a"},
			"depends_on a stack":          {root.components["c"].RequiredComponents, "component.b" + inside},
			"stack call":                  {root.calls["s"].RequiredComponents, "component.b"},
			"output":                      {by(root, root.outputs["o"].config.decl), "component.b" + inside},
			"removed block":               {by(root, root.removed[0].config.decl), "component.a"},
			"variables of the inner":      {inner.call.RequiredComponents, "component.b"},
			"component that uses one":     {inner.components["d"].RequiredComponents, "component.b"},
			"component that does not":     {inner.components["free"].RequiredComponents, ""},
			"output of the inner":         {by(inner, inner.outputs["out"].config.decl), `stack.s["k"].component.d`},
			"instance of a stack call":    {root.calls["s"].Instances(ctx).Instances[stackaddrs.StringKey("m")].RequiredComponents, "component.b"},
			"instance of a removed block": {root.removed[0].Instances(ctx).Instances[stackaddrs.NoKey].RequiredComponents, "component.a"},
		} {
			var got []string
			for _, component := range test.required(ctx).Sorted() {
				got = append(got, component.String())
			}
			slices.Sort(got)
			if text := strings.Join(got, " "); text != test.want {
				t.Errorf("%s: got %q, want %q", name, text, test.want)
			}
		}
		return struct{}{}, nil
	})
	if diags.HasErrors() {
		t.Error(diags)
	}
}
