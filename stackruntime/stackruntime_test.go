// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// world is a stack on disk with the in-memory engine and a state.
type world struct {
	t      *testing.T
	dir    string
	engine *memengine.Engine
	state  *stackstate.State
	inputs map[string]cty.Value
}

// newWorld writes the files of a txtar archive to a new directory.
func newWorld(t *testing.T, archive string) *world {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return &world{t: t, dir: dir, engine: memengine.New(memengine.Options{StackDir: dir}), state: stackstate.New(), inputs: map[string]cty.Value{}}
}

func (w *world) options() (stackruntime.Options, hcl.Diagnostics) {
	config, diags := stackconfig.Load(w.dir)
	return stackruntime.Options{Config: config, Engine: w.engine, Parallelism: 4}, diags
}

func (w *world) validate() hcl.Diagnostics {
	opts, diags := w.options()
	if diags.HasErrors() {
		return diags
	}
	return stackruntime.Validate(w.t.Context(), opts)
}

func (w *world) tryPlan(mode engine.Mode) (*stackplan.Plan, hcl.Diagnostics) {
	opts, diags := w.options()
	if diags.HasErrors() {
		w.t.Fatal(diags)
	}
	return stackruntime.Plan(w.t.Context(), stackruntime.PlanRequest{Options: opts, Mode: mode, Prior: w.state, Inputs: w.inputs})
}

func (w *world) plan(mode engine.Mode) *stackplan.Plan {
	w.t.Helper()
	plan, diags := w.tryPlan(mode)
	if diags.HasErrors() {
		w.t.Fatalf("plan: %s", describe(diags))
	}
	return plan
}

// tryApply applies a plan and then stores and loads the state, as every command does.
func (w *world) tryApply(plan *stackplan.Plan) (*stackruntime.ApplyResult, hcl.Diagnostics) {
	w.t.Helper()
	opts, _ := w.options()
	result, diags := stackruntime.Apply(w.t.Context(), stackruntime.ApplyRequest{Options: opts, Plan: plan, Prior: w.state})
	w.state = w.reload(result.State)
	return result, diags
}

func (w *world) reload(state *stackstate.State) *stackstate.State {
	w.t.Helper()
	records, err := state.Records()
	if err != nil {
		w.t.Fatalf("the state cannot be stored: %s", err)
	}
	loaded, err := stackstate.FromRecords(records)
	if err != nil {
		w.t.Fatalf("the state that was stored cannot be loaded: %s", err)
	}
	return loaded
}

func (w *world) apply(plan *stackplan.Plan) *stackruntime.ApplyResult {
	w.t.Helper()
	result, diags := w.tryApply(plan)
	if diags.HasErrors() {
		w.t.Fatalf("apply: %s", describe(diags))
	}
	return result
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
	if diags := w.validate(); len(diags) > 0 {
		t.Fatalf("validate: %s", describe(diags))
	}

	plan := w.plan(engine.Normal)
	if v := plan.Outputs["last"].After; v.IsKnown() {
		t.Errorf("planned output last = %#v, want unknown", v)
	}
	if v := plan.Components[1].Inputs["in"]; v.IsKnown() || v.Type() != cty.String {
		t.Errorf("planned input of component.b = %#v, want an unknown string", v)
	}
	w.apply(plan)
	want := cty.StringVal("<<<start>>!>")
	if got := w.state.Outputs["last"]; !got.RawEquals(want) {
		t.Errorf("applied output last = %#v, want %#v", got, want)
	}

	again := w.plan(engine.Normal)
	for addr, action := range actions(again) {
		if action != stackplan.NoOp {
			t.Errorf("second plan: %s has action %s, want no-op", addr, action)
		}
	}
	w.apply(again)

	destroy := w.plan(engine.Destroy)
	if n := destroy.Counts().Remove; n != 3 {
		t.Errorf("destroy plan removes %d, want 3", n)
	}
	w.apply(destroy)
	if len(w.state.Components) != 0 || len(w.state.Outputs) != 0 {
		t.Errorf("state after destroy has %d components and %d outputs, want none", len(w.state.Components), len(w.state.Outputs))
	}
}

func TestCanceledPlanSaysSo(t *testing.T) {
	w := newWorld(t, chain)
	opts, _ := w.options()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	plan, diags := stackruntime.Plan(ctx, stackruntime.PlanRequest{Options: opts})
	if !diags.HasErrors() || plan.Applyable {
		t.Errorf("plan with an ended context: applyable %v, diagnostics %v; want an error", plan.Applyable, diags)
	}
}
