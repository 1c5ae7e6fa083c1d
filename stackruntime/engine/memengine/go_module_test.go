// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package memengine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/enginetest"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// chain is a module with two resources, of which the second uses the first.
var chain = &memengine.Module{
	Variables: memengine.Variables("name"),
	Outputs:   memengine.Outputs("id"),
	Resources: []memengine.Resource{
		{Name: "a", Input: func(s memengine.Scope) (cty.Value, error) { return s.Inputs["name"], nil }},
		{
			Name: "b", DependsOn: []string{"a"},
			TriggersReplace: func(s memengine.Scope) (cty.Value, error) { return s.Resources["a"].GetAttr("output"), nil },
		},
	},
	Values: func(s memengine.Scope) (map[string]cty.Value, error) {
		return map[string]cty.Value{"id": s.Resources["b"].GetAttr("id")}, nil
	},
}

func component(t testing.TB, s string) stackaddrs.AbsComponentInstance {
	t.Helper()
	addr, err := stackaddrs.ParseAbsComponentInstance(s)
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

func noErrors(t testing.TB, diags hcl.Diagnostics) {
	t.Helper()
	if diags.HasErrors() {
		t.Fatalf("unexpected errors: %s", diags.Error())
	}
}

// world is a component with its state, to plan and apply repeatedly.
type world struct {
	e     *memengine.Engine
	s     engine.Session
	addr  stackaddrs.AbsComponentInstance
	dir   string
	state engine.State
}

func (w *world) plan(t testing.TB, inputs map[string]cty.Value, adjust ...func(*engine.PlanRequest)) (*engine.PlanResult, hcl.Diagnostics) {
	t.Helper()
	req := &engine.PlanRequest{Component: w.addr, ModuleDir: w.dir, Inputs: inputs, PriorState: w.state}
	for _, f := range adjust {
		f(req)
	}
	return w.s.Plan(t.Context(), req, nil)
}

func (w *world) apply(t testing.TB, mode engine.Mode, plan *engine.PlanResult,
	inputs map[string]cty.Value,
) (*engine.ApplyResult, hcl.Diagnostics) {
	t.Helper()
	result, diags := w.s.Apply(t.Context(), &engine.ApplyRequest{
		Component: w.addr, ModuleDir: w.dir, Mode: mode, Planned: plan, Inputs: inputs, PriorState: w.state,
	}, nil)
	if result != nil {
		w.state = result.State
	}
	return result, diags
}

func (w *world) planAndApply(t testing.TB, inputs map[string]cty.Value) *engine.ApplyResult {
	t.Helper()
	plan, diags := w.plan(t, inputs)
	noErrors(t, diags)
	result, diags := w.apply(t, engine.Normal, plan, inputs)
	noErrors(t, diags)
	return result
}

// summary lists the planned changes.
func summary(plan *engine.PlanResult) []string {
	var lines []string
	for _, rc := range plan.Changes {
		action := strings.ReplaceAll(string(rc.Action), "/", " ")
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s [%s] %s", rc.Address(), action, rc.Reason)))
	}
	return lines
}

func newWorld(t testing.TB, m *memengine.Module, opts memengine.Options) *world {
	opts.Modules = map[string]*memengine.Module{"/m": m}
	return openWorld(t, memengine.New(opts), "/m", engine.SessionOptions{Parallelism: 100})
}

// openWorld opens a session for the component of a module.
func openWorld(t testing.TB, e *memengine.Engine, dir string, opts engine.SessionOptions) *world {
	t.Helper()
	return &world{e: e, s: enginetest.Open(t, e, opts), addr: component(t, "component.a"), dir: dir}
}

func named(v cty.Value) map[string]cty.Value { return map[string]cty.Value{"name": v} }

func TestLifeOfAComponent(t *testing.T) {
	w := newWorld(t, chain, memengine.Options{})

	plan, diags := w.plan(t, named(cty.UnknownVal(cty.String)))
	noErrors(t, diags)
	if diff := cmp.Diff([]string{"terraform_data.a [create]", "terraform_data.b [create]"}, summary(plan)); diff != "" {
		t.Errorf("first plan (-want +got):\n%s", diff)
	}
	if got := plan.Outputs["id"]; got.IsKnown() || got.Type() != cty.String {
		t.Errorf("planned output: got %#v, want an unknown string", got)
	}
	if !plan.Applyable || !plan.Complete {
		t.Errorf("first plan: applyable %t, complete %t", plan.Applyable, plan.Complete)
	}
	result, diags := w.apply(t, engine.Normal, plan, named(cty.StringVal("x")))
	noErrors(t, diags)
	first := result.Outputs["id"]
	if !first.IsKnown() {
		t.Fatalf("output after apply: got %#v", first)
	}

	plan, diags = w.plan(t, named(cty.StringVal("x")))
	noErrors(t, diags)
	if diff := cmp.Diff([]string{"terraform_data.a [no-op]", "terraform_data.b [no-op]"}, summary(plan)); diff != "" {
		t.Errorf("plan without changes (-want +got):\n%s", diff)
	}
	if plan.Applyable || !plan.Outputs["id"].RawEquals(first) {
		t.Errorf("plan without changes: applyable %t, output %#v", plan.Applyable, plan.Outputs["id"])
	}

	plan, diags = w.plan(t, named(cty.StringVal("y")))
	noErrors(t, diags)
	want := []string{"terraform_data.a [update]", "terraform_data.b [delete create] replace_because_cannot_update"}
	if diff := cmp.Diff(want, summary(plan)); diff != "" {
		t.Errorf("plan of an update (-want +got):\n%s", diff)
	}
	result, diags = w.apply(t, engine.Normal, plan, named(cty.StringVal("y")))
	noErrors(t, diags)
	if got := result.Outputs["id"]; got.RawEquals(first) {
		t.Errorf("the replaced resource has kept its id %#v", got)
	}

	plan, diags = w.plan(t, named(cty.StringVal("y")), func(r *engine.PlanRequest) { r.Mode = engine.Destroy })
	noErrors(t, diags)
	if diff := cmp.Diff([]string{"terraform_data.a [delete]", "terraform_data.b [delete]"}, summary(plan)); diff != "" {
		t.Errorf("plan to destroy (-want +got):\n%s", diff)
	}
	w.e.Forget()
	_, diags = w.apply(t, engine.Destroy, plan, nil)
	noErrors(t, diags)
	if left, err := tfstate.ParseObjects(w.state); len(left) > 0 || err != nil {
		t.Errorf("state after destroying: %s, %v", w.state, err)
	}
	var deleted []string
	for _, call := range w.e.CallsOf(memengine.Delete) {
		deleted = append(deleted, call.Resource)
	}
	if diff := cmp.Diff([]string{"terraform_data.b", "terraform_data.a"}, deleted); diff != "" {
		t.Errorf("order of deletions (-want +got):\n%s", diff)
	}
}

func TestApplyFollowsThePlan(t *testing.T) {
	w := newWorld(t, chain, memengine.Options{})
	plan, diags := w.plan(t, named(cty.StringVal("x")))
	noErrors(t, diags)
	result, diags := w.apply(t, engine.Normal, plan, named(cty.StringVal("other")))
	if !diags.HasErrors() || diags[0].Summary != "Input changed since planning" || result != nil {
		t.Errorf("applying with another input: got %v, %v, want nothing done", result, diags)
	}

	other := *w
	other.addr = component(t, "component.b")
	if _, diags := other.apply(t, engine.Normal, plan, named(cty.StringVal("x"))); !diags.HasErrors() {
		t.Error("the plan of another component was applied")
	}
}

func TestFailureKeepsTheNewestState(t *testing.T) {
	w := newWorld(t, chain, memengine.Options{
		Before: func(_ context.Context, call memengine.Call) error {
			if call.Operation == memengine.Create && call.Resource == "terraform_data.b" {
				return errors.New("no more space")
			}
			return nil
		},
	})
	plan, diags := w.plan(t, named(cty.StringVal("x")))
	noErrors(t, diags)
	var changed []string
	var events []string
	result, diags := w.s.Apply(t.Context(), &engine.ApplyRequest{
		Component: w.addr, ModuleDir: w.dir, Planned: plan, Inputs: named(cty.StringVal("x")),
	}, func(e engine.Event) {
		events = append(events, string(e.Type)+" "+e.Resource)
		if e.Object != nil {
			changed = append(changed, string(e.Object.Entry))
		}
	})
	if len(diags) != 1 || diags[0].Detail != "No more space." {
		t.Errorf("got diagnostics %v, want the injected failure", diags)
	}
	objects, err := tfstate.ParseObjects(result.State)
	if err != nil || len(objects) != 1 || objects[0].Addr.Resource.Name != "a" {
		t.Errorf("state after the failure: %v, %v, want the first resource", objects, err)
	}
	doc, err := tfstate.Parse(result.State)
	if err != nil {
		t.Fatal(err)
	}
	if len(changed) != 1 || changed[0] != string(doc.Entries()[0].AppendJSON(nil)) {
		t.Errorf("changes of objects: got %s, want the first resource", changed)
	}
	if got := result.Outputs["id"]; got.IsKnown() {
		t.Errorf("output that was not computed: got %#v, want an unknown", got)
	}
	want := []string{
		"work_began ",
		"apply_start terraform_data.a", "apply_complete terraform_data.a", "object_changed terraform_data.a",
		"apply_start terraform_data.b", "apply_errored terraform_data.b",
	}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestDeferredPrerequisite(t *testing.T) {
	w := newWorld(t, chain, memengine.Options{})
	plan, diags := w.plan(t, named(cty.StringVal("x")), func(r *engine.PlanRequest) { r.DeferAll = true })
	noErrors(t, diags)
	if plan.Complete || plan.Applyable || len(plan.Changes) != 0 || len(plan.Deferred) != 2 {
		t.Fatalf("got %+v, want everything deferred", plan)
	}
	for _, d := range plan.Deferred {
		if d.Reason != "deferred_prereq" {
			t.Errorf("%s is deferred because of %q", d.Change.Address(), d.Reason)
		}
	}
}

func TestEphemeralValuesStayOutOfResources(t *testing.T) {
	w := newWorld(t, chain, memengine.Options{})
	_, diags := w.plan(t, named(cty.StringVal("x").Mark(marks.Ephemeral)))
	if len(diags) != 1 || diags[0].Summary != "Invalid use of ephemeral value" {
		t.Errorf("got %v, want one error about the ephemeral value", diags)
	}
}

func TestCallsRecordConcurrency(t *testing.T) {
	bothRun := make(chan struct{})
	arrived := make(chan struct{}, 2)
	w := newWorld(t, chain, memengine.Options{
		Before: func(_ context.Context, call memengine.Call) error {
			if call.Operation == memengine.Plan {
				arrived <- struct{}{}
				<-bothRun
			}
			return nil
		},
	})
	finished := make(chan struct{}, 2)
	for _, name := range []string{"component.a", "component.b"} {
		go func() {
			defer func() { finished <- struct{}{} }()
			_, diags := w.s.Plan(t.Context(), &engine.PlanRequest{
				Work: engine.WorkID(name), Component: component(t, name), ModuleDir: "/m", Inputs: named(cty.StringVal("x")),
			}, nil)
			if diags.HasErrors() {
				t.Errorf("Plan: %s", diags)
			}
		}()
	}
	<-arrived
	<-arrived
	close(bothRun)
	<-finished
	<-finished
	if got := w.e.MostConcurrent(memengine.Plan); got != 2 {
		t.Errorf("MostConcurrent = %d, want 2", got)
	}
	calls := w.e.CallsOf(memengine.Plan)
	if len(calls) != 2 || calls[0].Before(calls[1]) || calls[1].Before(calls[0]) {
		t.Errorf("got %+v, want two overlapping calls", calls)
	}
}

func BenchmarkPlanAndApply(b *testing.B) {
	w := newWorld(b, chain, memengine.Options{})
	b.ReportAllocs()
	for b.Loop() {
		w.state = nil
		w.planAndApply(b, named(cty.StringVal("x")))
	}
}

func BenchmarkPlanNoChanges(b *testing.B) {
	w := newWorld(b, chain, memengine.Options{})
	w.planAndApply(b, named(cty.StringVal("x")))
	b.ReportAllocs()
	for b.Loop() {
		_, diags := w.plan(b, named(cty.StringVal("x")))
		noErrors(b, diags)
	}
}
