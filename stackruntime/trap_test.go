// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Whatever validate makes of the results of components fits, apart from their names; only planning
// can tell. Cycles are found all the same, also where nothing but an argument without values closes
// them.
func TestTrapC01ResultsOfComponentsInValidate(t *testing.T) {
	t.Parallel()
	const component = `
component "c" {
  source = "./echo"
  inputs = { in = { a = 1 } }
}
`
	s := stacktest.InMemory(t, "-- main.tfcomponent.hcl --"+component+`
output "sum" {
  type  = number
  value = component.c.out.list[0] + 1
}
`+echoModule)
	if diags := s.Validate(); len(diags) > 0 {
		t.Errorf("validate:\n%s", stacktest.Explain(diags))
	}
	planFails(t, s, "error main.tfcomponent.hcl:8: Unsupported attribute\n")

	s = stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
component "a" {
  source     = "./echo"
  depends_on = [component.b]
}
component "b" {
  source   = "./echo"
  for_each = { for k in ["x"] : k => local.through }
}
locals {
  through = [component.a]
}
`+echoModule)
	for operation, diags := range map[string]hcl.Diagnostics{"validate": s.Validate(), "plan": second(s.TryPlan(engine.Normal))} {
		if diff := cmp.Diff([]string{"component.a", "component.b", "local.through"}, cycle(diags)); diff != "" {
			t.Errorf("%s: names in the report (-want +got):\n%s%s", operation, diff, stacktest.Explain(diags))
		}
	}
}

func second[A, B any](_ A, b B) B { return b }

// Instances of a component may have results of different types, so they make an object. Stacks and
// providers make maps.
func TestTrapC02ResultsOfForEach(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, "-- main.tfcomponent.hcl --\n"+fakeRequired+`
component "c" {
  for_each = { text = "x", list = [1] }
  source   = "./echo"
  inputs   = { in = each.value }
}
component "none" {
  for_each = {}
  source   = "./echo"
}
stack "s" {
  for_each = toset(["a", "b"])
  source   = "./child"
}
stack "none" {
  for_each = {}
  source   = "./child"
}
provider "fake" "p" {
  for_each = toset(["a", "b"])
}
provider "fake" "none" {
  for_each = {}
}
-- child/main.tfcomponent.hcl --
output "out" {
  type  = string
  value = "x"
}
`+echoModule, withFakeProvider)
	s.Converge()
	config, diags := stackconfig.Load(s.Dir)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	inspector := stackruntime.Inspect(stackruntime.InspectRequest{
		Options: stackruntime.Options{Config: config, Session: s.Open()},
		State:   s.State,
	})
	results := cty.Object(map[string]cty.Type{"out": cty.String})
	reference := stackconfig.ProviderRefType(fakeProvider)
	for text, want := range map[string]cty.Type{
		"component.c": cty.Object(map[string]cty.Type{
			"text": results,
			"list": cty.Object(map[string]cty.Type{"out": cty.Tuple([]cty.Type{cty.Number})}),
		}),
		"component.none":     cty.EmptyObject,
		"stack.s":            cty.Map(results),
		"stack.none":         cty.Map(results),
		"provider.fake.p":    cty.Map(reference),
		"provider.fake.none": cty.Map(reference),
	} {
		e, diags := hclsyntax.ParseExpression([]byte(text), "<expression>", hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		got, diags := inspector.EvalExpr(t.Context(), e)
		if diags.HasErrors() || !got.IsKnown() || !got.Type().Equals(want) {
			t.Errorf("%s is %#v, %s; want a known value of type %#v", text, got, stacktest.Explain(diags), want)
		}
	}
}

// Null selects the default, of the root stack, of embedded stacks and of modules.
func TestTrapC03NullIsTheDefault(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
variable "v" {
  type    = string
  default = "root"
}
stack "s" {
  source = "./child"
  inputs = { v = null }
}
component "c" {
  source = "./mod"
  inputs = { v = null }
}
output "all" {
  type  = string
  value = "${var.v} ${stack.s.v} ${component.c.v}"
}
-- child/main.tfcomponent.hcl --
variable "v" {
  type    = string
  default = "child"
}
output "v" {
  type  = string
  value = var.v
}
-- mod/main.tf --
variable "v" {
  type    = string
  default = "module"
}
resource "terraform_data" "this" {}
output "v" { value = var.v }
`)
	s.Inputs["v"] = cty.NullVal(cty.String)
	wantPlan(t, s, `input v: create "root"
component.c: create, applyable
  terraform_data.this: create
output all: create "root child module"
`)
}

// Names that no variable has are dropped without an error, so only the warning points to a misspelt
// one.
func TestTrapC04MisspeltInputs(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
component "c" {
  source = "./echo"
  inputs = { ni = "x" }
}
stack "s" {
  source = "./child"
  inputs = { "vv" = "x" }
}
-- child/main.tfcomponent.hcl --
variable "v" {
  type    = string
  default = "child"
}
`+echoModule)
	wantSummaries(t, s, "warning main.tfcomponent.hcl:3: Input not declared\nwarning main.tfcomponent.hcl:7: Input not declared\n")
	s.Converge()
}

func TestTrapC05ProvidersOfEmbeddedStacks(t *testing.T) {
	t.Parallel()
	const child = `
-- child/main.tfcomponent.hcl --
` + fakeRequired + `
variable "p" {
  type = providerconfig(fake)
}
`
	s := stacktest.InMemory(t, "-- main.tfcomponent.hcl --\n"+fakeRequired+`
provider "fake" "main" {}
stack "s" {
  source = "./child"
  inputs = { p = provider.fake.main }
}
`+child, withFakeProvider)
	wantSummaries(t, s, "error main.tfcomponent.hcl:12: Reference not allowed here\n")

	s = stacktest.InMemory(t, "-- main.tfcomponent.hcl --\n"+fakeRequired+`
provider "fake" "main" {}
stack "s" {
  source    = "./child"
  providers = { fake = provider.fake.main }
}
`+strings.Replace(child, "  type", "  default = null\n  type", 1), withFakeProvider)
	wantSummaries(t, s, "error main.tfcomponent.hcl:12: Unsupported argument\n")
}

// A bad message is reported though the condition holds; a good one is evaluated and says nothing.
func TestTrapC18MessagesOfConditionsThatHold(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
variable "v" {
  type    = string
  default = "x"
  validation {
    condition     = var.v == "x"
    error_message = ["no text"]
  }
  validation {
    condition     = var.v == "x"
    error_message = sensitive(var.v)
  }
  validation {
    condition     = var.v == "x"
    error_message = "Not x."
  }
}
`)
	if diags := s.Validate(); len(diags) > 0 {
		t.Errorf("validate:\n%s", stacktest.Explain(diags))
	}
	planFails(t, s, `error main.tfcomponent.hcl:10: Validation message would reveal a sensitive value
error main.tfcomponent.hcl:6: Unusable validation message
`)
}

// A result that changes with each call is not known before apply, when it is computed once.
func TestTrapC20ImpureFunctions(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
locals {
  id = uuid()
}
component "c" {
  source = "./echo"
  inputs = { in = local.id }
}
output "now" {
  type  = string
  value = timestamp()
}
output "hash" {
  type  = bool
  value = startswith(bcrypt("x"), "$2a$")
}
output "same" {
  type  = bool
  value = local.id == component.c.out
}
output "planned" {
  type  = bool
  value = plantimestamp() != ""
}
`+echoModule)
	wantPlan(t, s, `component.c: create, applyable
  terraform_data.this: create
output hash: create (unknown)
output now: create (unknown)
output planned: create true
output same: create (unknown)
`)
	s.Converge()
	for name, value := range s.State.Outputs {
		if !value.IsWhollyKnown() || value.Type() == cty.Bool && value.False() {
			t.Errorf("output %s = %#v", name, value)
		}
	}
	if names := slices.Sorted(maps.Keys(s.State.Outputs)); !slices.Equal(names, []string{"hash", "now", "planned", "same"}) {
		t.Errorf("outputs are %v", names)
	}
}
