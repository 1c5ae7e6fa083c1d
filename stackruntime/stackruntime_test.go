// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"context"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// world is a stack with the in-memory engine.
type world struct {
	*stacktest.Stack

	t      *testing.T
	engine *stacktest.Memory
}

// newWorld writes the files of a txtar archive to a new directory. Options may be left out.
func newWorld(t *testing.T, archive string, options ...memengine.Options) *world {
	t.Helper()
	s := stacktest.InMemory(t, archive, options...)
	return &world{s, t, s.Engine.(*stacktest.Memory)}
}

func describe(diags hcl.Diagnostics) string {
	var b strings.Builder
	for _, d := range diags {
		place := "-"
		if d.Subject != nil {
			place = d.Subject.String()
		}
		b.WriteString(place + ": " + d.Summary + ": " + d.Detail + "\n")
	}
	return b.String()
}

func actions(plan *stackplan.Plan) map[string]stackplan.Action {
	got := make(map[string]stackplan.Action)
	for _, c := range plan.Components {
		got[c.Addr.String()] = c.Action
	}
	return got
}

const chain = `
-- main.tfcomponent.hcl --
component "a" {
  source = "./mod"
  inputs = { in = "start" }
}
component "b" {
  source = "./mod"
  inputs = { in = component.a.out }
}
component "c" {
  source = "./mod"
  inputs = { in = "${local.from_b}!" }
}
locals {
  from_b = component.b.out
}
output "last" {
  type  = string
  value = component.c.out
}
-- mod/main.tf --
variable "in" { type = string }
resource "terraform_data" "this" { input = var.in }
output "out" { value = "<${terraform_data.this.output}>" }
`

func TestChainFlowsUnknownsAndAppliesExactly(t *testing.T) {
	w := newWorld(t, chain)
	if diags := w.Validate(); len(diags) > 0 {
		t.Fatalf("validate: %s", describe(diags))
	}

	plan := w.Plan(engine.Normal)
	if v := plan.Outputs["last"].After; v.IsKnown() {
		t.Errorf("planned output last = %#v, want unknown", v)
	}
	if v := plan.Components[1].Inputs["in"]; v.IsKnown() || v.Type() != cty.String {
		t.Errorf("planned input of component.b = %#v, want an unknown string", v)
	}
	w.Apply(plan)
	want := cty.StringVal("<<<start>>!>")
	if got := w.State.Outputs["last"]; !got.RawEquals(want) {
		t.Errorf("applied output last = %#v, want %#v", got, want)
	}

	again := w.Plan(engine.Normal)
	for addr, action := range actions(again) {
		if action != stackplan.NoOp {
			t.Errorf("second plan: %s has action %s, want no-op", addr, action)
		}
	}
	w.Apply(again)

	destroy := w.Plan(engine.Destroy)
	if n := destroy.Counts().Remove; n != 3 {
		t.Errorf("destroy plan removes %d, want 3", n)
	}
	w.Apply(destroy)
	if len(w.State.Components) != 0 || len(w.State.Outputs) != 0 {
		t.Errorf("state after destroy has %d components and %d outputs, want none", len(w.State.Components), len(w.State.Outputs))
	}
}

func TestCanceledPlanSaysSo(t *testing.T) {
	w := newWorld(t, chain)
	opts, _ := w.Options()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	plan, diags := stackruntime.Plan(ctx, stackruntime.PlanRequest{Options: opts})
	if !diags.HasErrors() || plan.Applyable {
		t.Errorf("plan with an ended context: applyable %v, diagnostics %v; want an error", plan.Applyable, diags)
	}
}

// An interrupt that comes when the last component is done finds nothing that it could keep from
// being done.
func TestInterruptAfterTheLastComponent(t *testing.T) {
	for last, complete := range map[string]bool{"component.c": true, "component.b": false} {
		t.Run(last, func(t *testing.T) {
			w := newWorld(t, chain)
			plan := w.Plan(engine.Normal)
			opts, _ := w.Options()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			opts.Hooks.ComponentApplied = func(addr stackaddrs.AbsComponentInstance, _ stackplan.Counts) {
				if addr.String() == last {
					cancel()
				}
			}
			result, diags := stackruntime.Apply(ctx, stackruntime.ApplyRequest{Options: opts, Plan: plan, Prior: w.State})
			if diags.HasErrors() == complete {
				t.Errorf("complete: %v, but diagnostics: %s", complete, describe(diags))
			}
			if got, want := result.State.Outputs["last"], cty.StringVal("<<<start>>!>"); complete && !got.RawEquals(want) {
				t.Errorf("output last = %#v, want %#v", got, want)
			}
		})
	}
}
