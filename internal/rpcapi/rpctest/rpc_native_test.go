// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpctest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"

	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

// TestRPCNative has the features of providers that only the native engine uses.
func TestRPCNative(t *testing.T) {
	t.Run("X-01 actions", testActions)
	t.Run("X-03 deferred by the provider", testDeferredByProvider)
	t.Run("X-08 provider configuration refused", testRefusedConfiguration)
}

// fakeModule is a stack with one component, whose module has the given blocks and the fake
// provider.
func fakeModule(blocks string) string {
	head, _, _ := strings.Cut(fakeStack, "resource \"fake_resource\"")
	return head + blocks
}

const triggeringModule = `
resource "terraform_data" "main" {
  input = "v"
  lifecycle {
    action_trigger {
      events  = [before_create]
      actions = [action.fake_action.before]
    }
    action_trigger {
      events  = [after_create, after_update]
      actions = [action.fake_action.after["k"]]
    }
  }
}

action "fake_action" "before" {
  config {
    value = "before"
  }
}

action "fake_action" "after" {
  for_each = toset(["k"])
  config {
    value       = terraform_data.main.output
    secret      = "hidden"
    progress    = ["half way", "almost"]
    fail_invoke = FAILS
  }
}
`

func testActions(t *testing.T) {
	s := openFakeStack(t, fakeModule(strings.ReplaceAll(triggeringModule, "FAILS", "false")), "CAIRN_ENGINE=native")
	events := s.planned(nil, stackspb.PlanMode_NORMAL)
	wantCounts(t, events, &stackspb.StackChangeProgress_ComponentInstanceChanges{Total: 3, Add: 1, ActionInvocation: 2})
	planned := descriptions(events, (*stackspb.PlannedChange_ChangeDescription).GetActionInvocationPlanned)
	var got []string
	for _, i := range planned {
		trigger := i.GetResourceActionTrigger()
		got = append(got, fmt.Sprintf("%s %s %s of %s: %s %s %d.%d", i.GetAddr().GetComponentInstanceAddr(),
			i.GetAddr().GetActionInvocationInstanceAddr(), i.GetActionType(),
			i.GetProviderAddr(), trigger.GetTriggeringResourceAddress().GetResourceInstanceAddr(), trigger.GetTriggerEvent(),
			trigger.GetActionTriggerBlockIndex(), trigger.GetActionsListIndex()))
	}
	want := []string{
		"component.a action.fake_action.before fake_action of registry.terraform.io/cairnstacks/fake: terraform_data.main BEFORE_CREATE 0.0",
		`component.a action.fake_action.after["k"] fake_action of registry.terraform.io/cairnstacks/fake: terraform_data.main AFTER_CREATE 1.0`,
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Fatalf("planned invocations (-want +got):\n%s", diff)
	}
	config := planned[1].GetConfigValue()
	if len(config.GetSensitive()) != 1 {
		t.Errorf("sensitive paths %v, want that of the secret", config.GetSensitive())
	}
	ty, err := ctymsgpack.ImpliedType(config.GetMsgpack())
	if err != nil {
		t.Fatal(err)
	}
	if value, err := ctymsgpack.Unmarshal(config.GetMsgpack(), ty); err != nil ||
		value.GetAttr("value").IsKnown() || value.GetAttr("secret").AsString() != "hidden" {
		t.Errorf("configuration %#v, error %v, want an unknown value", value, err)
	}
	wantPlannedActions(t, events)

	applied := s.applyInto(rawState{}, events)
	before := "action.fake_action.before BEFORE_CREATE "
	after := `action.fake_action.after["k"] AFTER_CREATE `
	wantActionProgress(t, applied, []string{
		before + "PENDING", after + "PENDING", "APPLYING", before + "RUNNING", before + "COMPLETED", "applied",
		after + "RUNNING", after + "half way", after + "almost", after + "COMPLETED", "APPLIED",
	})
	wantCounts(t, applied, &stackspb.StackChangeProgress_ComponentInstanceChanges{Total: 1, Add: 1})

	s = openFakeStack(t, fakeModule(strings.ReplaceAll(triggeringModule, "FAILS", "true")), "CAIRN_ENGINE=native")
	handle := must[int64](t)(s.openPlan(rawPlan(s.planned(nil, stackspb.PlanMode_NORMAL))))
	failed := must[[]*stackspb.ApplyStackChanges_Event](t)(s.apply(&stackspb.ApplyStackChanges_Request{PlanHandle: handle}))
	wantActionProgress(t, failed, []string{
		before + "PENDING", after + "PENDING", "APPLYING", before + "RUNNING", before + "COMPLETED", "applied",
		after + "RUNNING", after + "half way", after + "almost", after + "ERRORED", "ERRORED",
	})
	if !hasError(diagnostics(failed)) {
		t.Error("there is no error")
	}

	s = openFakeStack(t, fakeModule(strings.ReplaceAll(strings.ReplaceAll(triggeringModule, "FAILS", "false"), `value = "before"`,
		"value = \"before\"\ndefer = true")), "CAIRN_ENGINE=native")
	events = s.planned(nil, stackspb.PlanMode_NORMAL)
	got = nil
	for _, d := range descriptions(events, (*stackspb.PlannedChange_ChangeDescription).GetActionInvocationDeferred) {
		got = append(got, d.GetDeferred().GetReason().String()+" "+d.GetActionInvocation().GetAddr().GetActionInvocationInstanceAddr())
	}
	if want := []string{
		"PROVIDER_CONFIG_UNKNOWN action.fake_action.before",
		`DEFERRED_PREREQ action.fake_action.after["k"]`,
	}; !slices.Equal(got, want) {
		t.Errorf("deferred invocations %q, want %q", got, want)
	}
	wantCounts(t, events, &stackspb.StackChangeProgress_ComponentInstanceChanges{Total: 1, Defer: 1})
}

// wantPlannedActions checks that the invocations of a plan are announced after the changes and
// before the counters.
func wantPlannedActions(t *testing.T, events []*stackspb.PlanStackChanges_Event) {
	t.Helper()
	var order []string
	for _, p := range progress(events) {
		switch {
		case p.GetResourceInstancePlannedChange() != nil:
			order = append(order, "change")
		case p.GetActionInvocationPlanned() != nil:
			planned := p.GetActionInvocationPlanned()
			order = append(order,
				planned.GetAddr().GetActionInvocationInstanceAddr()+" "+planned.GetResourceActionTrigger().GetTriggerEvent().String())
		case p.GetComponentInstanceChanges() != nil:
			order = append(order, "counters")
		}
	}
	if want := []string{
		"change",
		"action.fake_action.before BEFORE_CREATE",
		`action.fake_action.after["k"] AFTER_CREATE`,
		"counters",
	}; !slices.Equal(order, want) {
		t.Errorf("progress of the plan: %q, want %q", order, want)
	}
}

// wantActionProgress compares the events of an apply about actions, and those before and after.
func wantActionProgress(t *testing.T, events []*stackspb.ApplyStackChanges_Event, want []string) {
	t.Helper()
	var got []string
	for _, p := range progress(events) {
		switch {
		case p.GetActionInvocationStatus() != nil:
			s := p.GetActionInvocationStatus()
			got = append(got, fmt.Sprint(s.GetAddr().GetActionInvocationInstanceAddr(), " ", s.GetResourceActionTrigger().GetTriggerEvent(), " ",
				s.GetStatus()))
		case p.GetActionInvocationProgress() != nil:
			m := p.GetActionInvocationProgress()
			got = append(got, fmt.Sprint(m.GetAddr().GetActionInvocationInstanceAddr(), " ", m.GetResourceActionTrigger().GetTriggerEvent(), " ",
				m.GetMessage()))
		case p.GetResourceInstanceStatus().GetStatus() == stackspb.StackChangeProgress_ResourceInstanceStatus_APPLIED:
			got = append(got, "applied")
		case p.GetComponentInstanceStatus() != nil &&
			p.GetComponentInstanceStatus().GetStatus() != stackspb.StackChangeProgress_ComponentInstanceStatus_PENDING:
			got = append(got, p.GetComponentInstanceStatus().GetStatus().String())
		}
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("progress of the apply (-want +got):\n%s", diff)
	}
}

// A resource that its provider defers is left for another plan, with its dependents. All others are
// created.
func testDeferredByProvider(t *testing.T) {
	s := openFakeStack(t, fakeModule(`
resource "fake_deferred" "late" {
  deferred = true
}

resource "terraform_data" "after" {
  input = fake_deferred.late.result
}

resource "terraform_data" "free" {}

output "result" {
  value = fake_deferred.late.result
}
`), "CAIRN_ENGINE=native", "CAIRN_FAKE_DEFERRAL=1")
	events := s.planned(nil, stackspb.PlanMode_NORMAL)
	if ok, _ := applyable(events); !ok {
		t.Fatalf("not applyable: %v", diagnostics(events))
	}
	wantCounts(t, events, &stackspb.StackChangeProgress_ComponentInstanceChanges{Total: 3, Add: 1, Defer: 2})
	wantStatuses(t, events, "PENDING PLANNING DEFERRED")
	reasons := map[string]string{}
	for _, d := range descriptions(events, (*stackspb.PlannedChange_ChangeDescription).GetResourceInstanceDeferred) {
		reasons[d.GetResourceInstance().GetAddr().GetResourceInstanceAddr()] = d.GetDeferred().GetReason().String()
	}
	if diff := gocmp.Diff(map[string]string{
		"fake_deferred.late":   "RESOURCE_CONFIG_UNKNOWN",
		"terraform_data.after": "DEFERRED_PREREQ",
	}, reasons); diff != "" {
		t.Errorf("deferred resources (-want +got):\n%s", diff)
	}
	for _, component := range descriptions(events, (*stackspb.PlannedChange_ChangeDescription).GetComponentInstancePlanned) {
		if component.GetPlanComplete() {
			t.Errorf("the component is complete: %v", component)
		}
		value := must[cty.Value](t)(ctymsgpack.Unmarshal(component.GetOutputValues()["result"].GetMsgpack(), cty.DynamicPseudoType))
		if value.IsKnown() {
			t.Errorf("the output is %#v, want what is not known", value)
		}
	}
	state := rawState{}
	applied := s.applyInto(state, events)
	wantStatuses(t, applied, "PENDING APPLYING APPLIED")
	var resources []string
	for key := range state {
		if strings.HasPrefix(key, "RSRC") {
			resources = append(resources, key)
		}
	}
	if len(resources) != 1 || !strings.Contains(resources[0], "terraform_data.free") {
		t.Errorf("resources in the state: %q, want the one that waits for nothing", resources)
	}
}

// Where a provider refuses its configuration, each resource instance that needs it is in error,
// with the provider.
func testRefusedConfiguration(t *testing.T) {
	s := openFakeStack(t, strings.Replace(fakeModule(`
resource "fake_resource" "main" {
  count = 2
}

resource "terraform_data" "free" {}
`), `provider "fake" "main" {}`,
		"provider \"fake\" \"main\" {\n  config {\n    configure_error = \"no such account\"\n  }\n}", 1), "CAIRN_ENGINE=native")
	events := s.planned(nil, stackspb.PlanMode_NORMAL)
	wantStatuses(t, events, "PENDING PLANNING ERRORED")
	for _, addr := range []string{"fake_resource.main[0]", "fake_resource.main[1]"} {
		if statuses := resourceStatuses(events, addr); statuses != "PLANNING ERRORED" {
			t.Errorf("statuses of %s: %q", addr, statuses)
		}
	}
	for _, p := range progress(events) {
		if status := p.GetResourceInstanceStatus(); status != nil && status.GetProviderAddr() == "" {
			t.Errorf("a status without a provider: %v", status)
		}
	}
}
