// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
)

var fakeProvider = stackaddrs.Provider{Hostname: "registry.terraform.io", Namespace: "cairnstacks", Type: "fake"}

// withFakeProvider is an engine in memory that knows the fake provider, with a region as its only
// setting.
var withFakeProvider = memengine.Options{Providers: map[stackaddrs.Provider]engine.ProviderSchema{
	fakeProvider: {Config: engine.Block{Attributes: map[string]engine.Attribute{"region": {Type: cty.String}}}},
}}

// wantPlan checks that a stack is valid, and compares its plan.
func wantPlan(t *testing.T, s *stacktest.Stack, want string) {
	t.Helper()
	if diags := s.Validate(); len(diags) > 0 {
		t.Errorf("validate:\n%s", stacktest.Explain(diags))
	}
	plan, diags := s.TryPlan(engine.Normal)
	if len(diags) > 0 {
		t.Fatalf("plan:\n%s", stacktest.Explain(diags))
	}
	if diff := cmp.Diff(want, stacktest.PlanText(plan)); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

func TestRowsValidStacks(t *testing.T) {
	for name, test := range map[string]struct {
		archive string
		inputs  map[string]cty.Value
		plan    string
	}{
		"018_no_file":    {"-- README --\nNo stack file.\n", nil, ""},
		"018_empty_file": {"-- main.tfcomponent.hcl --\n# Nothing.\n", nil, ""},
		"019_defaults": {`
-- main.tfcomponent.hcl --
variable "text" {
  type    = string
  default = "t"
}
variable "count" {
  type    = number
  default = 2
}
output "text" {
  type  = string
  value = var.text
}
output "count" {
  type  = number
  value = var.count
}
`, nil, `input count: create 2
input text: create "t"
output count: create 2
output text: create "t"
`},
		"020_round_trip": {`
-- main.tfcomponent.hcl --
variable "in" { type = map(string) }
output "out" {
  type  = map(string)
  value = var.in
}
`, map[string]cty.Value{"in": cty.MapVal(map[string]cty.Value{"k": cty.StringVal("v")})}, `input in: create {k = "v"}
output out: create {k = "v"}
`},
		"021_round_trip_through_stack": {`
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
`, map[string]cty.Value{"in": cty.StringVal("v")}, `input in: create "v"
output out: create "v"
`},
		"024_output_as_input": {`
-- main.tfcomponent.hcl --
component "a" {
  source = "./echo"
  inputs = { in = "x" }
}
component "b" {
  source = "./echo"
  inputs = { in = component.a.out }
}
` + echoModule, nil, `component.a: create, applyable
  terraform_data.this: create
component.b: create, applyable, requires component.a
  terraform_data.this: create
`},
		"025_all_instances_as_input": {`
-- main.tfcomponent.hcl --
component "each" {
  for_each = toset(["one", "two", "three"])
  source   = "./echo"
  inputs   = { in = each.value }
}
component "all" {
  source = "./echo"
  inputs = { in = [for c in component.each : c.out] }
}
` + echoModule, nil, `component.all: create, applyable, requires component.each
  terraform_data.this: create
component.each["one"]: create, applyable
  terraform_data.this: create
component.each["three"]: create, applyable
  terraform_data.this: create
component.each["two"]: create, applyable
  terraform_data.this: create
`},
		"026_other_local_name": {`
-- main.tfcomponent.hcl --
required_providers {
  pretended = {
    source  = "cairnstacks/fake"
    version = ">= 1.0.0"
  }
}
provider "pretended" "main" {}
component "a" {
  source    = "./mod"
  providers = { fake = provider.pretended.main }
}
-- mod/main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
resource "terraform_data" "this" {}
`, nil, `component.a: create, applyable
  terraform_data.this: create
`},
		"027_component_with_provider": {`
-- main.tfcomponent.hcl --
required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = ">= 1.0.0"
  }
}
provider "fake" "main" {
  config { region = "eu" }
}
component "a" {
  source    = "./mod"
  inputs    = { in = "x" }
  providers = { fake = provider.fake.main }
}
-- mod/main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
variable "in" { type = string }
resource "terraform_data" "this" { input = var.in }
`, nil, `component.a: create, applyable
  terraform_data.this: create
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stacktest.InMemory(t, test.archive, withFakeProvider)
			s.Inputs = test.inputs
			wantPlan(t, s, test.plan)
		})
	}
}

const fakeRequired = `
required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = ">= 1.0.0"
  }
}
`

func TestRow022AliasedSlots(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, `
-- main.tfcomponent.hcl --
`+fakeRequired+`
provider "fake" "north" {
  config { region = "north" }
}
provider "fake" "south" {
  config { region = "south" }
}
component "a" {
  source = "./mod"
  providers = {
    fake.one = provider.fake.south
    fake.two = provider.fake.north
  }
}
-- mod/main.tf --
terraform {
  required_providers {
    fake = {
      source                = "cairnstacks/fake"
      configuration_aliases = [fake.one, fake.two]
    }
  }
}
resource "fake_computed" "one" {
  provider = fake.one
  id       = "one"
}
resource "fake_computed" "two" {
  provider = fake.two
  id       = "two"
}
output "regions" { value = "${fake_computed.one.region} ${fake_computed.two.region}" }
`)
	wantPlan(t, s, `component.a: create, applyable
  fake_computed.one: create
  fake_computed.two: create
`)
	s.Converge()
	sameState(t, s, `component.a
  fake_computed.one
  fake_computed.two
  out regions = "south north"
`)
}

func TestRow028ProviderForEach(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, `
-- main.tfcomponent.hcl --
`+fakeRequired+`
provider "fake" "by_region" {
  for_each = toset(["north", "south"])
  config { region = each.value }
}
component "a" {
  source    = "./mod"
  providers = { fake = provider.fake.by_region["south"] }
}
-- mod/main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
resource "fake_computed" "this" { id = "this" }
output "region" { value = fake_computed.this.region }
`)
	wantPlan(t, s, `component.a: create, applyable
  fake_computed.this: create
`)
	s.Converge()
	sameState(t, s, `component.a
  fake_computed.this
  out region = "south"
`)
}
