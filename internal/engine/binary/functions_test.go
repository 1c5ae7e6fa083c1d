// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

const functionStack = `
-- main.tfcomponent.hcl --
required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = "1.0.0"
  }
}
provider "fake" "this" {}
component "c" {
  source    = "./mod"
  inputs    = { in = provider::fake::echo("from the stack") }
  providers = { fake = provider.fake.this }
}
output "out" {
  type  = string
  value = provider::fake::echo("<${component.c.out}>")
}
-- mod/main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
variable "in" { type = string }
resource "terraform_data" "this" { input = provider::fake::echo("${var.in}, from the module") }
output "out" { value = provider::fake::echo(terraform_data.this.output) }
`

// Row 192 of docs/language.md. Results of calls in a module are in the engine's own plan, those of
// calls in the stack in ours; both are checked when applying.
func TestRow192ProviderFunctionsAtPlanAndApply(t *testing.T) {
	testenv.SkipUnderRace(t, "the contract of engines does the same things at the same time")
	testenv.CLIConfig(t, testenv.FakeProviderMirror(t))
	s := newStack(t, functionStack)
	plan := s.plan(engine.Normal)
	if len(plan.FunctionResults) != 1 {
		t.Fatalf("the plan has %d results of functions, want 1: the argument of the other call is not known yet", len(plan.FunctionResults))
	}
	altered := *plan
	altered.FunctionResults = append(altered.FunctionResults[:0:0], plan.FunctionResults...)
	altered.FunctionResults[0].Result[0] ^= 1
	_, diags := stackruntime.Apply(t.Context(), stackruntime.ApplyRequest{Options: s.opts, Plan: &altered, Prior: s.state})
	if !strings.Contains(explain(diags), "something else for the same arguments") {
		t.Errorf("apply where a function returned something else while planning:\n%swant an error that says so", explain(diags))
	}

	s.apply(plan)
	want := cty.StringVal("<from the stack, from the module>")
	if got := s.state.Outputs["out"]; !got.RawEquals(want) {
		t.Errorf("output = %#v, want %#v", got, want)
	}
	for _, c := range s.plan(engine.Normal).Components {
		if counts := c.Counts(); counts.Total() != 0 {
			t.Errorf("after the apply, the plan of %s has changes: %+v", c.Addr, counts)
		}
	}
}

// The program of a provider may be gone, though it is locked.
func TestFunctionsOfProviderNotInstalled(t *testing.T) {
	testenv.CLIConfig(t, testenv.FakeProviderMirror(t))
	s := newStack(t, functionStack)
	caller := s.opts.Session.Abilities().Functions
	provider := stackaddrs.Provider{Hostname: "registry.terraform.io", Namespace: "cairnstacks", Type: "other"}
	if _, err := caller.Functions(t.Context(), provider); err == nil || !strings.Contains(err.Error(), "is not installed") {
		t.Errorf("functions of a provider that nothing requires: %v, want that it is not installed", err)
	}
	if functions, err := caller.Functions(t.Context(), stackaddrs.BuiltinProvider); err != nil || len(functions) != 0 {
		t.Errorf("functions of the built-in provider: %v, %v, want none", functions, err)
	}

	platforms, err := filepath.Glob(filepath.Join(s.opts.Config.Root.Dir, ".cairn", "init", ".terraform", "providers", "*", "cairnstacks",
		"fake", "1.0.0", "*_*64"))
	if err != nil || len(platforms) != 1 {
		t.Fatalf("installed packages: %v (%v), want one", platforms, err)
	}
	if err := os.RemoveAll(platforms[0]); err != nil {
		t.Fatal(err)
	}
	provider.Type = "fake"
	if _, err := caller.Functions(t.Context(), provider); err == nil || !strings.Contains(err.Error(), "is not installed") {
		t.Errorf("functions of a provider that was removed: %v, want that it is not installed", err)
	}
	if err := os.MkdirAll(filepath.Join(platforms[0], "terraform-provider-fake"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(platforms[0], "terraform-provider-faker"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := caller.Functions(t.Context(), provider); err == nil ||
		!strings.Contains(err.Error(), "which is none of those that are locked") {
		t.Errorf("functions of a provider whose package is another one: %v, want that its program is not run", err)
	}
}
