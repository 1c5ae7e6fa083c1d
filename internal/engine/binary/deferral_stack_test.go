// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary_test

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

const deferredStack = `
-- main.tfcomponent.hcl --
component "size" {
  source = "./size"
}
component "many" {
  source = "./many"
  inputs = { copies = component.size.copies }
}
component "after" {
  source = "./after"
  inputs = { ids = component.many.ids }
}
output "count" {
  type  = number
  value = component.after.count
}
-- size/main.tf --
resource "terraform_data" "copies" { input = 2 }
output "copies" { value = terraform_data.copies.output }
-- many/main.tf --
variable "copies" { type = number }
resource "terraform_data" "one" {}
resource "terraform_data" "many" { count = var.copies }
output "ids" { value = terraform_data.many[*].id }
-- after/main.tf --
variable "ids" { type = list(string) }
resource "terraform_data" "it" { input = length(var.ids) }
output "count" { value = terraform_data.it.output }
`

// A component with instances that can't be counted yet is applied in part, and its dependents
// later; a second round completes both.
func TestRoundsOfDeferredInstances(t *testing.T) {
	testenv.SkipUnderRace(t, "the contract of engines does the same things at the same time")
	testenv.CLIConfig(t, "")
	s := newStack(t, deferredStack)

	components := func(plan *stackplan.Plan) map[string]*stackplan.Component {
		found := map[string]*stackplan.Component{}
		for _, c := range plan.Components {
			found[c.Addr.Item.Component.Name] = c
		}
		return found
	}
	plan := s.plan(engine.Normal)
	planned := components(plan)
	if plan.Complete || !planned["size"].Complete || planned["many"].Complete || planned["after"].Complete {
		t.Errorf("complete: got %v, %v, %v, %v, want only size to be",
			plan.Complete, planned["size"].Complete, planned["many"].Complete, planned["after"].Complete)
	}
	if got := planned["many"]; !got.Applyable || got.DeferredReason != "instance_count_unknown" || len(got.Changes) != 1 {
		t.Errorf("many: got %+v, want a part of it planned", got)
	}
	if got := planned["after"]; got.Applyable || got.DeferredReason != "deferred_prereq" || len(got.Changes) != 0 {
		t.Errorf("after: got %+v, want it deferred", got)
	}
	s.apply(plan)

	plan = s.plan(engine.Normal)
	planned = components(plan)
	if !plan.Complete || len(planned["many"].Changes) != 3 {
		t.Errorf("second plan: complete %v, many %v, want all of it", plan.Complete, planned["many"].Changes)
	}
	s.apply(plan)
	if got := s.state.Outputs["count"]; !got.RawEquals(cty.NumberIntVal(2)) {
		t.Errorf("output count: got %#v, want 2", got)
	}
	for _, c := range s.plan(engine.Normal).Components {
		if c.Action != stackplan.NoOp {
			t.Errorf("third plan: %s has action %s", c.Addr, c.Action)
		}
	}
	s.apply(s.plan(engine.Destroy))
	if len(s.state.Components) > 0 {
		t.Errorf("%d components left after destroy", len(s.state.Components))
	}
}

// A component that was applied in part is destroyed as a whole.
func TestDestroyAfterDeferral(t *testing.T) {
	testenv.CLIConfig(t, "")
	s := newStack(t, deferredStack)
	s.apply(s.plan(engine.Normal))
	s.apply(s.plan(engine.Destroy))
	if len(s.state.Components) > 0 {
		t.Errorf("%d components left after destroy", len(s.state.Components))
	}
}
