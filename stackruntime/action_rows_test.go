// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/internal/testprovider"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

const allowDeferral = testprovider.DeferralVariable + "=1"

// actionStack is a stack with a module, which gets the fake provider and a boolean.
const actionStack = `
-- main.tfcomponent.hcl --
required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = "1.0.0"
  }
}
provider "fake" "this" {}
variable "flag" {
  type    = bool
  default = false
}
component "a" {
  source    = "./a"
  inputs    = { flag = var.flag }
  providers = { fake = provider.fake.this }
}
-- a/main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
variable "flag" {
  type = bool
}
`

const triggeringResource = `
resource "terraform_data" "this" {
  input = "v"
  lifecycle {
    action_trigger {
      events  = [after_create]
      actions = [action.fake_action.tell]
    }
  }
}
action "fake_action" "tell" {
  config {
    value       = caller.output
    progress    = ["half way"]
    fail_invoke = var.flag
  }
}
`

func TestRow023ActionTriggeredByResource(t *testing.T) {
	t.Parallel()
	s := stacktest.Native(t, actionStack+triggeringResource)
	same(t, "diagnostics", "", stacktest.Summaries(s.Validate()))
	samePlan(t, s, `input flag: create false
component.a: create, applyable
  terraform_data.this: create
  action.fake_action.tell: after_create of terraform_data.this (0.0)
`)
}

// The cause that defers an invocation defers the change that would trigger it, and the reverse.
func TestRow111DeferredAction(t *testing.T) {
	t.Parallel()
	s := stacktest.Native(t, actionStack+`
resource "fake_deferred" "late" {
  deferred = true
  lifecycle {
    action_trigger {
      events  = [before_create, after_create]
      actions = [action.fake_action.one]
    }
  }
}
resource "terraform_data" "other" {
  lifecycle {
    action_trigger {
      events  = [after_create]
      actions = [action.fake_action.late]
    }
  }
}
resource "terraform_data" "many" {
  count = length(fake_deferred.late.result)
  lifecycle {
    action_trigger {
      events  = [after_create]
      actions = [action.fake_action.numbered[count.index]]
    }
  }
}
resource "terraform_data" "free" {}
action "fake_action" "one" {}
action "fake_action" "late" {
  config {
    defer = true
  }
}
action "fake_action" "numbered" {
  count = 2
}
`, allowDeferral)
	samePlan(t, s, `incomplete
input flag: create false
component.a: create, applyable, incomplete, deferred (resource_config_unknown)
  terraform_data.free: create
  fake_deferred.late: deferred (resource_config_unknown), create
  terraform_data.many[*]: deferred (instance_count_unknown), create
  terraform_data.other: deferred (deferred_prereq), create
  action.fake_action.one: deferred (deferred_prereq), before_create of fake_deferred.late (0.0)
  action.fake_action.one: deferred (deferred_prereq), after_create of fake_deferred.late (0.0)
  action.fake_action.numbered[*]: deferred (instance_count_unknown), after_create of terraform_data.many[*] (0.0)
  action.fake_action.late: deferred (provider_config_unknown), after_create of terraform_data.other (0.0)
`)
	s.Converge()
	calls, err := testprovider.ReadCalls(s.Calls)
	if err != nil || testprovider.CountCalls(calls, "InvokeAction") > 0 {
		t.Errorf("calls %v, error %v; want no action invoked", calls, err)
	}
}

func TestRow143And263ProgressOfPlannedActions(t *testing.T) {
	t.Parallel()
	s := stacktest.Native(t, actionStack+triggeringResource)
	events := s.Watch()
	s.Plan(engine.Normal)
	same(t, "events", `
component.a pending
component.a planning
component.a terraform_data.this planned_change create
component.a action.fake_action.tell planned_action_invocation
component.a planned add 1, invoke 1
component.a planned
`, withoutExpansion(events))
}

func TestRow243ActionHooks(t *testing.T) {
	t.Parallel()
	for _, fails := range []bool{false, true} {
		archive := actionStack + triggeringResource
		end, outcome := "action_complete", "component.a applied add 1, invoke 1\ncomponent.a applied\n"
		if fails {
			archive = strings.Replace(archive, "default = false", "default = true", 1)
			end, outcome = "action_errored", "component.a failed\n"
		}
		s := stacktest.Native(t, archive)
		plan := s.Plan(engine.Normal)
		events := s.Watch()
		_, diags := s.TryApply(plan)
		if diags.HasErrors() != fails {
			t.Errorf("diagnostics %v, want errors: %t", stacktest.Summaries(diags), fails)
		}
		same(t, "events", `
component.a pending
component.a applying
component.a terraform_data.this apply_start create
component.a terraform_data.this apply_complete create
component.a action.fake_action.tell action_start
component.a action.fake_action.tell action_progress half way
component.a action.fake_action.tell `+end+"\n"+outcome, withoutExpansion(events))
		if got := stacktest.StateText(s.State); !strings.Contains(got, "terraform_data.this") {
			t.Errorf("state:\n%s\nwant the object, whatever the action has done", got)
		}
	}
}

// TestRow068ByProvider has a provider that defers a resource, where others show it with an engine
// in memory.
func TestRow068ByProvider(t *testing.T) {
	t.Parallel()
	s := stacktest.Native(t, actionStack+`
resource "fake_deferred" "late" {
  deferred = var.flag
}
resource "terraform_data" "after" {
  input = fake_deferred.late.result
}
resource "terraform_data" "free" {}
`, allowDeferral)
	archive := "-- main.tfcomponent.hcl --\n" + strings.Split(strings.SplitN(actionStack, "-- main.tfcomponent.hcl --\n", 2)[1],
		"-- a/main.tf --")[0]
	s.Write(strings.Replace(archive, "default = false", "default = true", 1))
	samePlan(t, s, `incomplete
input flag: create true
component.a: create, applyable, incomplete, deferred (resource_config_unknown)
  terraform_data.free: create
  fake_deferred.late: deferred (resource_config_unknown), create
  terraform_data.after: deferred (deferred_prereq), create
`)
	s.Converge()
	s.Write(archive)
	samePlan(t, s, `input flag: update false
component.a: update, applyable
  fake_deferred.late: create
  terraform_data.after: create
  terraform_data.free: no-op
`)
}

// TestRow206ByProvider has a provider that defers the destruction of an object.
func TestRow206ByProvider(t *testing.T) {
	t.Parallel()
	s := stacktest.Native(t, `
-- main.tfcomponent.hcl --
required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = "1.0.0"
  }
}
provider "fake" "this" {}
component "base" {
  source = "./base"
}
component "dependent" {
  source    = "./dependent"
  inputs    = { id = component.base.id }
  providers = { fake = provider.fake.this }
}
-- base/main.tf --
resource "terraform_data" "this" {}
output "id" {
  value = terraform_data.this.id
}
-- dependent/main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
variable "id" {
  type = string
}
resource "fake_deferred" "late" {
  deferred = true
}
`)
	s.Converge()
	before := stacktest.StateText(s.State)
	s.UseNative(allowDeferral)
	plan := s.Plan(engine.Destroy)
	same(t, "plan", `
incomplete
component.base: delete, incomplete, deferred (deferred_prereq), destroy mode
  terraform_data.this: deferred (deferred_prereq), delete
component.dependent: delete, incomplete, deferred (resource_config_unknown), destroy mode, requires component.base
  fake_deferred.late: deferred (resource_config_unknown), delete
`, stacktest.PlanText(plan))
	s.Apply(plan)
	same(t, "state after a destroy with everything deferred", before, stacktest.StateText(s.State))
}

// withoutExpansion returns the recorded events but for the expansion, which comes at any time.
func withoutExpansion(events *stacktest.Events) string {
	return strings.Replace(events.Of("component.a"), "component.a expanded 1\n", "", 1)
}
