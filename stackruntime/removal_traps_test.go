// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/internal/testprovider"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// componentPlan finds the plan of one component instance.
func componentPlan(t *testing.T, plan *stackplan.Plan, addr string) *stackplan.Component {
	t.Helper()
	for _, c := range plan.Components {
		if c.Addr.String() == addr {
			return c
		}
	}
	t.Fatalf("the plan has no %s:\n%s", addr, stacktest.PlanText(plan))
	return nil
}

// changeRecord changes the record of a component instance in the state.
func changeRecord(t *testing.T, s *stacktest.Stack, addr string, change func(*stackstate.Component)) {
	t.Helper()
	key := component(t, addr)
	s.State = s.State.With(func(state *stackstate.State) {
		record := *state.Components[key]
		change(&record)
		state.Components[key] = &record
	})
}

// All that the state says depends on a removed component is looked at, also after something that is
// gone with its stack.
func TestQuirkB06AllDependentsOfARemovedComponentCount(t *testing.T) {
	const rest = `
-- s/main.tfcomponent.hcl --
variable "in" { type = string }
component "user" {
  source = "../box"
  inputs = { in = var.in }
}
` + boxModules
	const keys = `
-- main.tfcomponent.hcl --
variable "keys" { type = set(string) }
component "keyed" {
  for_each = var.keys
  source   = "./box"
}
`
	s := stacktest.InMemory(t, keys+`
component "base" { source = "./box" }
stack "gone" {
  source = "./s"
  inputs = { in = component.base.out }
}
stack "here" {
  source = "./s"
  inputs = { in = "${component.base.out} ${length(component.keyed)}" }
}
`+rest)
	s.Inputs["keys"] = keySet()
	s.Converge()
	gone := component(t, "stack.gone.component.user")
	s.State = s.State.With(func(state *stackstate.State) { delete(state.Components, gone) })
	s.Write(keys + `
removed {
  from   = component.base
  source = "./box"
}
stack "here" {
  source = "./s"
  inputs = { in = "${length(component.keyed)}" }
}
`)
	s.Inputs["keys"] = cty.UnknownVal(cty.Set(cty.String))
	same(t, "plan of the base", "component.base: delete, incomplete, deferred (deferred_prereq), destroy mode\n"+
		"  terraform_data.this: deferred (deferred_prereq), delete\n",
		about(stacktest.PlanText(s.Plan(engine.Normal)), "component.base"))
	s.Inputs["keys"] = keySet("x")
	s.Converge()
	if s.State.Components[component(t, "component.base")] != nil {
		t.Error("component.base is still there, with nothing deferred any more")
	}
}

// The dependent refuses to go once its requirement is gone.
func TestQuirkB07RemovedDependentsGoFirst(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, fakeStack(`
component "base" {
  source = "./one"
  inputs = { id = "p" }
}
component "user" {
  source = "./blocked"
  inputs = { id = "d", required = [component.base.id] }
}
`))
	s.Converge()
	s.Write(fakeStack(`
removed {
  from   = component.user
  source = "./blocked"
}
removed {
  from   = component.base
  source = "./one"
}
`))
	s.Converge()
	nothingLeft(t, s)
}

// An instance that is removed waits for the users of its component, which do not wait for it.
func TestRemovedInstanceWaitsForUsersOfItsComponent(t *testing.T) {
	w := newWorld(t, removable)
	w.rewrite("main.tfcomponent.hcl", `
component "each" {
  for_each = { a = 1, b = 2 }
  source   = "./echo"
  inputs   = { in = each.value }
}
component "user" {
  source = "./echo"
  inputs = { in = { for k, v in component.each : k => v.out } }
}
`)
	w.Apply(w.Plan(engine.Normal))
	w.engine.Forget()
	w.rewrite("main.tfcomponent.hcl", `
component "each" {
  for_each = { a = 1 }
  source   = "./echo"
  inputs   = { in = each.value }
}
removed {
  from   = component.each["b"]
  source = "./echo"
}
component "user" {
  source = "./echo"
  inputs = { in = { for k, v in component.each : k => v.out } }
}
`)
	w.Apply(w.Plan(engine.Normal))
	if diff := cmp.Diff([]string{"component.user", `component.each["b"]`}, applyOrder(w)); diff != "" {
		t.Errorf("order of applies (-want +got):\n%s", diff)
	}
}

// Records from different applies may say that two components depend on each other. Both can go
// nevertheless.
func TestRemovalOfWhatDependsOnEachOther(t *testing.T) {
	const blocks = `
-- main.tfcomponent.hcl --
removed {
  from   = component.a
  source = "./box"
}
removed {
  from   = component.b
  source = "./box"
}
`
	s := stacktest.InMemory(t,
		"-- main.tfcomponent.hcl --\ncomponent \"a\" { source = \"./box\" }\ncomponent \"b\" { source = \"./box\" }\n"+boxModules)
	s.Converge()
	a, b := stackaddrs.ComponentOf(component(t, "component.a")), stackaddrs.ComponentOf(component(t, "component.b"))
	for addr, other := range map[string]stackaddrs.AbsComponent{"component.a": b, "component.b": a} {
		changeRecord(t, s, addr, func(record *stackstate.Component) {
			record.Dependencies, record.Dependents = []stackaddrs.AbsComponent{other}, []stackaddrs.AbsComponent{other}
		})
	}
	s.Write(blocks)
	s.Converge()
	same(t, "state", "", stacktest.StateText(s.State))
}

// Sets that depend on components with unknown sets, and on instances that are removed from them,
// are not a cycle.
func TestUnknownSetsOfUnknownSets(t *testing.T) {
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
variable "keys" { type = set(string) }
component "each" {
  for_each = var.keys
  source   = "./box"
}
component "user" {
  source = "./box"
  inputs = { in = join(",", keys(component.each)) }
}
stack "s" {
  for_each = { for k, c in component.each : k => component.user.out }
  source   = "./s"
}
removed {
  for_each = toset([component.user.out])
  from     = component.each[each.key]
  source   = "./box"
}
`+boxStack+boxModules)
	s.Inputs["keys"] = cty.UnknownVal(cty.Set(cty.String))
	plan, diags := s.TryPlan(engine.Normal)
	same(t, "diagnostics", "", stacktest.Summaries(diags))
	for _, addr := range []string{"component.each[*]", "component.user", "stack.s[*].component.box"} {
		if componentPlan(t, plan, addr).Complete {
			t.Errorf("%s is not deferred", addr)
		}
	}
}

// A component that uses a provider whose configuration fails while applying stays as it was, and
// its dependents are skipped.
func TestQuirkB08ProviderFailsAtApply(t *testing.T) {
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = ">= 1.0.0"
  }
}
variable "region" { type = string }
component "region" {
  source = "./box"
  inputs = { in = var.region }
}
provider "fake" "main" {
  config { region = regex("^good", component.region.out) }
}
component "user" {
  source    = "./slot"
  inputs    = { in = var.region }
  providers = { fake = provider.fake.main }
}
component "after" {
  source = "./box"
  inputs = { in = component.user.out }
}
-- slot/main.tf --
terraform {
  required_providers { fake = { source = "cairnstacks/fake" } }
}
variable "in" { type = string }
resource "terraform_data" "this" { input = var.in }
output "out" { value = terraform_data.this.output }
`+boxModules, withFakeProvider)
	s.Inputs["region"] = cty.StringVal("good")
	s.Converge()
	s.Inputs["region"] = cty.StringVal("bad")
	result, diags := s.TryApply(s.Plan(engine.Normal))
	if got := stacktest.Summaries(diags); strings.Count(got, "\n") != 1 || !strings.HasPrefix(got, "error main.tfcomponent.hcl:13: ") {
		t.Errorf("diagnostics:\n%s\nwant one error of the provider's configuration", got)
	}
	for addr, want := range map[string]hooks.Status{"component.user": hooks.Failed, "component.after": hooks.Skipped} {
		if got := result.Components[component(t, addr)].Status; got != want {
			t.Errorf("%s is %s, want %s", addr, got, want)
		}
		if out := s.State.Components[component(t, addr)].Outputs["out"]; !out.RawEquals(cty.StringVal("good")) {
			t.Errorf("recorded output of %s = %#v, want the one from before", addr, out)
		}
	}
}

// The end of a provisioner is another event than its begin.
func TestQuirkB12ProvisionersEnd(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, `
-- main.tfcomponent.hcl --
component "self" { source = "./mod" }
-- mod/main.tf --
resource "terraform_data" "this" {
  provisioner "local-exec" {
    command = "true"
  }
}
`)
	events := s.Watch()
	s.Converge()
	var got []string
	for _, line := range events.Lines() {
		if strings.Contains(line, " provision_") && !strings.Contains(line, "provision_progress") {
			got = append(got, line)
		}
	}
	want := []string{"component.self terraform_data.this provision_start", "component.self terraform_data.this provision_complete"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events of provisioners (-want +got):\n%s", diff)
	}
}

// The example of the public documentation.
func TestQuirkB20ComponentWithRemovedBlockIsRejected(t *testing.T) {
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
component "box" { source = "./box" }
removed {
  from   = component.box
  source = "./box"
}
`+boxModules)
	same(t, "validate", "error main.tfcomponent.hcl:3: Component both declared and removed\n", stacktest.Summaries(s.Validate()))
}

// Removed blocks get only instances in the state; those with unknown sets only the ones that
// nothing else may get.
func TestTrapC06RemovedBlocksComeLast(t *testing.T) {
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
variable "live" { type = set(string) }
variable "dead" { type = set(string) }
component "box" {
  for_each = var.live
  source   = "./box"
}
removed {
  for_each = var.dead
  from     = component.box[each.key]
  source   = "./box"
}
`+boxModules)
	s.Inputs["live"], s.Inputs["dead"] = keySet("a", "b"), keySet("never")
	s.Converge()
	unknown := cty.UnknownVal(cty.Set(cty.String))
	for _, test := range []struct {
		live, dead cty.Value
		want       map[string]stackplan.Action
		deferred   bool
	}{
		{keySet("a"), unknown, map[string]stackplan.Action{`component.box["a"]`: stackplan.NoOp, `component.box["b"]`: stackplan.Delete}, true},
		{unknown, unknown, map[string]stackplan.Action{`component.box["a"]`: stackplan.Update, `component.box["b"]`: stackplan.Update}, true},
		{unknown, keySet("b"), map[string]stackplan.Action{`component.box["a"]`: stackplan.Update, `component.box["b"]`: stackplan.Delete}, true},
		{unknown, keySet("a", "b"), map[string]stackplan.Action{
			`component.box["a"]`: stackplan.Delete,
			`component.box["b"]`: stackplan.Delete,
			`component.box[*]`:   stackplan.Create,
		}, true},
		{
			keySet("a"),
			keySet("b", "c"),
			map[string]stackplan.Action{`component.box["a"]`: stackplan.NoOp, `component.box["b"]`: stackplan.Delete},
			false,
		},
	} {
		s.Inputs["live"], s.Inputs["dead"] = test.live, test.dead
		plan := s.Plan(engine.Normal)
		if diff := cmp.Diff(test.want, actions(plan)); diff != "" || plan.Complete == test.deferred {
			t.Errorf("live %#v, dead %#v: complete %t, actions (-want +got):\n%s", test.live, test.dead, plan.Complete, diff)
		}
	}
}

func TestTrapC08InputsOfWhatIsRemoved(t *testing.T) {
	const inStack = `
-- s/main.tfcomponent.hcl --
variable "in" { type = string }
component "box" {
  source = "../box"
  inputs = { in = "${var.in} in the stack" }
}
` + boxModules
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
component "box" {
  source = "./box"
  inputs = { in = "first" }
}
stack "s" {
  source = "./s"
  inputs = { in = "first" }
}
`+inStack)
	s.Converge()
	s.Write(`
-- main.tfcomponent.hcl --
removed {
  from   = component.box
  source = "./box"
}
removed {
  from   = stack.s
  source = "./s"
  inputs = { in = "now" }
}
`)
	plan := s.Plan(engine.Normal)
	for addr, want := range map[string]string{"component.box": "first", "stack.s.component.box": "now in the stack"} {
		if got := componentPlan(t, plan, addr).Inputs["in"]; !got.RawEquals(cty.StringVal(want)) {
			t.Errorf("%s is planned with %#v, want %q", addr, got, want)
		}
	}
}

// The first credentials are out of date everywhere but at the provider.
func TestTrapC09DestroySeesRefreshedOutputs(t *testing.T) {
	t.Parallel()
	config := strings.Replace(rotated, "\n  source", fakeSlotLine+"\n  source", 1)
	s := stacktest.Real(t, "-- main.tfcomponent.hcl --"+fakeHead+config+`
component "dependent" {
  source    = "./one"
  inputs    = { id = "d", value = component.credentials.value }
  providers = { fake = provider.fake.secured }
}
`+fakeModules)
	put(t, s, "credentials", testprovider.ExpectedAuthentication)
	s.Converge()
	withOldCredentials(t, s)
	plan := s.Plan(engine.Destroy)
	fresh := cty.StringVal(testprovider.ExpectedAuthentication)
	if got := componentPlan(t, plan, "component.credentials").Outputs["value"]; !got.RawEquals(fresh) {
		t.Errorf("planned output = %#v, want the fresh one", got)
	}
	if got := componentPlan(t, plan, "component.dependent").Inputs["value"]; !got.RawEquals(fresh) {
		t.Errorf("planned input = %#v, want the fresh one", got)
	}
	s.Apply(plan) // the provider refuses anything else
	same(t, "state", "", stacktest.StateText(s.State))
}

// Each component of the chain needs the result of the one before, and when it is destroyed goes
// before that.
func TestTrapC10DeletesPublishAtOnce(t *testing.T) {
	w := newWorld(t, chain)
	want := []string{"component.a", "component.b", "component.c"}
	w.Apply(w.Plan(engine.Normal))
	if diff := cmp.Diff(want, applyOrder(w)); diff != "" {
		t.Errorf("order of creation (-want +got):\n%s", diff)
	}
	w.engine.Forget()
	w.Apply(w.Plan(engine.Destroy))
	slices.Reverse(want)
	if diff := cmp.Diff(want, applyOrder(w)); diff != "" {
		t.Errorf("order of destruction (-want +got):\n%s", diff)
	}
}

func TestTrapC11DependenciesAreOfComponents(t *testing.T) {
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
component "box" {
  for_each = toset(["a", "b"])
  source   = "./box"
}
component "user" {
  source = "./box"
  inputs = { in = component.box["a"].out }
}
`+boxModules)
	s.Converge()
	same(t, "state", `
component.box["a"], required by component.user
  terraform_data.this
component.box["b"], required by component.user
  terraform_data.this
component.user, requires component.box
  terraform_data.this
`, withoutValues(stacktest.StateText(s.State)))
	s.Write(`
-- main.tfcomponent.hcl --
removed {
  from   = component.user
  source = "./box"
}
removed {
  for_each = toset(["a", "b"])
  from     = component.box[each.key]
  source   = "./box"
}
`)
	plan := s.Plan(engine.Normal)
	if got := componentPlan(t, plan, "component.user").Requires; len(got) != 1 || got[0].String() != "component.box" {
		t.Errorf("component.user requires %v, want component.box as recorded", got)
	}
	events := s.Watch()
	s.Apply(plan)
	done := slices.DeleteFunc(events.Lines(), func(line string) bool { return !strings.HasSuffix(line, " applied") })
	if len(done) != 3 || done[0] != "component.user applied" {
		t.Errorf("order of removal: %v, want component.user first", done)
	}
}

// An error found while planning leaves the rest of the plan alone; a mistake in the configuration
// leaves nothing.
func TestTrapC14OnlyTheStaticPassIsAGate(t *testing.T) {
	const config = `
-- main.tfcomponent.hcl --
variable "v" { type = string }
component "good" { source = "./box" }
component "bad" {
  source = "./box"
  inputs = { in = REFERENCE }
}
output "o" {
  type  = string
  value = "x"
}
` + boxModules
	s := stacktest.InMemory(t, strings.Replace(config, "REFERENCE", `regex("^x", var.v)`, 1))
	s.Inputs["v"] = cty.StringVal("y")
	plan, diags := s.TryPlan(engine.Normal)
	if !diags.HasErrors() {
		t.Error("no error for the input that cannot be evaluated")
	}
	same(t, "plan with an error in it", `
not applyable
incomplete
input v: create "y"
component.good: create, applyable
  terraform_data.this: create
output o: create "x"
`, stacktest.PlanText(plan))
	s.Write(strings.Replace(config, "REFERENCE", "local.none", 1))
	plan, diags = s.TryPlan(engine.Normal)
	same(t, "diagnostics", "error main.tfcomponent.hcl:5: Unknown local value\n", stacktest.Summaries(diags))
	same(t, "plan of a configuration with a mistake", "not applyable\nincomplete\n", stacktest.PlanText(plan))
}

func TestTrapC16InputsVanishEvenIfDestroyFails(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, fakeStack(`
variable "id" { type = string }
component "self" {
  source = "./failing"
  inputs = { id = var.id, fail_delete = true }
}
`))
	s.Inputs["id"] = cty.StringVal("x")
	s.Converge()
	if _, diags := s.TryApply(s.Plan(engine.Destroy)); !diags.HasErrors() {
		t.Fatal("no error for the resource that refuses")
	}
	if _, kept := s.State.Inputs["id"]; kept || len(s.State.Components) != 1 {
		t.Errorf("state:\n%s\nwant the component without the input", stacktest.StateText(s.State))
	}
}

// The destruction of a component without resources leaves no record, even if it is skipped because
// a dependent refuses to go.
func TestSkippedDestructionOfNothingLeavesNoRecord(t *testing.T) {
	refuse := false
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
component "hollow" { source = "./hollow" }
component "user" {
  source = "./box"
  inputs = { in = component.hollow.out }
}
`+boxModules, memengine.Options{Before: func(_ context.Context, call memengine.Call) error {
		if refuse && call.Operation == memengine.Apply {
			return errors.New("refused")
		}
		return nil
	}})
	s.Converge()
	plan := s.Plan(engine.Destroy)
	refuse = true
	result, diags := s.TryApply(plan)
	if !diags.HasErrors() {
		t.Fatal("no error for the component that refuses")
	}
	if got := result.Components[component(t, "component.hollow")].Status; got != hooks.Skipped {
		t.Errorf("component.hollow is %s, want it skipped", got)
	}
	if diff := cmp.Diff([]string{"component.user"}, left(s.State)); diff != "" {
		t.Errorf("component instances left (-want +got):\n%s", diff)
	}
}
