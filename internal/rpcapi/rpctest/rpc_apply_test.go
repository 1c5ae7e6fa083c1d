// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpctest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/grpc/codes"

	"github.com/cairnstacks/cairn/internal/testenv"
	setuppb "github.com/cairnstacks/cairn/proto/terraform1/setup"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

func TestRPCApply(t *testing.T) {
	t.Run("A-01 events of a component", testApplyComponent)
	t.Run("A-02 requests", testApplyRequests)
	t.Run("A-03 handles of plans are consumed", testConsumedPlan)
	t.Run("A-04 empty stack", func(t *testing.T) {
		s := openStack(t, emptyStack)
		state := rawState{}
		s.applyInto(state, s.planned(nil, stackspb.PlanMode_NORMAL))
		if len(state) > 0 {
			t.Errorf("the state is %v", state)
		}
	})
	t.Run("A-05 nothing to change", testApplyNothing)
	t.Run("A-06 destroy", testApplyDestroy)
	t.Run("A-07 failure", testApplyFailure)
	t.Run("A-08 inputs", testApplyInputs)
	t.Run("A-09 stop", testStop)
	t.Run("A-10 call cancelled", testCancel)
	t.Run("A-11 end of the process while something runs", testSignalDuringApply)
	t.Run("A-12 inline plan", func(t *testing.T) {
		s := openStack(t, dataStack)
		raw := rawPlan(s.planned(nil, stackspb.PlanMode_NORMAL))
		request := &stackspb.ApplyStackChanges_Request{PlannedChanges: raw} //nolint:staticcheck // deprecated, and still offered
		events := must[[]*stackspb.ApplyStackChanges_Event](t)(s.apply(request))
		if diags := diagnostics(events); len(diags) > 0 || len(events) == 0 {
			t.Errorf("%d events, diagnostics %v", len(events), diags)
		}
	})
}

// applied returns an apply's descriptions of one kind.
func applied[T any](events []*stackspb.ApplyStackChanges_Event, get func(*stackspb.AppliedChange_ChangeDescription) *T) []*T {
	var found []*T
	for _, event := range events {
		for _, description := range event.GetAppliedChange().GetDescriptions() {
			if d := get(description); d != nil {
				found = append(found, d)
			}
		}
	}
	return found
}

func testApplyComponent(t *testing.T) {
	s := openStack(t, dataStack)
	state := rawState{}
	events := s.applyInto(state, s.planned(nil, stackspb.PlanMode_NORMAL))
	resources := applied(events, (*stackspb.AppliedChange_ChangeDescription).GetResourceInstance)
	if len(resources) != 1 {
		t.Fatalf("resources %v", resources)
	}
	r := resources[0]
	if r.GetAddr().GetComponentInstanceAddr() != "component.a" || r.GetAddr().GetResourceInstanceAddr() != "terraform_data.main" ||
		r.GetResourceMode() != stackspb.ResourceMode_MANAGED || r.GetResourceType() != "terraform_data" || r.GetProviderAddr() != builtIn {
		t.Errorf("resource %v", r)
	}
	value := decodeData(t, r.GetNewValue())
	if !value.IsWhollyKnown() || value.GetAttr("output").AsString() != "n" {
		t.Errorf("value %#v", value)
	}
	components := applied(events, (*stackspb.AppliedChange_ChangeDescription).GetComponentInstance)
	if len(components) != 1 || components[0].GetComponentAddr() != "component.a" || components[0].GetComponentInstanceAddr() != "component.a" {
		t.Fatalf("components %v", components)
	}
	if id := decodeInBand(t, components[0].GetOutputValues()["id"]); !id.RawEquals(value.GetAttr("id")) {
		t.Errorf("output id is %#v, want that of %#v", id, value)
	}
	outputs := applied(events, (*stackspb.AppliedChange_ChangeDescription).GetOutputValue)
	if len(outputs) != 1 || outputs[0].GetName() != "name" || decodeInBand(t, outputs[0].GetNewValue()).AsString() != "n" {
		t.Errorf("outputs %v", outputs)
	}
	variables := applied(events, (*stackspb.AppliedChange_ChangeDescription).GetInputVariable)
	if len(variables) != 1 || variables[0].GetName() != "name" || decodeInBand(t, variables[0].GetNewValue()).AsString() != "n" {
		t.Errorf("variables %v", variables)
	}
	var kinds []string
	for key := range state {
		kinds = append(kinds, key[:4])
	}
	slices.Sort(kinds)
	if want := []string{"CMPT", "OTPT", "RSRC", "VRBL"}; !slices.Equal(kinds, want) {
		t.Errorf("keys of kinds %q, want %q", kinds, want)
	}
	if statuses := componentStatuses(events, "component.a"); statuses != "PENDING APPLYING APPLIED" {
		t.Errorf("statuses of the component: %s", statuses)
	}
	if statuses := resourceStatuses(events, "terraform_data.main"); !strings.HasSuffix(statuses, "APPLYING APPLIED") {
		t.Errorf("statuses of the resource: %s", statuses)
	}
}

func testApplyRequests(t *testing.T) {
	s := openStack(t, dataStack)
	raw := rawPlan(s.planned(nil, stackspb.PlanMode_NORMAL))
	type request = stackspb.ApplyStackChanges_Request
	for name, change := range map[string]func(*request){
		"no plan":       func(r *request) { r.PlanHandle = 0 },
		"other handle":  func(r *request) { r.PlanHandle = s.config },
		"two plans":     func(r *request) { r.PlannedChanges = raw }, //nolint:staticcheck // deprecated
		"configuration": func(r *request) { r.StackConfigHandle = s.bundle },
		"locks":         func(r *request) { r.DependencyLocksHandle = 1 << 40 },
		"cache":         func(r *request) { r.ProviderCacheHandle = 1 << 40 },
		"no range":      func(r *request) { r.InputValues = inputs{"name": {Value: input(t, cty.True).GetValue()}} },
	} {
		req := &request{PlanHandle: must[int64](t)(s.openPlan(raw))}
		change(req)
		events, err := s.apply(req)
		if err == nil {
			t.Errorf("%s: no error, but %v", name, events)
		}
		wantCode(t, err, codes.InvalidArgument)
	}
}

func testConsumedPlan(t *testing.T) {
	s := openStack(t, dataStack)
	raw := rawPlan(s.planned(nil, stackspb.PlanMode_NORMAL))
	refused := must[int64](t)(s.openPlan(raw))
	_, err := s.apply(&stackspb.ApplyStackChanges_Request{PlanHandle: refused, StackConfigHandle: 1 << 40})
	wantCode(t, err, codes.InvalidArgument)
	wantCode(t, s.closePlan(refused), codes.InvalidArgument)
	handle := must[int64](t)(s.openPlan(raw))
	must[[]*stackspb.ApplyStackChanges_Event](t)(s.apply(&stackspb.ApplyStackChanges_Request{PlanHandle: handle}))
	_, err = s.apply(&stackspb.ApplyStackChanges_Request{PlanHandle: handle})
	wantCode(t, err, codes.InvalidArgument)
	wantCode(t, s.closePlan(handle), codes.InvalidArgument)
	unused := must[int64](t)(s.openPlan(raw))
	wantCode(t, s.closePlan(unused), codes.OK)
}

func testApplyNothing(t *testing.T) {
	s := openStack(t, dataStack)
	state := s.made()
	before := len(state)
	events := s.applyInto(state, s.planned(state, stackspb.PlanMode_NORMAL))
	if len(state) != before {
		t.Errorf("%d elements of state, and %d before", len(state), before)
	}
	if statuses := componentStatuses(events, "component.a"); !strings.HasSuffix(statuses, "APPLIED") {
		t.Errorf("statuses of the component: %s", statuses)
	}
	if statuses := resourceStatuses(events, "terraform_data.main"); statuses != "" {
		t.Errorf("statuses of the resource: %s, want none", statuses)
	}
}

func testApplyDestroy(t *testing.T) {
	s := openStack(t, dataStack)
	state := s.made()
	events := s.applyInto(state, s.planned(state, stackspb.PlanMode_DESTROY))
	if len(state) > 0 {
		t.Errorf("the state has %d elements: %v", len(state), state)
	}
	deleted := applied(events, (*stackspb.AppliedChange_ChangeDescription).GetDeleted)
	if len(deleted) == 0 {
		t.Error("no description was deleted")
	}
	again := s.planned(state, stackspb.PlanMode_DESTROY)
	if ok, _ := applyable(again); !ok {
		t.Errorf("destroying nothing: %v", diagnostics(again))
	}
}

// Of two components, the first fails after its object exists; its dependent is not begun.
func testApplyFailure(t *testing.T) {
	s := openFakeStack(t, `-- stack/main.tfcomponent.hcl --
required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = "1.0.0"
  }
}

provider "fake" "main" {}

component "fails" {
  source    = "./fails"
  providers = { fake = provider.fake.main }
}

component "later" {
  source = "./module"
  inputs = { name = component.fails.id }
}
-- stack/fails/main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}

resource "fake_resource" "good" {
  value = "good"
}

resource "fake_failing" "main" {
  fail_after_create = true
}

resource "fake_failing" "absent" {
  fail_apply = true
}

output "id" {
  value = fake_resource.good.id
}
`+moduleWithData)
	planned := s.planned(nil, stackspb.PlanMode_NORMAL)
	handle := must[int64](t)(s.openPlan(rawPlan(planned)))
	events := must[[]*stackspb.ApplyStackChanges_Event](t)(s.apply(&stackspb.ApplyStackChanges_Request{PlanHandle: handle}))
	state := rawState{}
	for _, event := range events {
		state.merge(event.GetAppliedChange())
	}
	if !hasError(diagnostics(events)) {
		t.Error("there is no error")
	}
	var keys []string
	for key := range state {
		if strings.HasPrefix(key, "RSRC") {
			keys = append(keys, key)
		}
	}
	if len(keys) != 2 || !slices.ContainsFunc(keys, func(key string) bool { return strings.Contains(key, "fake_failing.main") }) {
		t.Errorf("resources in the state: %q, want the good and the damaged one", keys)
	}
	if statuses := componentStatuses(events, "component.fails"); !strings.HasSuffix(statuses, "APPLYING ERRORED") {
		t.Errorf("statuses of the component that fails: %s", statuses)
	}
	if statuses := componentStatuses(events, "component.later"); strings.Contains(statuses, "APPLYING") {
		t.Errorf("statuses of the component behind it: %s", statuses)
	}
	if statuses := resourceStatuses(events, "fake_failing.main"); !strings.HasSuffix(statuses, "ERRORED") {
		t.Errorf("statuses of the resource that fails: %s", statuses)
	}
	again := s.planned(state, stackspb.PlanMode_NORMAL)
	for _, r := range descriptions(again, (*stackspb.PlannedChange_ChangeDescription).GetResourceInstancePlanned) {
		replaced := len(r.GetActions()) == 2 && r.GetActionReason() == "ResourceInstanceReplaceBecauseTainted"
		if r.GetAddr().GetResourceInstanceAddr() == "fake_failing.main" && !replaced {
			t.Errorf("planned again: %v, want a replacement of what is tainted", r)
		}
	}
}

func testApplyInputs(t *testing.T) {
	s := openStack(t, `-- stack/main.tfcomponent.hcl --
variable "plain" {
  type = string
}

variable "passing" {
  type      = string
  ephemeral = true
}

output "plain" {
  type  = string
  value = var.plain
}
`)
	given := inputs{"plain": input(t, cty.StringVal("p")), "passing": input(t, cty.StringVal("e"))}
	planned := must[[]*stackspb.PlanStackChanges_Event](t)(s.plan(&stackspb.PlanStackChanges_Request{InputValues: given}))
	for name, test := range map[string]struct {
		inputs inputs
		fails  bool
	}{
		"ephemeral only": {inputs{"passing": given["passing"]}, false},
		"repeated":       {given, false},
		"changed":        {inputs{"passing": given["passing"], "plain": input(t, cty.StringVal("other"))}, true},
		"not given":      {nil, true}, // it has no default
	} {
		handle := must[int64](t)(s.openPlan(rawPlan(planned)))
		events := must[[]*stackspb.ApplyStackChanges_Event](t)(
			s.apply(&stackspb.ApplyStackChanges_Request{PlanHandle: handle, InputValues: test.inputs}))
		if got := hasError(diagnostics(events)); got != test.fails {
			t.Errorf("%s: diagnostics %v, want an error: %t", name, diagnostics(events), test.fails)
		}
	}
}

// slowStack has two components, of which the second waits for the first; creating the object of the
// first goes on once the gate is there.
func slowStack(gate string) string {
	return `-- stack/main.tfcomponent.hcl --
required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = "1.0.0"
  }
}

provider "fake" "main" {}

component "slow" {
  source    = "./slow"
  providers = { fake = provider.fake.main }
}

component "later" {
  source = "./module"
  inputs = { name = component.slow.id }
}
-- stack/slow/main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}

resource "fake_slow" "main" {
  create_gate = "` + gate + `"
  ignore_stop = true
}

output "id" {
  value = fake_slow.main.id
}
` + moduleWithData
}

// running is an apply whose first object is being created.
type running struct {
	*stack
	stream stackspb.Stacks_ApplyStackChangesClient
	gate   string
}

func runApply(t *testing.T) *running {
	t.Helper()
	gate := filepath.Join(t.TempDir(), "gate")
	s := openFakeStack(t, slowStack(gate))
	handle := must[int64](t)(s.openPlan(rawPlan(s.planned(nil, stackspb.PlanMode_NORMAL))))
	stream, err := s.stacks.ApplyStackChanges(t.Context(), &stackspb.ApplyStackChanges_Request{
		PlanHandle: handle, StackConfigHandle: s.config, DependencyLocksHandle: s.locks, ProviderCacheHandle: s.cache,
	})
	if err != nil {
		t.Fatal(err)
	}
	testenv.Within(t, "the object is being created", func() {
		for {
			if _, err := os.Stat(gate + ".reached"); err == nil {
				return
			}
			time.Sleep(10 * time.Millisecond) //nolint:forbidigo // another process makes the file
		}
	})
	return &running{s, stream, gate}
}

// finish opens the gate and returns the events of the apply.
func (r *running) finish() []*stackspb.ApplyStackChanges_Event {
	r.t.Helper()
	writeFile(r.t, r.gate, "")
	events, err := receiveAll(r.stream.Recv)
	if err != nil {
		r.t.Fatal(err)
	}
	return events
}

// Stop returns at once; the object that is being created is finished, nothing else is begun, and
// later operations work.
func testStop(t *testing.T) {
	r := runApply(t)
	must[*setuppb.Stop_Response](t)(r.setup.Stop(t.Context(), &setuppb.Stop_Request{}))
	events := r.finish()
	state := rawState{}
	for _, event := range events {
		state.merge(event.GetAppliedChange())
	}
	slow, later := false, false
	for key := range state {
		slow, later = slow || strings.Contains(key, "fake_slow.main"), later || strings.Contains(key, "terraform_data.main")
	}
	if !slow || later || !hasError(diagnostics(events)) {
		t.Errorf("the state has the first object: %t, the second: %t; diagnostics %v", slow, later, diagnostics(events))
	}
	planned := r.planned(state, stackspb.PlanMode_NORMAL)
	if ok, _ := applyable(planned); !ok {
		t.Errorf("a later plan: %v", diagnostics(planned))
	}
}

func testCancel(t *testing.T) {
	r := runApply(t)
	_ = r.conn.Close()
	_, err := receiveAll(r.stream.Recv)
	if err == nil {
		t.Error("the call ended well")
	}
	writeFile(t, r.gate, "")
	other := &stack{client: r.process.connect(), config: r.config}
	other.find() // the process is still there
	wantCode(t, other.closeConfiguration(r.config), codes.OK)
}

// A signal does not stop running work.
func testSignalDuringApply(t *testing.T) {
	r := runApply(t)
	r.signal(syscall.SIGTERM)
	if r.gone(200 * time.Millisecond) {
		t.Fatal("the process has ended while an apply runs")
	}
	events := r.finish()
	if diags := diagnostics(events); hasError(diags) || !strings.HasSuffix(componentStatuses(events, "component.later"), "APPLIED") {
		t.Errorf("diagnostics %v", diags)
	}
	_ = r.conn.Close()
	if got := r.exitStatus(); got != 0 {
		t.Errorf("status %d, want 0", got)
	}
}
