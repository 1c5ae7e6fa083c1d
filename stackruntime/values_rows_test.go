// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/internal/testprovider"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

const passModule = `
-- pass/main.tf --
variable "in" {
  type    = any
  default = null
}
output "out" { value = var.in }
`

// planFails expects a plan that is not applyable, with these diagnostics.
func planFails(t *testing.T, s *stacktest.Stack, want string) {
	t.Helper()
	plan, diags := s.TryPlan(engine.Normal)
	if diff := cmp.Diff(want, stacktest.Summaries(diags)); diff != "" {
		t.Errorf("diagnostics (-want +got):\n%s%s", diff, stacktest.Explain(diags))
	}
	if plan != nil && plan.Applyable {
		t.Error("the plan is applyable")
	}
}

func samePlan(t *testing.T, s *stacktest.Stack, want string, adjust ...func(*stackruntime.PlanRequest)) {
	t.Helper()
	if diff := cmp.Diff(want, stacktest.PlanText(s.Plan(engine.Normal, adjust...))); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

func sameState(t *testing.T, s *stacktest.Stack, want string) {
	t.Helper()
	if diff := cmp.Diff(want, stacktest.StateText(s.State)); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
}

func TestRow050UndeclaredVariableInInputs(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
component "c" {
  source = "./pass"
  inputs = {
    in = var.missing
  }
}
component "other" { source = "./pass" }
`+passModule)
	planFails(t, s, "error main.tfcomponent.hcl:4: Unknown variable\n")
}

func TestRow051RequiredVariableWithoutValue(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
variable "needed" { type = string }
component "c" {
  source = "./pass"
  inputs = { in = var.needed }
}
output "twice" {
  type  = string
  value = "${var.needed}${var.needed}"
}
`+passModule)
	// Reported once, by the variable, though two others use it.
	planFails(t, s, "error main.tfcomponent.hcl:1: Value needed for variable\n")
	s.Inputs["needed"] = cty.NullVal(cty.String) // the same as none
	planFails(t, s, "error main.tfcomponent.hcl:1: Value needed for variable\n")
}

func TestRow052And053DefaultOfVariable(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
variable "size" {
  type    = number
  default = "3"
}
output "size" {
  type  = number
  value = var.size
}
`)
	const want = "input size: create 3\noutput size: create 3\n"
	samePlan(t, s, want)
	s.Inputs["size"] = cty.NullVal(cty.DynamicPseudoType)
	samePlan(t, s, want)
	s.Converge()
	sameState(t, s, "input size = 3\noutput size = 3\n")
}

func TestRow054OptionalAttributes(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
variable "given" {
  type = object({
    name  = optional(string, "n")
    inner = optional(object({ size = optional(number, 7), note = optional(string) }), {})
  })
}
component "direct" {
  source = "./pass"
  inputs = { in = var.given }
}
stack "child" {
  source = "./child"
  inputs = { given = {} }
}
output "direct" {
  type  = object({ name = string, inner = object({ size = number, note = string }) })
  value = component.direct.out
}
output "child" {
  type  = object({ name = string, inner = object({ size = number, note = string }) })
  value = stack.child.out
}
-- child/main.tfcomponent.hcl --
variable "given" {
  type = object({
    name  = optional(string, "n")
    inner = optional(object({ size = optional(number, 7), note = optional(string) }), {})
  })
}
component "nested" {
  source = "../pass"
  inputs = { in = var.given }
}
output "out" {
  type  = object({ name = string, inner = object({ size = number, note = string }) })
  value = component.nested.out
}
`+passModule)
	s.Inputs["given"] = cty.EmptyObjectVal
	const filled = `{inner = {note = null, size = 7}, name = "n"}`
	plan := s.Plan(engine.Normal)
	for name, got := range map[string]cty.Value{
		"recorded input": plan.Inputs["given"].After, "output direct": plan.Outputs["direct"].After, "output child": plan.Outputs["child"].After,
		"input of component.direct":             plan.Components[0].Inputs["in"],
		"input of stack.child.component.nested": plan.Components[1].Inputs["in"],
	} {
		if text := stacktest.ValueText(got); text != filled {
			t.Errorf("%s = %s, want %s", name, text, filled)
		}
	}
	s.Apply(plan)
	if got := stacktest.ValueText(s.State.Inputs["given"]); got != filled {
		t.Errorf("input in the state = %s, want %s", got, filled)
	}
}

func TestRow058NestedRoundTrip(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
variable "in" { type = string }
stack "child" {
  source = "./child"
  inputs = { in = var.in }
}
output "out" {
  type  = string
  value = stack.child.out
}
-- child/main.tfcomponent.hcl --
variable "in" { type = string }
output "out" {
  type  = string
  value = var.in
}
`)
	s.Inputs["in"] = cty.StringVal("round")
	samePlan(t, s, "input in: create \"round\"\noutput out: create \"round\"\n")
}

func TestRow066ListForSetVariable(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
variable "names" { type = set(string) }
component "c" {
  for_each = var.names
  source   = "./pass"
  inputs   = { in = each.value }
}
`+passModule)
	s.Inputs["names"] = list("b", "a", "b")
	samePlan(t, s, `input names: create ["a", "b"]
component.c["a"]: create, applyable
component.c["b"]: create, applyable
`)
}

func TestRow069InvalidOperandInLocalValue(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
locals {
  sum = 1 + "one"
}
component "user" {
  source = "./pass"
  inputs = { in = local.sum }
}
`+passModule)
	planFails(t, s, "error main.tfcomponent.hcl:2: Invalid operand\n")
}

const clock = `
-- main.tfcomponent.hcl --
component "c" { source = "./mod" }
stack "child" { source = "./child" }
output "root" {
  type  = string
  value = plantimestamp()
}
output "component" {
  type  = string
  value = component.c.now
}
output "child" {
  type  = string
  value = stack.child.now
}
-- child/main.tfcomponent.hcl --
component "c" { source = "../mod" }
output "now" {
  type  = string
  value = "${plantimestamp()} ${component.c.now}"
}
-- mod/main.tf --
output "now" { value = plantimestamp() }
`

func TestRow070And071PlanTimestamp(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(*testing.T) *stacktest.Stack{
		"memory": func(t *testing.T) *stacktest.Stack { return stacktest.InMemory(t, clock) },
		"real":   func(t *testing.T) *stacktest.Stack { return stacktest.Real(t, clock) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			check := func(instant string, adjust ...func(*stackruntime.PlanRequest)) {
				t.Helper()
				plan := s.Plan(engine.Normal, adjust...)
				if instant == "" {
					instant = plan.Timestamp.Format(time.RFC3339)
				}
				for output, want := range map[string]string{"root": instant, "component": instant, "child": instant + " " + instant} {
					if got := plan.Outputs[output].After; !got.RawEquals(cty.StringVal(want)) {
						t.Errorf("output %s = %s, want %q", output, stacktest.ValueText(got), want)
					}
				}
			}
			forced := time.Date(2001, 2, 3, 4, 5, 6, 0, time.FixedZone("", 3600))
			check("2001-02-03T03:05:06Z", func(req *stackruntime.PlanRequest) { req.Timestamp = forced })

			before := time.Now().UTC().Truncate(time.Second)
			check("")
			if got := s.Plan(engine.Normal).Timestamp; got.Before(before) || got.After(time.Now()) || got.Location() != time.UTC {
				t.Errorf("timestamp without a forced one = %s, want the time between %s and now, in UTC", got, before)
			}
		})
	}
}

func TestRow072LocalValuesOfManyShapes(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, `
-- main.tfcomponent.hcl --
variable "names" {
  type    = list(string)
  default = ["x", "y"]
}
component "reader" { source = "./reader" }
locals {
  read     = component.reader.read
  number   = 1.5 * 4
  tuple    = ["a", 1, true, null]
  object   = { a = local.number, (join("", ["k", "ey"])) = local.tuple }
  splat    = [for o in [{ n = 1 }, { n = 2 }] : o.n]
  filtered = { for n in var.names : n => upper(n) if n != "x" }
  grouped  = { for i, n in concat(var.names, var.names) : n => i... }
  text     = "%{ for n in var.names }(${n})%{ endfor }"
  choice   = length(var.names) > 1 ? local.read : "none"
  failsafe = try(local.object.missing, core::upper("fallback"))
  nested   = { all = [local.choice, local.failsafe, { deep = local.grouped.y[1] }] }
}
output "all" {
  type = object({
    number = number, tuple = tuple([string, number, bool, string]), key = tuple([string, number, bool, string])
    splat  = list(number), filtered = map(string), text = string, nested = tuple([string, string, map(number)])
  })
  value = {
    number   = local.object.a, tuple = local.tuple, key = local.object.key, splat = local.splat
    filtered = local.filtered, text = local.text, nested = local.nested.all
  }
}
-- reader/main.tf --
data "terraform_remote_state" "s" {
  backend  = "local"
  config   = { path = "./none.tfstate" }
  defaults = { word = "read" }
}
output "read" { value = data.terraform_remote_state.s.outputs.word }
-- reader/none.tfstate --
{"version": 4, "terraform_version": "1.0.0", "serial": 1, "lineage": "l", "outputs": {"word": {"value": "read", "type": "string"}}, "resources": []}
`)
	const want = `{filtered = {y = "Y"}, key = ["a", 1, true, null], nested = ["read", "FALLBACK", {deep = 3}], number = 6, ` +
		`splat = [1, 2], text = "(x)(y)", tuple = ["a", 1, true, null]}`
	plan := s.Plan(engine.Normal)
	if got := stacktest.ValueText(plan.Outputs["all"].After); got != want {
		t.Errorf("planned output all =\n%s, want\n%s", got, want)
	}
	s.Apply(plan)
	if got := stacktest.ValueText(s.State.Outputs["all"]); got != want {
		t.Errorf("output all =\n%s, want\n%s", got, want)
	}
}

// The values that the stack passes reach the provider each time it is configured.
func TestRow062ProviderConfigurationFromVariables(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, `
-- main.tfcomponent.hcl --
required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = ">= 0.0.0"
  }
}
variable "region" { type = string }
variable "token" {
  type      = string
  sensitive = true
  ephemeral = true
}
variable "sizes" { type = list(number) }
provider "fake" "main" {
  config {
    region = var.region
    token  = var.token
    list   = var.sizes
    map    = { a = "${var.region}-a" }
  }
}
component "c" {
  source    = "./mod"
  providers = { fake = provider.fake.main }
}
-- mod/main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
resource "fake_computed" "a" {}
output "region" { value = fake_computed.a.region }
`)
	s.Inputs["region"] = cty.StringVal("eu")
	s.Inputs["sizes"] = cty.ListVal([]cty.Value{cty.NumberIntVal(1), cty.NumberIntVal(2)})
	s.Ephemeral["token"] = cty.StringVal("hush")
	s.Converge()
	calls, err := testprovider.ReadCalls(s.Calls)
	if err != nil {
		t.Fatal(err)
	}
	for _, rpc := range []string{"ValidateProviderConfig", "ConfigureProvider"} {
		var found int
		for _, call := range calls {
			if call.RPC != rpc || rpc == "ValidateProviderConfig" && len(call.Unknown) > 0 {
				continue // the engine also validates before it has any values
			}
			found++
			var config map[string]any
			if err := json.Unmarshal(call.Config, &config); err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprintf("%v %v %v %v", config["region"], config["token"], config["list"], config["map"])
			if want := "eu hush [1 2] map[a:eu-a]"; got != want || len(call.Unknown) > 0 {
				t.Errorf("%s got %s and %v unknown, want %s", rpc, got, call.Unknown, want)
			}
		}
		if found < 2 {
			t.Errorf("%s was called %d times with values, want once for the plan and once for the apply at least", rpc, found)
		}
	}
}
