// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// TestForEachIsEvaluatedOnce evaluates each for_each argument once without values, and then once in
// each stack instance, whatever else asks for the instances: references, dependencies, moves,
// outputs, the state.
func TestForEachIsEvaluatedOnce(t *testing.T) {
	w := newWorld(t, `
-- main.tfcomponent.hcl --
required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = ">= 1.0.0"
  }
}
locals {
  keys = ["a", "b"]
}
provider "fake" "each" {
  for_each = toset([for k in local.keys : k])
}
component "keyed" {
  for_each = toset([for k in local.keys : k])
  source   = "./slot"
  inputs   = { in = "${each.key}${each.value}" }
  providers = {
    fake = provider.fake.each[each.key]
  }
}
component "user" {
  for_each   = { for k, c in component.keyed : k => c.out }
  source     = "./echo"
  inputs     = { in = each.value }
  depends_on = [component.keyed, stack.inner]
}
stack "inner" {
  for_each = { for k in local.keys : k => k }
  source   = "./inner"
  inputs   = { keys = [for k, c in component.keyed : c.out] }
}
removed {
  for_each = toset([for k in local.keys : k])
  from     = component.former[each.key]
  source   = "./echo"
}
moved {
  from = component.other
  to   = component.keyed["a"]
}
output "all" {
  type  = map(string)
  value = { for k, c in component.user : k => "${c.out}${stack.inner[k].first}" }
}
-- inner/main.tfcomponent.hcl --
variable "keys" { type = list(string) }
component "echo" {
  for_each = toset([for k in var.keys : "k${k}"])
  source   = "../echo"
  inputs   = { in = each.key }
}
output "first" {
  type  = string
  value = [for c in component.echo : c.out][0]
}
-- slot/main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
variable "in" { type = string }
resource "terraform_data" "this" { input = var.in }
output "out" { value = terraform_data.this.output }
`+echoModule, memengine.Options{Providers: map[stackaddrs.Provider]engine.ProviderSchema{fakeProvider: {}}})
	var evaluations stacktest.Evaluations
	count := func(opts stackruntime.Options) {
		evaluations = stacktest.Evaluations{}
		countForEach(opts.Config.Root, "", evaluations)
	}
	check := func(phase string, want map[string]int) {
		t.Helper()
		if diff := cmp.Diff(want, evaluations.Take()); diff != "" {
			t.Errorf("%s: evaluations (-want +got):\n%s", phase, diff)
		}
	}

	opts, diags := w.Options()
	count(opts)
	if diags = diags.Extend(stackruntime.Validate(t.Context(), opts)); diags.HasErrors() {
		t.Fatal(describe(diags))
	}
	once := map[string]int{
		"provider.fake.each": 1, "component.keyed": 1, "component.user": 1, "stack.inner": 1, "removed": 1,
		"stack.inner.component.echo": 1,
	}
	check("Validate", once)

	plan := w.Plan(engine.Normal, func(req *stackruntime.PlanRequest) { count(req.Options) })
	instances := maps.Clone(once)
	instances["stack.inner.component.echo"] = 2
	both := map[string]int{}
	for name := range once {
		both[name] = once[name] + instances[name]
	}
	check("Plan", both) // which validates, too

	w.Apply(plan, func(req *stackruntime.ApplyRequest) { count(req.Options) })
	check("Apply", instances)
}

// countForEach counts the evaluations of the arguments of all blocks in a stack, by the addresses
// of the blocks.
func countForEach(stack *stackconfig.Stack, path string, evaluations stacktest.Evaluations) {
	for ref, p := range stack.Providers {
		evaluations.Count(path+ref.String(), &p.ForEach)
	}
	for name, c := range stack.Components {
		evaluations.Count(path+"component."+name, &c.ForEach)
	}
	for _, r := range stack.Removed {
		evaluations.Count(path+"removed", &r.ForEach)
	}
	for name, call := range stack.Calls {
		evaluations.Count(path+"stack."+name, &call.ForEach)
		countForEach(stack.Children[name], path+"stack."+name+".", evaluations)
	}
}
