// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// A module in JSON takes inputs that are known during apply, in all places where there are
// expressions; so does one of which only a part is in JSON, and so do override files.
func TestModulesInJSON(t *testing.T) {
	f := newFeature(t, "later = component.up.later, list = [component.up.later, \"known\"]", `
-- mod/main.tf.json --
{
  "terraform": {"required_providers": {"fake": {"source": "cairnstacks/fake"}}},
  "variable": {
    "later": {"type": "string", "validation": [{"condition": "${var.later != \"\"}", "error_message": "Empty."}]},
    "list": {"type": "list(string)"}
  },
  "locals": {"text": "<${var.later}>"},
  "import": [{"to": "fake_resource.found", "id": "found"}],
  "resource": {
    "fake_resource": {
      "a": {"value": "${local.text} and ${var.list[1]}", "lifecycle": {"precondition": [{"condition": "${length(var.later) > 2}", "error_message": "Too short: ${var.later}."}]}},
      "counted": {"count": "${length(var.list)}", "value": "${var.list[count.index]}"},
      "found": {"id": "found"}
    },
    "fake_everything": {"b": {"list_block": [{"name": "x", "value": "${var.later}"}, {"name": "y", "inner": {"name": "${var.later}"}}]}}
  },
  "check": {"c": {"assert": [{"condition": "${var.later == \"later-name\"}", "error_message": "It is ${var.later}."}]}},
  "module": {"child": {"source": "./child", "in": "${var.later}"}},
  "output": {
    "a": {"value": "${fake_resource.a.value}"},
    "counted": {"value": "${fake_resource.counted[*].value}"},
    "blocks": {"value": "${[for b in fake_everything.b.list_block : [b.name, b.value]]}"},
    "overridden": {"value": "${var.list}"}
  }
}
-- mod/more.tf --
output "child" { value = "${module.child.out}, ${var.later}" }
-- mod/x_override.tf --
output "overridden" { value = "native ${var.later}" }
-- mod/y_override.tf.json --
{"output": {"child": {"value": "${module.child.out} and ${var.later}"}}}
-- mod/child/main.tf --
variable "in" { type = string }
output "out" { value = upper(var.in) }
`)
	f.put("found")
	noDiagnostics(t, "Validate", f.validate())
	plan := f.plan(engine.Normal)
	wantCounts(t, "plan", plan.Counts(), stackplan.Counts{Add: 5, Import: 1})
	f.apply(plan)
	f.wantOutputs(map[string]cty.Value{
		"a":       cty.StringVal("<later-name> and known"),
		"counted": cty.TupleVal([]cty.Value{cty.StringVal("later-name"), cty.StringVal("known")}),
		"blocks": cty.TupleVal([]cty.Value{
			cty.TupleVal([]cty.Value{cty.StringVal("x"), cty.StringVal("later-name")}),
			cty.TupleVal([]cty.Value{cty.StringVal("y"), cty.NullVal(cty.String)}),
		}),
		"overridden": cty.StringVal("native later-name"),
		"child":      cty.StringVal("LATER-NAME and later-name"),
	})
	f.settled()

	f.inputs = map[string]cty.Value{"name": cty.StringVal("other")}
	result, diags := f.tryApply(f.plan(engine.Normal))
	wantDiagnostic(t, diags, hcl.DiagWarning, "It is later-other.")
	if o := outcome(t, result); o.Status != hooks.Applied {
		t.Errorf("status %s: %s", o.Status, explain(diags))
	}
}

// Configurations of providers go down through modules by their aliases.
func TestNestedModulesWithProviderAliases(t *testing.T) {
	testenv.CLIConfig(t, testenv.FakeProviderMirror(t))
	t.Setenv("CAIRN_FAKE_STORE", t.TempDir())
	f := &feature{stack: newStack(t, `
-- main.tfcomponent.hcl --
required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = "~> 1.0"
  }
}
provider "fake" "each" {
  for_each = toset(["eu", "us", "asia"])
  config {
    region = each.key
  }
}
component "c" {
  source = "./mod"
  providers = {
    fake      = provider.fake.each["eu"]
    fake.west = provider.fake.each["us"]
    fake.east = provider.fake.each["asia"]
  }
}
-- mod/main.tf --
terraform {
  required_providers {
    fake = {
      source                = "cairnstacks/fake"
      configuration_aliases = [fake.west, fake.east]
    }
  }
}
resource "fake_computed" "default" {}
resource "fake_computed" "west" {
  provider = fake.west
}
module "inherits" { source = "./leaf" }
module "passes" {
  source = "./middle"
  providers = {
    fake.first  = fake.west
    fake.second = fake.east
  }
}
output "regions" {
  value = [fake_computed.default.region, fake_computed.west.region, module.inherits.region, module.passes.regions]
}
-- mod/middle/main.tf --
terraform {
  required_providers {
    fake = {
      source                = "cairnstacks/fake"
      configuration_aliases = [fake.first, fake.second]
    }
  }
}
module "leaf" {
  source    = "../leaf"
  providers = { fake = fake.second }
}
resource "fake_computed" "first" {
  provider = fake.first
}
output "regions" { value = [fake_computed.first.region, module.leaf.region] }
-- mod/leaf/main.tf --
`+fakeModule+`
resource "fake_computed" "a" {}
output "region" { value = fake_computed.a.region }
`)}
	f.run()
	str := cty.StringVal
	f.wantOutputs(map[string]cty.Value{
		"regions": cty.TupleVal([]cty.Value{str("eu"), str("us"), str("eu"), cty.TupleVal([]cty.Value{str("us"), str("asia")})}),
	})
	f.settled()
	f.destroyed()
}

// The requirements and settings in the terraform block of a module.
func TestTerraformBlockOfModules(t *testing.T) {
	t.Run("required_version is met", func(t *testing.T) {
		f := newFeature(t, "", "\n-- mod/main.tf --\nterraform {\n  required_version = \">= 1.10, < 2.0\"\n}\n")
		f.run()
		f.settled()
	})
	t.Run("backend and cloud are ignored", func(t *testing.T) {
		f := newFeature(t, "later = component.up.later", `
-- mod/main.tf --
terraform {
  backend "s3" {
    bucket = "none"
  }
}
variable "later" { type = string }
resource "terraform_data" "a" { input = var.later }
output "a" { value = terraform_data.a.output }
-- mod/more.tf.json --
{"terraform": {"cloud": {"organization": "none"}}}
`)
		if diags := f.validate(); len(diags) > 0 {
			t.Errorf("Validate: got %v, want nothing", diags)
		}
		f.run()
		f.wantOutputs(map[string]cty.Value{"a": cty.StringVal("later-name")})
		f.settled()
	})
}

// OpenTofu takes neither required_version nor experiments for its own.
func TestTerraformBlockForTerraform(t *testing.T) {
	t.Run("required_version is not met", func(t *testing.T) {
		f := newFeature(t, "", `
-- mod/main.tf --
terraform {
  required_version = "~> 0.12.0"
}
resource "terraform_data" "a" {}
`)
		if f.isTofu() {
			f.run()
			return
		}
		_, diags := f.tryPlan(engine.Normal)
		wantAt(t, wantDiagnostic(t, diags, hcl.DiagError, "Unsupported "), "mod/main.tf", 2)
		wantDiagnostic(t, diags, hcl.DiagError, f.opts.Session.Info().Version)
	})
	t.Run("required_version of a called module is not met", func(t *testing.T) {
		f := newFeature(t, "", `
-- mod/main.tf --
module "child" { source = "./child" }
-- mod/child/main.tf --
terraform {
  required_version = "< 1.0"
}
`)
		if f.isTofu() {
			f.run()
			return
		}
		_, diags := f.tryPlan(engine.Normal)
		wantAt(t, wantDiagnostic(t, diags, hcl.DiagError, "Unsupported "), "mod/child/main.tf", 2)
	})
	t.Run("experiment", func(t *testing.T) {
		f := newFeature(t, "", "\n-- mod/main.tf --\nterraform {\n  experiments = [no_such_thing]\n}\n")
		if f.isTofu() {
			f.run()
			return
		}
		_, diags := f.tryPlan(engine.Normal)
		wantAt(t, wantDiagnostic(t, diags, hcl.DiagError, "xperiment"), "mod/main.tf", 2)
	})
}

// Conditions of resources, too, hold for inputs that only apply knows, in modules that are called
// several times.
func TestConditionsInRepeatedModules(t *testing.T) {
	f := newFeature(t, "later = component.up.later", `
-- mod/main.tf --
variable "later" { type = string }
module "child" {
  source   = "./child"
  for_each = toset(["a", "b"])
  value    = "${each.key}-${var.later}"
}
-- mod/child/main.tf --
variable "value" {
  type = string
  validation {
    condition     = var.value != "b-later-name"
    error_message = "Not ${var.value}."
  }
}
resource "terraform_data" "a" { input = var.value }
`)
	result, diags := f.tryApply(f.plan(engine.Normal))
	if at := wantDiagnostic(t, diags, hcl.DiagError, "Not b-later-name."); !strings.HasPrefix(at.Filename, "mod/") {
		t.Errorf("reported at %v", at)
	}
	if o := outcome(t, result); o.Status != hooks.Failed {
		t.Errorf("status %s, want %s", o.Status, hooks.Failed)
	}
}
