// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/internal/wantdiag"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// wantMistakes compares the diagnostics of validating, and of planning, with those that the files
// expect, and returns the former.
func wantMistakes(t *testing.T, s *stacktest.Stack) hcl.Diagnostics {
	t.Helper()
	want := expected(t, s)
	found := s.Validate()
	want.compare(t, "validate", found)
	plan, diags := s.TryPlan(engine.Normal)
	want.compare(t, "plan", diags)
	if plan != nil && plan.Applyable && found.HasErrors() {
		t.Error("the plan is applyable")
	}
	return found
}

// expectation is the outcome that the files of a stack expect (see package wantdiag).
type expectation struct {
	dir   string
	diags []string
}

// expected reads the files of a stack, before an operation adds others.
func expected(t *testing.T, s *stacktest.Stack) expectation {
	t.Helper()
	diags, err := wantdiag.Expected(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(diags) == 0 {
		t.Fatal("the stack expects no diagnostics")
	}
	return expectation{s.Dir, diags}
}

func (e expectation) compare(t *testing.T, operation string, found hcl.Diagnostics) {
	t.Helper()
	source := func(filename string) []byte {
		src, err := os.ReadFile(filepath.Join(e.dir, filepath.FromSlash(filename)))
		if err != nil {
			t.Errorf("a diagnostic names %q, which cannot be read: %s", filename, err)
		}
		return src
	}
	if diff := cmp.Diff(e.diags, wantdiag.Found(found, source)); diff != "" {
		t.Errorf("%s: diagnostics (-want +got):\n%s%s", operation, diff, stacktest.Explain(found))
	}
}

const fakeModule = `
-- fake/main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
variable "in" {
  type    = string
  default = ""
}
resource "fake_resource" "this" { value = var.in }
output "out" { value = fake_resource.this.value }
`

// The same as the fixtures of these rows, with a real provider and real modules.
func TestRowsMistakesWithProviders(t *testing.T) {
	const stack = "-- main.tfcomponent.hcl --\n" + fakeRequired
	for name, test := range map[string]struct{ archive, detail string }{
		"032_not_declared": {stack + `
component "a" {
  source    = "./fake"
  providers = { fake = provider.fake.missing } # want error "Unknown provider configuration" ` + "`provider.fake.missing`" + `
}
removed {
  from      = component.b
  source    = "./fake"
  providers = { fake = provider.fake.missing } # want error "Unknown provider configuration" ` + "`provider.fake.missing`" + `
}
`, `"fake"`},
		"033_slot_not_assigned": {stack + `
component "a" { # want error "Provider slot not filled" ` + "`component \"a\"`" + `
  source = "./fake"
}
removed { # want error "Provider slot not filled" ` + "`removed`" + `
  from   = component.b
  source = "./fake"
}
`, "registry.terraform.io/cairnstacks/fake"},
		"034_other_provider": {stack + `
provider "terraform" "main" {}
component "a" {
  source    = "./fake"
  providers = { fake = provider.terraform.main } # want error "Wrong provider for slot" ` + "`provider.terraform.main`" + `
}
removed {
  from      = component.b
  source    = "./fake"
  providers = { fake = provider.terraform.main } # want error "Wrong provider for slot" ` + "`provider.terraform.main`" + `
}
`, "terraform.io/builtin/terraform"},
		"035_unknown_argument": {stack + `
provider "fake" "main" {
  config {
    region = "eu"
    nation = "x" # want error "Unsupported argument" ` + "`nation`" + `
  }
}
component "a" {
  source    = "./fake"
  providers = { fake = provider.fake.main }
}
`, `"nation"`},
		"039_provider_as_input": {stack + `
provider "fake" "main" {}
component "a" {
  source    = "./fake"
  inputs    = { in = provider.fake.main } # want error "Component inputs do not fit" ` + "`provider.fake.main`" + `
  providers = { fake = provider.fake.main }
}
`, "string required"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, diag := range wantMistakes(t, stacktest.Real(t, test.archive+fakeModule)) {
				if !strings.Contains(diag.Detail, test.detail) {
					t.Errorf("the detail has no %q: %s", test.detail, diag.Detail)
				}
			}
		})
	}
}

// The report names the dependencies all round, from the alphabetically first item on.
func TestRow041And042And238NamesInCycles(t *testing.T) {
	const child = `
-- child/main.tfcomponent.hcl --
variable "in" { type = string }
output "out" {
  type  = string
  value = var.in
}
`
	for name, test := range map[string]struct {
		archive string
		want    []string
	}{
		"041 embedded stack": {`
-- main.tfcomponent.hcl --
stack "a" {
  source = "./child"
  inputs = { in = stack.a.out }
}
` + child, []string{"stack.a collected outputs", "stack.a.output.out", "stack.a inputs"}},
		"042 components": {`
-- main.tfcomponent.hcl --
component "b" {
  source = "./echo"
  inputs = { in = component.a.out }
}
component "a" {
  source = "./echo"
  inputs = { in = component.b.out }
}
` + echoModule, []string{"component.a", "component.b"}},
		"component alone": {`
-- main.tfcomponent.hcl --
component "a" {
  source   = "./echo"
  for_each = component.a
}
` + echoModule, []string{"component.a"}},
		"locals": {`
-- main.tfcomponent.hcl --
locals {
  b = local.c
  c = local.a
  a = local.b
}
`, []string{"local.a", "local.b", "local.c"}},
		"for_each of a stack": {`
-- main.tfcomponent.hcl --
stack "a" {
  source   = "./plain"
  for_each = toset(keys(stack.a))
}
-- plain/main.tfcomponent.hcl --
output "out" {
  type  = string
  value = "constant"
}
`, []string{"stack.a collected outputs", "stack.a for_each"}},
		"provider": {`
-- main.tfcomponent.hcl --
` + fakeRequired + `
provider "fake" "main" {
  config { region = component.a.out }
}
component "a" {
  source    = "./echo"
  providers = { fake = provider.fake.main }
}
` + echoModule, []string{"component.a", `provider["registry.terraform.io/cairnstacks/fake"].main`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for round := range 5 {
				s := stacktest.InMemory(t, test.archive, withFakeProvider)
				_, planning := s.TryPlan(engine.Normal)
				for operation, diags := range map[string]hcl.Diagnostics{"validate": s.Validate(), "plan": planning} {
					if diff := cmp.Diff(test.want, cycle(diags)); diff != "" {
						t.Fatalf("%s, round %d: names in the report (-want +got):\n%s\n%s", operation, round, diff, stacktest.Explain(diags))
					}
				}
			}
		})
	}
}

// cycle returns the names in the only diagnostic; nil if that is not about a cycle.
func cycle(diags hcl.Diagnostics) []string {
	if len(diags) != 1 || diags[0].Severity != hcl.DiagError || diags[0].Subject == nil {
		return nil
	}
	var names []string
	for line := range strings.Lines(diags[0].Detail) {
		if item, ok := strings.CutPrefix(line, "  - "); ok {
			item, _, _ = strings.Cut(item, ", at ")
			names = append(names, item)
		}
	}
	one := diags[0].Summary == "Item depends on itself"
	if many := diags[0].Summary == "Items depend on each other in a circle"; one != (len(names) == 1) || one == many {
		return nil
	}
	return names
}

// One error at the provider block, none of the component that would need the provider.
func TestRow043ProviderNotLocked(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, "-- main.tfcomponent.hcl --\n"+fakeRequired+`
provider "fake" "main" {} # want error "Provider not locked" `+"`provider \"fake\" \"main\"`"+`
component "a" {
  source    = "./fake"
  providers = { fake = provider.fake.main }
}
`+fakeModule)
	want := expected(t, s)
	config, diags := stackconfig.Load(s.Dir)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	opts := stackruntime.Options{Config: config, Session: s.Open(), Locks: map[stackaddrs.Provider]string{}}
	want.compare(t, "validate", stackruntime.Validate(t.Context(), opts))
	plan, diags := stackruntime.Plan(t.Context(), stackruntime.PlanRequest{Options: opts})
	want.compare(t, "plan", diags)
	if plan.Applyable {
		t.Error("the plan is applyable")
	}
}
