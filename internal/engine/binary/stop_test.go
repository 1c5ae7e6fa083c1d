// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"bytes"
	"context"
	"path/filepath"
	"sync"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// stubbornModule waits at a gate whether it is asked to stop or not, and creates one object more.
const stubbornModule = fakeRequired + `
variable "plan_gate" { type = string }
variable "create_gate" { type = string }
resource "fake_slow" "first" {
  plan_gate   = var.plan_gate
  create_gate = var.create_gate
  ignore_stop = true
}
resource "fake_resource" "second" {
  value      = "later"
  depends_on = [fake_slow.first]
}
`

// A process that changes nothing is killed when it has to end now. One that changes objects goes on
// until its state is written.
func TestStop(t *testing.T) {
	b := newFakeBench(t, map[string]string{"mod/main.tf": stubbornModule})
	gate := filepath.Join(t.TempDir(), "gate")
	request := func(plan, create string) *engine.PlanRequest {
		req := b.request(map[string]cty.Value{"plan_gate": cty.StringVal(plan), "create_gate": cty.StringVal(create)})
		req.Providers = map[engine.ProviderSlot]engine.ProviderConfig{fakeSlot: b.config(nil)}
		return req
	}
	stop := func(work engine.WorkID) {
		waitFor(t, gate+".reached")
		for _, how := range []engine.Urgency{engine.Gracefully, engine.Now} {
			if err := b.engine.Stop(t.Context(), work, how); err != nil {
				t.Errorf("Stop: %v", err)
			}
		}
	}

	req := request(gate, "")
	req.Work = b.work()
	ended := make(chan bool, 1)
	go func() {
		_, diags := b.engine.Plan(t.Context(), req, nil)
		ended <- diags.HasErrors()
	}()
	stop(req.Work)
	if !testenv.Receive(t, "the plan ends, though nobody opens the gate", ended) {
		t.Error("a plan that was killed has no errors")
	}

	gate = filepath.Join(t.TempDir(), "gate")
	req = request("", gate)
	apply := applyRequest(req, b.plan(req).Plan, req.Inputs)
	apply.Work = b.work()
	var result *engine.ApplyResult
	go func() {
		var diags hcl.Diagnostics
		result, diags = b.engine.Apply(t.Context(), apply, nil)
		ended <- diags.HasErrors()
	}()
	stop(apply.Work)
	waitFor(t, gate+".stopped")
	touch(t, gate)
	if !testenv.Receive(t, "the apply ends", ended) {
		t.Error("an apply that was stopped has no errors")
	}
	if result == nil {
		t.Fatal("there is no result")
	}
	objects, err := tfstate.ParseObjects(result.State) // terraform may have entries of resources without any
	if err != nil || len(objects) != 1 || objects[0].Addr.Resource.Name != "first" {
		t.Errorf("got %v and %v, want the first object and not the second", objects, err)
	}
	if err := b.engine.Acknowledge(t.Context(), apply.Work); err != nil {
		t.Error(err)
	}
}

// Work that was picked up can be stopped as that which the session has begun.
func TestStopPickedUp(t *testing.T) {
	b, _ := newCutOffBench(t)
	unfinished, err := b.engine.Unfinished(t.Context())
	if err != nil || len(unfinished) != 1 {
		t.Fatalf("Unfinished: got %v, %v, want one apply", unfinished, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), testenv.Patience)
	defer cancel()
	var waiter sync.WaitGroup
	waiter.Go(func() {
		if !eventually(ctx, func() bool { return b.engine.Stop(ctx, unfinished[0].Work, engine.Gracefully) == nil }) {
			t.Error("Stop does not know the work")
		}
	})
	defer waiter.Wait()
	recovered, err := b.engine.Resume(t.Context(), unfinished[0].Work, 0, nil)
	if err != nil || !recovered.Diagnostics.HasErrors() || bytes.Contains(recovered.State, []byte(`"name": "third"`)) {
		t.Fatalf("Resume: got %+v, %v, want an apply that was stopped", recovered, err)
	}
	if err := b.engine.Forget(t.Context(), unfinished[0].Work); err != nil {
		t.Error(err)
	}
}
