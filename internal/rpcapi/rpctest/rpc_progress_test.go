// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpctest

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	terraform1 "github.com/cairnstacks/cairn/proto/terraform1"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

func TestRPCProgress(t *testing.T) {
	t.Run("G-01 order of events", testProgressOrder)
	t.Run("G-02 deferred", testProgressDeferred)
	t.Run("G-03 moved", testProgressMoved)
	t.Run("G-04 import", testProgressImport)
	t.Run("G-05 forgotten", testProgressForgotten)
	t.Run("G-06 provider that refuses", testProgressErrors)
	t.Run("G-07 nothing to change", func(t *testing.T) {
		s := openStack(t, dataStack)
		events := s.planned(s.made(), stackspb.PlanMode_NORMAL)
		wantCounts(t, events, &stackspb.StackChangeProgress_ComponentInstanceChanges{})
		wantStatuses(t, events, "PENDING PLANNING PLANNED")
	})
	t.Run("G-08 empty stack", func(t *testing.T) {
		s := openStack(t, emptyStack)
		for _, p := range progress(s.planned(nil, stackspb.PlanMode_NORMAL)) {
			if p.GetComponentInstanceStatus() != nil || p.GetComponentInstanceChanges() != nil {
				t.Errorf("progress of nothing: %v", p)
			}
		}
	})
	t.Run("G-09 destroy", testProgressDestroy)
	t.Run("G-10 replacement", testProgressReplacement)
	t.Run("G-11 unknown instances", testProgressUnknownInstances)
	t.Run("G-12 instances", testProgressInstances)
	t.Run("G-13 unknown import", testProgressUnknownImport)
}

var componentA = &stackspb.ComponentInstanceInStackAddr{ComponentAddr: "component.a", ComponentInstanceAddr: "component.a"}

// wantCounts compares the counters of component.a.
func wantCounts[E interface {
	GetProgress() *stackspb.StackChangeProgress
}](t testing.TB, events []E, want *stackspb.StackChangeProgress_ComponentInstanceChanges,
) {
	t.Helper()
	want.Addr = componentA
	if diff := gocmp.Diff(want, changeCounts(events, "component.a"), protocmp.Transform()); diff != "" {
		t.Errorf("counters (-want +got):\n%s", diff)
	}
}

// wantStatuses compares the statuses of component.a.
func wantStatuses[E interface {
	GetProgress() *stackspb.StackChangeProgress
}](t testing.TB, events []E, want string,
) {
	t.Helper()
	if got := componentStatuses(events, "component.a"); got != want {
		t.Errorf("statuses %s, want %s", got, want)
	}
}

// changed opens the stack again with another module.
func (s *stack) changed(module string) {
	s.t.Helper()
	writeFile(s.t, filepath.Join(s.dir, "stack", "module", "main.tf"), module)
	wantCode(s.t, s.closeConfiguration(s.config), 0)
	response := must[*stackspb.OpenStackConfiguration_Response](s.t)(s.openConfiguration(s.bundle,
		&terraform1.SourceAddress{Source: "./stack"}))
	if s.config = response.GetStackConfigHandle(); s.config == 0 {
		s.t.Fatal(response.GetDiagnostics())
	}
}

// Instances come first, then statuses; counters come after the resources and before the last
// status, and records after all.
func testProgressOrder(t *testing.T) {
	s := openStack(t, dataStack)
	events := s.planned(nil, stackspb.PlanMode_NORMAL)
	var order []string
	for _, event := range events {
		p := event.GetProgress()
		switch {
		case p.GetComponentInstances() != nil:
			order = append(order, fmt.Sprint("instances ", p.GetComponentInstances().GetInstanceAddrs()))
		case p.GetComponentInstanceStatus() != nil:
			order = append(order, p.GetComponentInstanceStatus().GetStatus().String())
		case p.GetResourceInstanceStatus() != nil:
			order = append(order, "resource "+p.GetResourceInstanceStatus().GetStatus().String())
		case p.GetResourceInstancePlannedChange() != nil:
			order = append(order, "resource change")
		case p.GetComponentInstanceChanges() != nil:
			order = append(order, "counters")
		}
		for _, description := range event.GetPlannedChange().GetDescriptions() {
			switch {
			case description.GetComponentInstancePlanned() != nil:
				order = append(order, "component kept")
			case description.GetResourceInstancePlanned() != nil:
				order = append(order, "resource kept")
			}
		}
	}
	want := []string{
		"instances [component.a]", "PENDING", "PLANNING", "resource PLANNING", "resource PLANNED", "resource change", "counters", "PLANNED",
		"component kept", "resource kept",
	}
	if !slices.Equal(order, want) {
		t.Errorf("got %q\nwant %q", order, want)
	}
	wantCounts(t, events, &stackspb.StackChangeProgress_ComponentInstanceChanges{Total: 1, Add: 1})
	for _, p := range progress(events) {
		change := p.GetResourceInstancePlannedChange()
		if change != nil && (change.GetProviderAddr() != builtIn ||
			!slices.Equal(change.GetActions(), []stackspb.ChangeType{stackspb.ChangeType_CREATE}) ||
			change.GetMoved() != nil || change.GetImported() != nil) {
			t.Errorf("change %v", change)
		}
		if status := p.GetResourceInstanceStatus(); status != nil && status.GetProviderAddr() != builtIn {
			t.Errorf("status %v", status)
		}
	}
}

// A resource whose count is not known yet is deferred.
func testProgressDeferred(t *testing.T) {
	s := openStack(t, `-- stack/main.tfcomponent.hcl --
component "first" {
  source = "./module"
}

component "a" {
  source = "./counted"
  inputs = { text = component.first.id }
}
-- stack/counted/main.tf --
variable "text" {
  type = string
}

resource "terraform_data" "main" {
  count = length(var.text)
}
`+moduleWithData)
	events := s.planned(nil, stackspb.PlanMode_NORMAL)
	if ok, _ := applyable(events); !ok {
		t.Fatalf("not applyable: %v", diagnostics(events))
	}
	wantCounts(t, events, &stackspb.StackChangeProgress_ComponentInstanceChanges{Total: 1, Defer: 1})
	wantStatuses(t, events, "PENDING PLANNING DEFERRED")
	deferred := descriptions(events, (*stackspb.PlannedChange_ChangeDescription).GetResourceInstanceDeferred)
	if len(deferred) != 1 || deferred[0].GetDeferred().GetReason() != stackspb.Deferred_INSTANCE_COUNT_UNKNOWN ||
		deferred[0].GetResourceInstance().GetAddr().GetResourceInstanceAddr() != "terraform_data.main[*]" ||
		!deferred[0].GetResourceInstance().GetIndex().GetUnknown() {
		t.Errorf("deferred resources %v", deferred)
	}
	if statuses := resourceStatuses(events, "terraform_data.main[*]"); statuses != "PLANNING PLANNED" {
		t.Errorf("statuses of the deferred resource %q", statuses)
	}
	var shown []*stackspb.StackChangeProgress_DeferredResourceInstancePlannedChange
	for _, p := range progress(events) {
		if change := p.GetDeferredResourceInstancePlannedChange(); change != nil {
			shown = append(shown, change)
		}
	}
	if len(shown) != 1 || shown[0].GetDeferred().GetReason() != stackspb.Deferred_INSTANCE_COUNT_UNKNOWN {
		t.Errorf("progress of deferred resources %v", shown)
	}
	for _, component := range descriptions(events, (*stackspb.PlannedChange_ChangeDescription).GetComponentInstancePlanned) {
		if component.GetPlanComplete() != (component.GetAddr().GetComponentAddr() == "component.first") {
			t.Errorf("component %v", component)
		}
	}
}

func testProgressMoved(t *testing.T) {
	s := openStack(t, dataStack)
	state := s.made()
	_, module, _ := strings.Cut(moduleWithData, "--\n")
	module = strings.ReplaceAll(module, "main", "new")
	s.changed(module[strings.Index(module, "variable"):] + "\nmoved {\n  from = terraform_data.main\n  to   = terraform_data.new\n}\n")
	events := s.planned(state, stackspb.PlanMode_NORMAL)
	wantCounts(t, events, &stackspb.StackChangeProgress_ComponentInstanceChanges{Total: 1, Move: 1})
	resources := descriptions(events, (*stackspb.PlannedChange_ChangeDescription).GetResourceInstancePlanned)
	if len(resources) != 1 || !slices.Equal(resources[0].GetActions(), noop) ||
		resources[0].GetAddr().GetResourceInstanceAddr() != "terraform_data.new" ||
		resources[0].GetMoved().GetPrevAddr().GetResourceInstanceAddr() != "terraform_data.main" {
		t.Errorf("resources %v, diagnostics %v", resources, diagnostics(events))
	}
	done := s.applyInto(state, events)
	moved := false
	for _, event := range done {
		for _, description := range event.GetAppliedChange().GetDescriptions() {
			moved = moved || description.GetMoved() != nil && strings.Contains(description.GetKey(), "terraform_data.main")
		}
	}
	for key := range state {
		if strings.Contains(key, "terraform_data.main") {
			t.Errorf("the state still has %s", key)
		}
	}
	if !moved {
		t.Error("no description was moved")
	}
}

func testProgressImport(t *testing.T) {
	s := openStack(t, strings.ReplaceAll(dataStack, "resource \"terraform_data\"",
		"import {\n  to = terraform_data.main\n  id = \"the-id\"\n}\n\nresource \"terraform_data\""))
	events := s.planned(nil, stackspb.PlanMode_NORMAL)
	resources := descriptions(events, (*stackspb.PlannedChange_ChangeDescription).GetResourceInstancePlanned)
	if len(resources) != 1 || resources[0].GetImported().GetImportId() != "the-id" || resources[0].GetImported().GetUnknown() {
		t.Errorf("resources %v, diagnostics %v", resources, diagnostics(events))
	}
	for _, p := range progress(events) {
		if status := p.GetResourceInstanceStatus(); status != nil && status.GetProviderAddr() != builtIn {
			t.Errorf("a status is of provider %q: %v", status.GetProviderAddr(), status)
		}
	}
	if counts := changeCounts(events, "component.a"); counts.GetImport() != 1 ||
		counts.GetAdd() != 0 || counts.GetTotal() != 1+counts.GetChange() {
		t.Errorf("counters %v", counts)
	}
}

// importStack has a component that imports by an id which another one gives it.
const importStack = `-- stack/main.tfcomponent.hcl --
component "a" {
  source = "./module"
}

component "b" {
  source = "./imports"
  inputs = { id = component.a.id }
}
-- stack/module/main.tf --
resource "terraform_data" "main" {
}

output "id" {
  value = terraform_data.main.id
}
-- stack/imports/main.tf --
variable "id" {
  type = string
}

import {
  to = terraform_data.main
  id = var.id
}

resource "terraform_data" "main" {
}
`

func testProgressUnknownImport(t *testing.T) {
	events := openStack(t, importStack).planned(nil, stackspb.PlanMode_NORMAL)
	deferred := descriptions(events, (*stackspb.PlannedChange_ChangeDescription).GetResourceInstanceDeferred)
	if len(deferred) != 1 || deferred[0].GetDeferred().GetReason() != stackspb.Deferred_RESOURCE_CONFIG_UNKNOWN ||
		!deferred[0].GetResourceInstance().GetImported().GetUnknown() || deferred[0].GetResourceInstance().GetImported().GetImportId() != "" {
		t.Errorf("deferred %v, diagnostics %v", deferred, diagnostics(events))
	}
	if counts := changeCounts(events, "component.b"); counts.GetDefer() != 1 || counts.GetTotal() != 1 {
		t.Errorf("counters %v", counts)
	}
}

func testProgressForgotten(t *testing.T) {
	s := openStack(t, dataStack)
	state := s.made()
	s.changed(`variable "name" {
  type = string
}

removed {
  from = terraform_data.main
  lifecycle {
    destroy = false
  }
}

output "name" {
  value = var.name
}
`)
	events := s.planned(state, stackspb.PlanMode_NORMAL)
	wantCounts(t, events, &stackspb.StackChangeProgress_ComponentInstanceChanges{Total: 1, Forget: 1})
	resources := descriptions(events, (*stackspb.PlannedChange_ChangeDescription).GetResourceInstancePlanned)
	if len(resources) != 1 || !slices.Equal(resources[0].GetActions(), []stackspb.ChangeType{stackspb.ChangeType_FORGET}) {
		t.Errorf("resources %v", resources)
	}
	if diags := diagnostics(events); len(diags) == 0 || hasError(diags) {
		t.Errorf("diagnostics %v, want a warning", diags)
	}
}

func testProgressErrors(t *testing.T) {
	s := openFakeStack(t, strings.ReplaceAll(fakeStack, "resource \"fake_resource\" \"main\" {",
		"resource \"fake_failing\" \"main\" {\n  fail_plan = true"))
	events := s.planned(nil, stackspb.PlanMode_NORMAL)
	wantStatuses(t, events, "PENDING PLANNING ERRORED")
	if statuses := resourceStatuses(events, "fake_failing.main"); statuses != "PLANNING ERRORED" {
		t.Errorf("statuses of the resource %s", statuses)
	}
	if ok, found := applyable(events); ok || !found || !hasError(diagnostics(events)) {
		t.Errorf("applyable: %t, said: %t, diagnostics %v", ok, found, diagnostics(events))
	}
}

func testProgressDestroy(t *testing.T) {
	s := openStack(t, dataStack)
	events := s.planned(s.made(), stackspb.PlanMode_DESTROY)
	wantCounts(t, events, &stackspb.StackChangeProgress_ComponentInstanceChanges{Total: 1, Remove: 1})
	wantStatuses(t, events, "PENDING PLANNING PLANNED")
	resources := descriptions(events, (*stackspb.PlannedChange_ChangeDescription).GetResourceInstancePlanned)
	deleted := []stackspb.ChangeType{stackspb.ChangeType_DELETE}
	if len(resources) != 1 || !slices.Equal(resources[0].GetActions(), deleted) || !decodeData(t, resources[0].GetValues().GetNew()).IsNull() {
		t.Errorf("resources %v", resources)
	}
	components := descriptions(events, (*stackspb.PlannedChange_ChangeDescription).GetComponentInstancePlanned)
	if len(components) != 1 || !slices.Equal(components[0].GetActions(), deleted) {
		t.Errorf("components %v", components)
	}
	nothing := s.planned(nil, stackspb.PlanMode_DESTROY)
	wantCounts(t, nothing, &stackspb.StackChangeProgress_ComponentInstanceChanges{})
	wantStatuses(t, nothing, "PENDING PLANNING PLANNED")
}

func testProgressReplacement(t *testing.T) {
	s := openStack(t, dataStack)
	state := s.made()
	s.changed(`variable "name" {
  type = string
}

resource "terraform_data" "main" {
  triggers_replace = "changed"
}

output "name" {
  value = var.name
}
`)
	events := s.planned(state, stackspb.PlanMode_NORMAL)
	wantCounts(t, events, &stackspb.StackChangeProgress_ComponentInstanceChanges{Total: 2, Add: 1, Remove: 1})
	resources := descriptions(events, (*stackspb.PlannedChange_ChangeDescription).GetResourceInstancePlanned)
	if len(resources) != 1 ||
		!slices.Equal(resources[0].GetActions(), []stackspb.ChangeType{stackspb.ChangeType_DELETE, stackspb.ChangeType_CREATE}) ||
		resources[0].GetActionReason() != "ResourceInstanceReplaceBecauseCannotUpdate" || len(resources[0].GetReplacePaths()) == 0 ||
		resources[0].GetReplacePaths()[0].GetSteps()[0].GetAttributeName() != "triggers_replace" {
		t.Errorf("resources %v, diagnostics %v", resources, diagnostics(events))
	}
}

// A component whose keys are not known yet has no instances that could be listed.
func testProgressUnknownInstances(t *testing.T) {
	s := openStack(t, `-- stack/main.tfcomponent.hcl --
component "first" {
  source = "./module"
}

component "a" {
  source   = "./module"
  for_each = toset([component.first.id])
}
`+moduleWithData)
	events := s.planned(nil, stackspb.PlanMode_NORMAL)
	if ok, _ := applyable(events); !ok {
		t.Fatalf("not applyable: %v", diagnostics(events))
	}
	for _, p := range progress(events) {
		if i := p.GetComponentInstances(); i.GetComponentAddr() == "component.a" && len(i.GetInstanceAddrs()) > 0 {
			t.Errorf("instances %v, want none", i)
		}
	}
	if statuses := componentStatuses(events, "component.a[*]"); !strings.HasSuffix(statuses, "DEFERRED") {
		t.Errorf("statuses of component.a[*]: %s", statuses)
	}
	deferred := descriptions(events, (*stackspb.PlannedChange_ChangeDescription).GetResourceInstanceDeferred)
	if len(deferred) != 1 || deferred[0].GetResourceInstance().GetAddr().GetComponentInstanceAddr() != "component.a[*]" {
		t.Errorf("deferred resources %v", deferred)
	}
}

func testProgressInstances(t *testing.T) {
	s := openStack(t, `-- stack/main.tfcomponent.hcl --
component "a" {
  source   = "./module"
  for_each = toset(["x", "y\"z"])
}

component "none" {
  source   = "./module"
  for_each = toset([])
}

stack "inner" {
  source   = "./inner"
  for_each = toset(["k"])
}
-- stack/inner/main.tfcomponent.hcl --
component "b" {
  source = "../module"
}
`+moduleWithData)
	instances := map[string][]string{}
	events := s.planned(nil, stackspb.PlanMode_NORMAL)
	for _, p := range progress(events) {
		if i := p.GetComponentInstances(); i != nil {
			instances[i.GetComponentAddr()] = append(instances[i.GetComponentAddr()], slices.Sorted(slices.Values(i.GetInstanceAddrs()))...)
		}
	}
	want := map[string][]string{
		"component.a":             {`component.a["x"]`, `component.a["y\"z"]`},
		"component.none":          nil,
		"stack.inner.component.b": {`stack.inner["k"].component.b`},
	}
	if diff := gocmp.Diff(want, instances); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	state := rawState{}
	done := s.applyInto(state, events)
	for _, addr := range []string{`component.a["x"]`, `component.a["y\"z"]`, `stack.inner["k"].component.b`} {
		if got := componentStatuses(done, addr); got != "PENDING APPLYING APPLIED" {
			t.Errorf("%s: %s", addr, got)
		}
		if counts := changeCounts(done, addr); counts.GetAdd() != 1 || counts.GetTotal() != 1 {
			t.Errorf("%s: %v", addr, counts)
		}
	}
}
