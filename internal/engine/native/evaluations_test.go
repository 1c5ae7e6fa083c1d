// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package native_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/engine/native/nativetest"
	"github.com/cairnstacks/cairn/internal/engine/native/validate"
	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/providers/builtin"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// TestRepetitionsAreEvaluatedOnce evaluates count and for_each arguments once in each phase for
// each instance of their module, whatever else asks for the instances: references, checks, moves,
// imports, dependencies, outputs.
func TestRepetitionsAreEvaluatedOnce(t *testing.T) {
	c := nativetest.New(t, `
-- main.tf --
locals {
  keys = ["a", "b"]
}
resource "terraform_data" "keyed" {
  for_each = toset([for k in local.keys : k])
  input    = "${each.key}${each.value}"

  lifecycle {
    create_before_destroy = true
    precondition {
      condition     = each.key != "z"
      error_message = "${each.key} is wrong"
    }
    postcondition {
      condition     = self.input != ""
      error_message = "${each.value} is empty"
    }
  }
}
resource "terraform_data" "counted" {
  count      = length(local.keys)
  input      = terraform_data.keyed[local.keys[count.index]].id
  depends_on = [module.called]

  lifecycle {
    replace_triggered_by = [terraform_data.keyed]
  }
}
module "called" {
  for_each = { for k in local.keys : k => terraform_data.keyed }
  source   = "./called"
  n        = length(each.value)
}
moved {
  from = terraform_data.former
  to   = terraform_data.keyed
}
moved {
  from = module.former
  to   = module.called["a"]
}
moved {
  from = module.other
  to   = module.called
}
import {
  for_each = { for k in local.keys : k => k if k != "a" }
  to       = terraform_data.keyed[each.key]
  id       = each.value
}
check "all" {
  assert {
    condition     = alltrue([for r in terraform_data.keyed : r.input != "z"])
    error_message = "z"
  }
}
output "all" {
  value = [terraform_data.keyed, terraform_data.counted[*].id, module.called]
}
-- called/main.tf --
variable "n" {
  type = number
}
resource "terraform_data" "inner" {
  count = min(var.n, 2)
}
data "terraform_remote_state" "none" {
  for_each = toset([for k in ["a"] : k if k != "a"])
  backend  = "local"
}
output "ids" {
  value = terraform_data.inner[*].id
}
-- prior --
terraform_data.former["a"] {"id":"1","input":{"type":"string","value":"aa"}}
terraform_data.keyed["gone"] {"id":"2"}
module.former.terraform_data.inner {"id":"3"}
`)
	evaluations := stacktest.Evaluations{}
	countRepetitions(c.Tree, "", evaluations)
	check := func(phase string, want map[string]int) {
		t.Helper()
		if diff := cmp.Diff(want, evaluations.Take()); diff != "" {
			t.Errorf("%s: evaluations (-want +got):\n%s", phase, diff)
		}
	}

	diags := validate.Tree(t.Context(), c.Tree, validate.Options{
		Schemas: builtinSchemas{}, Functions: nativetest.Functions(lang.Options{PureOnly: true}), RootPath: ".", WorkPath: c.Dir,
	})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	once := map[string]int{
		"terraform_data.keyed": 1, "terraform_data.counted": 1, "module.called": 1, "import": 1,
		"module.called.terraform_data.inner": 1, "module.called.data.terraform_remote_state.none": 1,
	}
	check("Validate", once)

	plan := c.Plan(t, nil)
	if plan.Diags.HasErrors() {
		t.Fatal(plan.Diags)
	}
	instances := maps.Clone(once)
	instances["module.called.terraform_data.inner"] = 2
	instances["module.called.data.terraform_remote_state.none"] = 2
	check("Plan", instances)

	if applied := c.Apply(t, plan, nil); applied.Diags.HasErrors() {
		t.Fatal(applied.Diags)
	}
	instances["import"] = 0                                         // the plan has the imports
	instances["module.called.data.terraform_remote_state.none"] = 0 // nothing asks for it
	check("Apply", instances)
}

// builtinSchemas has the schemas of the provider that the module uses.
type builtinSchemas struct{}

func (builtinSchemas) Schema(stackaddrs.Provider) *schema.Provider { return builtin.Schema() }

// countRepetitions counts the evaluations of the arguments of all blocks in a tree, by the
// addresses of the blocks.
func countRepetitions(tree *module.Node, path string, evaluations stacktest.Evaluations) {
	count := func(name string, repeat module.Repeat) {
		for _, expr := range []*module.Expr{repeat.Count, repeat.ForEach} {
			if expr != nil {
				evaluations.Count(path+name, &expr.Expression)
			}
		}
	}
	for addr, resource := range tree.Resources {
		count(addr.String(), resource.Repeat)
	}
	for _, i := range tree.Imports {
		count("import", module.Repeat{ForEach: i.ForEach})
	}
	for name, call := range tree.Calls {
		count("module."+name, call.Repeat)
		countRepetitions(tree.Children[name], path+"module."+name+".", evaluations)
	}
}
