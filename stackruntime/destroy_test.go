// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// plansMade counts the plans that the engine made of each component.
func plansMade(w *world) map[string]int {
	made := make(map[string]int)
	for _, call := range w.engine.CallsOf(memengine.Plan) {
		made[call.Component.String()]++
	}
	return made
}

// A component is looked at before it is destroyed only if other existing ones depend on it.
func TestDestroyPlansNoMoreThanNeeded(t *testing.T) {
	w := newWorld(t, chain)
	w.Apply(w.Plan(engine.Normal))
	w.engine.Forget()
	w.Plan(engine.Destroy)
	if diff := cmp.Diff(map[string]int{"component.a": 2, "component.b": 2, "component.c": 1}, plansMade(w)); diff != "" {
		t.Errorf("plans with refresh (-want +got):\n%s", diff)
	}

	w.engine.Forget()
	opts, _ := w.Options()
	plan, diags := stackruntime.Plan(t.Context(), stackruntime.PlanRequest{
		Options:     opts,
		Mode:        engine.Destroy,
		Prior:       w.State,
		SkipRefresh: true,
	})
	if diags.HasErrors() {
		t.Fatal(describe(diags))
	}
	if diff := cmp.Diff(map[string]int{"component.a": 1, "component.b": 1, "component.c": 1}, plansMade(w)); diff != "" {
		t.Errorf("plans without refresh (-want +got):\n%s", diff)
	}
	w.Apply(plan)

	w.engine.Forget()
	w.Plan(engine.Destroy)
	if made := plansMade(w); len(made) > 0 {
		t.Errorf("plans to destroy nothing: %v", made)
	}
}

func TestRefreshOnlyConverges(t *testing.T) {
	w := newWorld(t, chain)
	for name, before := range map[string]func(){
		"with nothing there": func() {},
		"with all applied":   func() { w.Apply(w.Plan(engine.Normal)) },
	} {
		t.Run(name, func(t *testing.T) {
			before()
			n := len(w.State.Components)
			plan := w.Plan(engine.RefreshOnly)
			for addr, action := range actions(plan) {
				if action != stackplan.NoOp {
					t.Errorf("%s has action %s, want no-op", addr, action)
				}
			}
			w.Apply(plan)
			if len(w.State.Components) != n {
				t.Errorf("%d component instances after the refresh, %d before", len(w.State.Components), n)
			}
		})
	}
}

// After a failed apply root outputs have the known part of their values, and no former values.
func TestFailedApplyRecordsUnknownOutputs(t *testing.T) {
	w := newWorld(t, `
-- main.tfcomponent.hcl --
variable "v" { type = string }
component "c" {
  source = "./picky"
  inputs = { in = var.v }
}
component "d" {
  source = "./picky"
  inputs = { in = "d${var.v}" }
}
output "o" {
  type  = string
  value = component.c.out
}
output "both" {
  type  = map(string)
  value = { c = component.c.out, d = component.d.out }
}
-- picky/main.tf --
variable "in" { type = string }
resource "terraform_data" "this" {
  input = var.in
  lifecycle {
    postcondition {
      condition     = self.output != "bad"
      error_message = "Bad."
    }
  }
}
output "out" { value = "${terraform_data.this.output}!" }
`)
	w.Inputs["v"] = cty.StringVal("good")
	w.Apply(w.Plan(engine.Normal))
	w.Inputs["v"] = cty.StringVal("bad")
	if _, diags := w.TryApply(w.Plan(engine.Normal)); !diags.HasErrors() {
		t.Fatal("the apply succeeded")
	}
	if got, want := w.State.Outputs["o"], cty.UnknownVal(cty.String); !got.RawEquals(want) {
		t.Errorf("output after a failed apply = %#v, want %#v", got, want)
	}
	want := cty.MapVal(map[string]cty.Value{"c": cty.UnknownVal(cty.String), "d": cty.StringVal("dbad!")})
	if got := w.State.Outputs["both"]; !got.RawEquals(want) {
		t.Errorf("output of a map after a failed apply = %#v, want %#v", got, want)
	}
	w.Inputs["v"] = cty.StringVal("good")
	plan := w.Plan(engine.Normal)
	if got := plan.Outputs["o"].Action; got != stackplan.Create {
		t.Errorf("the next plan has the action %s for the output, want create", got)
	}
	w.Apply(plan)
	if got, want := w.State.Outputs["o"], cty.StringVal("good!"); !got.RawEquals(want) {
		t.Errorf("output after the next apply = %#v, want %#v", got, want)
	}
}
