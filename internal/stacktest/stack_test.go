// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacktest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

const pair = `
-- main.tfcomponent.hcl --
variable "name" {
  type      = string
  sensitive = true
}
component "a" {
  source = "./mod"
  inputs = { name = var.name }
}
component "b" {
  source = "./mod"
  inputs = { name = component.a.result }
}
output "last" {
  type      = string
  sensitive = true
  value     = component.b.result
}
-- mod/main.tf --
variable "name" { type = string }
resource "terraform_data" "this" { input = var.name }
output "result" {
  value     = terraform_data.this.output
  sensitive = true
}
`

func TestSameTextsFromBothEngines(t *testing.T) {
	for name, start := range map[string]func(t *testing.T) *Stack{
		"memory": func(t *testing.T) *Stack { t.Helper(); return InMemory(t, pair) },
		"real":   func(t *testing.T) *Stack { t.Helper(); return Real(t, pair) },
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			if got := Summaries(s.Validate()); got != "" {
				t.Fatalf("validate: %s", got)
			}
			s.Inputs["name"] = cty.StringVal("x")
			plan := s.Plan(engine.Normal)
			if diff := cmp.Diff(`input name: create (sensitive "x")
component.a: create, applyable
  terraform_data.this: create
component.b: create, applyable, requires component.a
  terraform_data.this: create
output last: create (sensitive (unknown))
`, PlanText(plan)); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			s.Apply(plan)
			if diff := cmp.Diff(`input name = (sensitive "x")
component.a, required by component.b
  terraform_data.this
  in name = (sensitive "x")
  out result = (sensitive "x")
component.b, requires component.a
  terraform_data.this
  in name = (sensitive "x")
  out result = (sensitive "x")
output last = (sensitive "x")
`, StateText(s.State)); diff != "" {
				t.Errorf("state (-want +got):\n%s", diff)
			}
		})
	}
}
