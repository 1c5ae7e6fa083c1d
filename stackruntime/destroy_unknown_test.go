// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
)

// unknownSets is a stack of which much depends on the result of component.keys. No object whose
// condition does not hold is made: that of the key set in component.keys, or those of the others.
func unknownSets(keys, others string) string {
	return strings.NewReplacer("KEYS", keys, "OTHERS", others).Replace(`
-- main.tfcomponent.hcl --
variable "again" {
  type    = string
  default = ""
}
component "keys" {
  source = "./keys"
  inputs = { again = var.again }
}
component "many" {
  for_each = component.keys.all
  source   = "./echo"
  inputs   = { in = each.value }
}
component "after" {
  source = "./echo"
  inputs = { in = keys(component.many) }
}
stack "more" {
  for_each = component.keys.all
  source   = "./more"
  inputs   = { in = each.key }
}
component "other" {
  source = "./echo"
}
-- more/main.tfcomponent.hcl --
variable "in" { type = string }
component "inner" {
  source = "../echo"
  inputs = { in = var.in }
}
-- keys/main.tf --
variable "again" { type = string }
resource "terraform_data" "first" {}
resource "terraform_data" "this" {
  input            = terraform_data.first.id == "" ? ["x"] : ["x", "y"]
  triggers_replace = var.again
  lifecycle {
    precondition {
      condition     = KEYS
      error_message = "No keys today."
    }
  }
}
output "all" { value = toset(terraform_data.this.output) }
-- echo/main.tf --
variable "in" {
  type    = any
  default = null
}
resource "terraform_data" "this" {
  input = var.in
  lifecycle {
    precondition {
      condition     = OTHERS
      error_message = "Not today."
    }
  }
}
output "out" { value = terraform_data.this.output }
`)
}

// Conditions. The second one is unknown while planning.
const (
	holds        = `path.module != ""`
	failsAtApply = `path.module == timestamp()`
)

// Nothing that was not made holds up a destroy, or is expected of it.
func TestDestroyAfterFailedFirstApply(t *testing.T) {
	w := newWorld(t, unknownSets(failsAtApply, holds))
	result, diags := w.TryApply(w.Plan(engine.Normal))
	same(t, "what the apply did", `
component.after: deferred
component.keys: failed
component.many[*]: deferred
component.other: applied
stack.more[*].component.inner: deferred
`, statuses(result))
	if !diags.HasErrors() {
		t.Fatal("the first apply has not failed")
	}

	plan := w.Plan(engine.Destroy)
	same(t, "plan", `
input again: no-op "", delete on apply
component.after: delete, applyable, destroy mode, requires component.many
component.keys: delete, applyable, destroy mode
  terraform_data.first: delete
component.other: delete, applyable, destroy mode
  terraform_data.this: delete
`, stacktest.PlanText(plan))
	w.Apply(plan)
	same(t, "state after destroying", "", stacktest.StateText(w.State))
}

func statuses(result *stackruntime.ApplyResult) string {
	var lines []string
	for addr, outcome := range result.Components {
		lines = append(lines, fmt.Sprintf("%s: %s\n", addr, outcome.Status))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// A function that has another result at each call does not hold up a destroy: it has the inputs of
// the last apply.
func TestDestroyWithImpureInputs(t *testing.T) {
	w := newWorld(t, `
-- main.tfcomponent.hcl --
component "impure" {
  source = "./echo"
  inputs = { in = { known = "a", impure = uuid() } }
}
component "dependent" {
  source = "./echo"
  inputs = { in = component.impure.out }
}
`+echoModule)
	w.Converge()
	w.Apply(w.Plan(engine.Destroy))
	same(t, "state after destroying", "", stacktest.StateText(w.State))
}

// Existing instances go also if the set of instances is not known any more.
func TestDestroyWithUnknownSets(t *testing.T) {
	w := newWorld(t, unknownSets(holds, holds))
	w.Converge()
	w.Converge()
	w.Inputs["again"] = cty.StringVal("now")
	if refreshed := w.Plan(engine.RefreshOnly); !refreshed.Complete {
		t.Error("a plan that only refreshes is incomplete")
	}
	plan := w.Plan(engine.Destroy)
	same(t, "plan", `
input again: update "now", delete on apply
component.after: delete, applyable, destroy mode, requires component.many
  terraform_data.this: delete
component.keys: delete, applyable, destroy mode
  terraform_data.first: delete
  terraform_data.this: delete
component.many["x"]: delete, applyable, destroy mode, requires component.keys
  terraform_data.this: delete
component.many["y"]: delete, applyable, destroy mode, requires component.keys
  terraform_data.this: delete
component.other: delete, applyable, destroy mode
  terraform_data.this: delete
stack.more["x"].component.inner: delete, applyable, destroy mode, requires component.keys
  terraform_data.this: delete
stack.more["y"].component.inner: delete, applyable, destroy mode, requires component.keys
  terraform_data.this: delete
`, stacktest.PlanText(plan))
	w.Apply(plan)
	same(t, "state after destroying", "", stacktest.StateText(w.State))
	// Not before its dependents are gone.
	var keys memengine.Call
	for _, call := range w.engine.Calls() {
		if call.Operation == memengine.Apply && call.Mode == engine.Destroy && call.Component.String() == "component.keys" {
			keys = call
		}
	}
	for _, call := range w.engine.Calls() {
		if call.Operation == memengine.Apply && call.Mode == engine.Destroy &&
			strings.Contains(call.Component.String(), `["x"]`) && !call.Before(keys) {
			t.Errorf("component.keys was destroyed before %s", call.Component)
		}
	}
}

// Records without objects go, although at apply the set is known again and does not have them.
func TestDestroyOfRecordsOutsideOfTheSet(t *testing.T) {
	w := newWorld(t, unknownSets(holds, failsAtApply))
	_, diags := w.TryApply(w.Plan(engine.Normal))
	if !diags.HasErrors() {
		t.Fatal("the first apply has not failed")
	}
	_, diags = w.TryApply(w.Plan(engine.Normal)) // leaves records without objects of all keys
	if !diags.HasErrors() {
		t.Fatal("the apply has not failed")
	}
	keys, _ := stackaddrs.ParseAbsComponentInstance("component.keys")
	w.State.Components[keys].Outputs["all"] = cty.SetVal([]cty.Value{cty.StringVal("x")})

	w.Write(unknownSets(holds, holds))
	w.Inputs["again"] = cty.StringVal("now")
	w.Apply(w.Plan(engine.Destroy))
	same(t, "state after destroying", "", stacktest.StateText(w.State))
}
