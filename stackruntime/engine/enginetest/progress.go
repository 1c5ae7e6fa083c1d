// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package enginetest

import (
	"bytes"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// failingPrecondition fails after a resource was created, by an input that becomes known then.
func failingPrecondition(b *bench) {
	b.module("m", `
variable "v" { type = string }
resource "terraform_data" "first" { input = "done" }
resource "terraform_data" "second" {
  input = terraform_data.first.id
  lifecycle {
    precondition {
      condition     = var.v != "bad"
      error_message = "The value is bad."
    }
  }
}
output "first" { value = terraform_data.first.output }
output "second" { value = terraform_data.second.output }
`)
	req := b.request("m", values{"v": cty.UnknownVal(cty.String)})
	plan := b.plan(req)
	apply := applyRequest(req, plan, simpleInputs("bad"))
	result, diags := b.tryApply(apply)
	b.wantErrors("Apply", diags)
	if !slices.ContainsFunc(diags, func(d *hcl.Diagnostic) bool { return bytes.Contains([]byte(d.Detail), []byte("The value is bad.")) }) {
		b.Errorf("Apply: got %v, want the module's message", diags)
	}
	if result == nil {
		b.Fatal("Apply returned no result, want the changes made")
	}
	b.acknowledge(apply)
	if second := result.Outputs["second"]; second.IsKnown() {
		b.Errorf("output second: got %#v, want unknown", second)
	}

	// The next plan goes on from there.
	req = b.request("m", simpleInputs("good"))
	req.PriorState = result.State
	b.wantChanges(b.plan(req), "terraform_data.first no-op", "terraform_data.second create")

	// Known to be bad, it can't even be planned.
	failed, diags := b.tryPlan(b.request("m", simpleInputs("bad")))
	b.wantErrors("Plan", diags)
	if failed != nil && (failed.Applyable || failed.Complete) {
		b.Errorf("Plan with errors: got applyable %v, complete %v", failed.Applyable, failed.Complete)
	}
}

// events checks their order, and that they lead from the objects of one state to those of the next.
func events(b *bench) {
	b.module("m", `
resource "terraform_data" "b" { input = terraform_data.a.id }
resource "terraform_data" "a" {}
`)
	req := b.request("m", nil)
	var planned []string
	req.Work = b.work()
	plan, diags := b.session().Plan(b.Context(), req, func(ev engine.Event) {
		switch ev.Type {
		case engine.WorkBegan:
			if len(planned) > 0 {
				b.Errorf("work began after %q", planned)
			}
		case engine.PlannedChange:
			planned = append(planned, ev.Resource+" "+ev.Action)
		}
	})
	b.noErrors("Plan", diags)
	slices.Sort(planned)
	if want := []string{"terraform_data.a create", "terraform_data.b create"}; !slices.Equal(planned, want) {
		b.Errorf("planned changes in events: got %q, want %q", planned, want)
	}

	apply := applyRequest(req, plan, nil)
	var applied []string
	objects, last := map[string]string{}, engine.Position(0)
	apply.Work = b.work()
	result, diags := b.session().Apply(b.Context(), apply, func(ev engine.Event) {
		switch ev.Type {
		case engine.WorkBegan:
			applied = append(applied, string(ev.Type))
		case engine.ApplyStart, engine.ApplyComplete:
			applied = append(applied, string(ev.Type)+" "+ev.Resource)
		case engine.ObjectChanged:
			objects[ev.Object.Addr.String()] = string(ev.Object.Entry)
		}
		if ev.Position < last {
			b.Errorf("event %s has position %d after one with %d", ev.Type, ev.Position, last)
		}
		last = ev.Position
	})
	b.noErrors("Apply", diags)
	b.acknowledge(apply)
	want := []string{
		"work_began",
		"apply_start terraform_data.a", "apply_complete terraform_data.a",
		"apply_start terraform_data.b", "apply_complete terraform_data.b",
	}
	if !slices.Equal(applied, want) {
		b.Errorf("events: got %q, want %q", applied, want)
	}
	doc, err := tfstate.Parse(result.State)
	if err != nil {
		b.Fatal(err)
	}
	for _, entry := range doc.Entries() {
		if want := string(entry.AppendJSON(nil)); objects[entry.Addr.String()] != want {
			b.Errorf("last event about %s: got %s, want %s", entry.Addr, objects[entry.Addr.String()], want)
		}
	}
	if len(objects) != 2 {
		b.Errorf("events about objects: got %v, want them about both", objects)
	}

	// Deleted objects are reported, too.
	destroy := *req
	destroy.Mode, destroy.PriorState = engine.Destroy, result.State
	apply = applyRequest(&destroy, b.plan(&destroy), nil)
	apply.Work = b.work()
	_, diags = b.session().Apply(b.Context(), apply, func(ev engine.Event) {
		if ev.Type == engine.ObjectChanged && ev.Object.Entry == nil {
			delete(objects, ev.Object.Addr.String())
		}
	})
	b.noErrors("Apply", diags)
	b.acknowledge(apply)
	if len(objects) > 0 {
		b.Errorf("objects whose removal was not reported: %v", objects)
	}
}
