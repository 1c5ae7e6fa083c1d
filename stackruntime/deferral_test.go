// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// deferrals reports which components of a plan are deferred.
func deferrals(plan *stackplan.Plan) map[string]bool {
	got := make(map[string]bool)
	for _, c := range plan.Components {
		got[c.Addr.String()] = !c.Complete
	}
	return got
}

// applyRounds applies plans until nothing is deferred, and returns how many it took.
func (w *world) applyRounds(mode engine.Mode) int {
	w.t.Helper()
	for round := 1; ; round++ {
		plan := w.Plan(mode)
		w.Apply(plan)
		if plan.Complete {
			return round
		}
		if round == 10 {
			w.t.Fatalf("still deferred after %d rounds: %v", round, deferrals(plan))
		}
	}
}

// Rows 104, 105, 108, 109 and 112: sets that another component decides leave a
// wildcard in the plan, and everything that depends on them is deferred.
func TestUnknownSetsAreDeferred(t *testing.T) {
	w := newWorld(t, `
-- main.tfcomponent.hcl --
component "source" {
  source = "./echo"
  inputs = { in = ["x", "y"] }
}
component "known" {
  for_each = { k = 1 }
  source   = "./echo"
}
component "each" {
  for_each = toset(component.source.out)
  source   = "./echo"
  inputs   = { in = each.value }
}
component "after" {
  source = "./echo"
  inputs = { in = component.each }
}
component "last" {
  source = "./echo"
  inputs = { in = component.after.out }
}
stack "s" {
  for_each = toset(component.source.out)
  source   = "./s"
  inputs   = { name = each.key }
}
component "of_stack" {
  source = "./echo"
  inputs = { in = { for k, v in stack.s : k => v.out } }
}
output "all" {
  type  = map(string)
  value = component.of_stack.out
}
-- s/main.tfcomponent.hcl --
variable "name" { type = string }
component "single" {
  source = "../echo"
  inputs = { in = var.name }
}
component "many" {
  for_each = toset([var.name])
  source   = "../echo"
}
output "out" {
  type  = string
  value = component.single.out
}
`+echoModule)
	plan := w.Plan(engine.Normal)
	want := map[string]bool{
		"component.source": false, `component.known["k"]`: false,
		"component.each[*]": true, "component.after": true, "component.last": true,
		"stack.s[*].component.single": true, "stack.s[*].component.many[*]": true, "component.of_stack": true,
	}
	if diff := cmp.Diff(want, deferrals(plan)); diff != "" {
		t.Errorf("deferred (-want +got):\n%s", diff)
	}
	if !plan.Applyable || plan.Complete {
		t.Errorf("applyable %v, complete %v; want an applyable plan that is not complete", plan.Applyable, plan.Complete)
	}

	// Row 176: dependents of a wildcard are recorded, the wildcard is not.
	w.Apply(plan)
	if diff := cmp.Diff([]string{"component.after", `component.known["k"]`, "component.last", "component.of_stack", "component.source"},
		left(w.State)); diff != "" {
		t.Errorf("recorded after the first round (-want +got):\n%s", diff)
	}
	if rounds := w.applyRounds(engine.Normal); rounds != 1 {
		t.Errorf("%d more rounds, want 1", rounds)
	}
	wantOut := cty.MapVal(map[string]cty.Value{"x": cty.StringVal("x"), "y": cty.StringVal("y")})
	if got := w.State.Outputs["all"]; !got.RawEquals(wantOut) {
		t.Errorf("output all = %#v, want %#v", got, wantOut)
	}
	for addr, action := range actions(w.Plan(engine.Normal)) {
		if action != stackplan.NoOp {
			t.Errorf("next plan: %s has action %s, want no-op", addr, action)
		}
	}
	w.applyRounds(engine.Destroy)
	if got := left(w.State); len(got) > 0 {
		t.Errorf("left after destroy: %v", got)
	}
}

// Rows 107, 126 and 177: an existing instance keeps its key and its state while the set is not
// known.
func TestExistingInstancesStandInForUnknownSets(t *testing.T) {
	const config = `
component "source" {
  source = "./keys"
  inputs = { in = ["x", "y"], more = var.more }
}
variable "more" {
  type    = string
  default = ""
}
component "each" {
  for_each = toset(component.source.out)
  source   = "./echo"
  inputs   = { in = each.value }
}
stack "s" {
  for_each = toset(component.source.out)
  source   = "./s"
}
`
	w := newWorld(t, "-- main.tfcomponent.hcl --"+config+`
-- s/main.tfcomponent.hcl --
component "inner" { source = "../echo" }
-- keys/main.tf --
variable "in" { type = list(string) }
variable "more" { type = string }
resource "terraform_data" "this" {
  input            = var.in
  triggers_replace = var.more
}
output "out" { value = terraform_data.this.output }
`+echoModule)
	w.applyRounds(engine.Normal)

	w.Inputs["more"] = cty.StringVal("again") // replaces the resource, so its output is unknown
	plan := w.Plan(engine.Normal)
	want := map[string]bool{
		"component.source": false, `component.each["x"]`: true, `component.each["y"]`: true,
		`stack.s["x"].component.inner`: true, `stack.s["y"].component.inner`: true,
	}
	if diff := cmp.Diff(want, deferrals(plan)); diff != "" {
		t.Errorf("deferred (-want +got):\n%s", diff)
	}
	before := w.State.Components[component(t, `component.each["x"]`)]
	w.Apply(plan)
	after := w.State.Components[component(t, `component.each["x"]`)]
	if diff := cmp.Diff(string(before.Module), string(after.Module)); diff != "" {
		t.Errorf("state of a deferred instance has changed (-before +after):\n%s", diff)
	}
	if !after.Outputs["out"].RawEquals(cty.StringVal("x")) {
		t.Errorf("outputs of a deferred instance = %#v, want those from before", after.Outputs)
	}
	w.applyRounds(engine.Normal)

	// One of them is explicitly removed while the set is unknown.
	w.Inputs["more"] = cty.StringVal("once more")
	w.appendTo("main.tfcomponent.hcl", `
removed {
  from   = component.each["y"]
  source = "./echo"
}
`)
	plan = w.Plan(engine.Normal)
	if a := actions(plan)[`component.each["y"]`]; a != stackplan.Delete {
		t.Errorf(`component.each["y"] has action %q, want delete`, a)
	}
	if !deferrals(plan)[`component.each["x"]`] {
		t.Error(`component.each["x"] is not deferred`)
	}
}
