// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/internal/testprovider"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// fakeHead begins a stack whose components have the fake provider in their slot fake.
const fakeHead = `
required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = ">= 1.0.0"
  }
}
provider "fake" "main" {}
`

// fakeModules are modules with objects of the fake provider.
const fakeModules = `
-- one/main.tf --
terraform {
  required_providers { fake = { source = "cairnstacks/fake" } }
}
variable "id" { type = string }
variable "value" {
  type    = string
  default = null
}
resource "fake_resource" "this" {
  id    = var.id
  value = var.value
}
output "id" { value = fake_resource.this.id }
output "value" { value = fake_resource.this.value }
-- two/main.tf --
terraform {
  required_providers { fake = { source = "cairnstacks/fake" } }
}
variable "id" { type = string }
resource "fake_resource" "first" { id = "${var.id}-1" }
resource "fake_resource" "second" {
  id    = "${var.id}-2"
  value = fake_resource.first.id
}
output "ids" { value = [fake_resource.first.id, fake_resource.second.id] }
-- data/main.tf --
terraform {
  required_providers { fake = { source = "cairnstacks/fake" } }
}
variable "id" { type = string }
data "fake_data" "this" { id = var.id }
output "value" { value = data.fake_data.this.value }
-- blocked/main.tf --
terraform {
  required_providers { fake = { source = "cairnstacks/fake" } }
}
variable "id" { type = string }
variable "required" { type = set(string) }
resource "fake_blocked" "this" {
  id                 = var.id
  required_resources = var.required
}
output "id" { value = fake_blocked.this.id }
-- failing/main.tf --
terraform {
  required_providers { fake = { source = "cairnstacks/fake" } }
}
variable "id" { type = string }
variable "fail_apply" {
  type    = bool
  default = false
}
variable "fail_delete" {
  type    = bool
  default = false
}
variable "value" {
  type    = string
  default = null
}
resource "fake_failing" "this" {
  id          = var.id
  value       = var.value
  fail_apply  = var.fail_apply
  fail_delete = var.fail_delete
}
output "id" { value = fake_failing.this.id }
`

const fakeSlotLine = "\n  providers = { fake = provider.fake.main }"

// fakeStack completes a configuration with the provider, and its components with their slot.
func fakeStack(config string) string {
	return "-- main.tfcomponent.hcl --" + fakeHead + strings.ReplaceAll(config, "\n  source", fakeSlotLine+"\n  source") + fakeModules
}

func same(t *testing.T, what, want, got string) {
	t.Helper()
	if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// nothingLeft checks that neither the state nor the provider has anything.
func nothingLeft(t *testing.T, s *stacktest.Stack) {
	t.Helper()
	same(t, "state after destroying", "", stacktest.StateText(s.State))
	if ids, err := s.Store.List(); err != nil || len(ids) > 0 {
		t.Errorf("objects left after destroying: %v, %v", ids, err)
	}
}

// put stores an object that was made outside of the stack.
func put(t *testing.T, s *stacktest.Stack, id, value string) {
	t.Helper()
	values := map[string]json.RawMessage{"id": json.RawMessage(`"` + id + `"`), "value": json.RawMessage(`"` + value + `"`)}
	if err := s.Store.Put(&testprovider.Object{Type: "fake_resource", ID: id, Values: values}); err != nil {
		t.Fatal(err)
	}
}

// vanish deletes an object behind the provider's back.
func vanish(t *testing.T, s *stacktest.Stack, id string) {
	t.Helper()
	if err := s.Store.Delete(id); err != nil {
		t.Fatal(err)
	}
}

const oneComponent = `
variable "id" { type = string }
component "self" {
  source = "./one"
  inputs = { id = var.id }
}
output "id" {
  type  = string
  value = component.self.id
}
`

func TestRow198DestroyInputsAndOutputs(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, fakeStack(oneComponent))
	s.Inputs["id"] = cty.StringVal("x")
	s.Converge()
	plan := s.Plan(engine.Destroy)
	same(t, "plan", `
input id: no-op "x", delete on apply
component.self: delete, applyable, destroy mode
  fake_resource.this: delete
output id: delete null
`, stacktest.PlanText(plan))
	s.Apply(plan)
	nothingLeft(t, s)
}

func TestRow199DestroyWhatVanished(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, fakeStack(oneComponent))
	s.Inputs["id"] = cty.StringVal("x")
	s.Converge()
	vanish(t, s, "x")
	plan := s.Plan(engine.Destroy)
	if changes := plan.Components[0].Changes; len(changes) > 0 {
		t.Errorf("%d changes planned, want none", len(changes))
	}
	s.Apply(plan)
	nothingLeft(t, s)
}

func TestRow200DestroyDataSourceOnly(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, fakeStack(`
component "self" {
  source = "./data"
  inputs = { id = "x" }
}
`))
	put(t, s, "x", "v")
	s.Converge()
	same(t, "state", `
component.self
  data.fake_data.this
  in id = "x"
  out value = "v"
`, stacktest.StateText(s.State))
	s.Apply(s.Plan(engine.Destroy))
	same(t, "state after destroying", "", stacktest.StateText(s.State))
}

func TestRow201OrphanedDataSource(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, fakeStack(`
component "self" {
  source = "./mixed"
}
`)+`-- mixed/main.tf --
terraform {
  required_providers { fake = { source = "cairnstacks/fake" } }
}
resource "fake_resource" "this" { id = "y" }
data "fake_data" "this" { id = "x" }
`)
	put(t, s, "x", "v")
	s.Converge()
	s.Write(`-- mixed/main.tf --
terraform {
  required_providers { fake = { source = "cairnstacks/fake" } }
}
resource "fake_resource" "this" { id = "y" }
`)
	s.Converge()
	same(t, "state without the data source", "component.self\n  fake_resource.this\n", stacktest.StateText(s.State))
	s.Apply(s.Plan(engine.Destroy))
	same(t, "state after destroying", "", stacktest.StateText(s.State))
}

// destroyOrders are stacks of a base component and a dependent one that can only be destroyed
// first.
func TestRowsDestroyOrder(t *testing.T) {
	for name, config := range map[string]string{
		"202_blocking_resource": `
component "base" {
  source = "./one"
  inputs = { id = "base" }
}
component "dependent" {
  source     = "./blocked"
  inputs     = { id = "dependent", required = ["base"] }
  depends_on = [component.base]
}
`,
		"207_through_input": `
component "base" {
  source = "./one"
  inputs = { id = "base" }
}
component "dependent" {
  source = "./blocked"
  inputs = { id = "dependent", required = [component.base.id] }
}
`,
		"208_through_provider": `
provider "fake" "dependent" {
  config { region = component.base.id }
}
component "base" {
  source = "./one"
  inputs = { id = "base" }
}
component "dependent" {
  providers = { fake = provider.fake.dependent }
  source    = "./blocked"
  inputs    = { id = "dependent", required = ["base"] }
}
`,
		"209_through_for_each": `
component "base" {
  source = "./one"
  inputs = { id = "base" }
}
component "dependent" {
  for_each = toset([component.base.value])
  source   = "./blocked"
  inputs   = { id = "dependent-${each.key}", required = ["base"] }
}
`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			archive := fakeStack(config)
			archive = strings.ReplaceAll(archive, "fake = provider.fake.dependent }"+fakeSlotLine, "fake = provider.fake.dependent }")
			if strings.HasPrefix(name, "209") {
				archive = strings.Replace(archive, `inputs = { id = "base" }`, `inputs = { id = "base", value = "known" }`, 1)
			}
			s := stacktest.Real(t, archive)
			s.Converge()
			ids, err := s.Store.List()
			if err != nil || len(ids) != 2 {
				t.Fatalf("objects after applying: %v, %v", ids, err)
			}
			plan := s.Plan(engine.Destroy)
			if got := len(plan.Components); got != 2 {
				t.Errorf("%d component instances planned, want 2:\n%s", got, stacktest.PlanText(plan))
			}
			s.Apply(plan)
			nothingLeft(t, s)
		})
	}
}

func TestRow203ResourceRefusesToBeDestroyed(t *testing.T) {
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
	_, diags := s.TryApply(s.Plan(engine.Destroy))
	if len(diags.Errs()) != 1 {
		t.Errorf("diagnostics:\n%s\nwant the provider's error only", stacktest.Explain(diags))
	}
	got := stacktest.StateText(s.State)
	if strings.Contains(got, "input id") || !strings.Contains(got, "component.self\n  fake_failing.this\n") ||
		!strings.Contains(got, "  in fail_delete = true\n  in id = \"x\"\n") {
		t.Errorf("state:\n%s\nwant the component with its inputs, and no root input", got)
	}
}

func TestRow204DestroyAfterFailedApply(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, fakeStack(`
component "parent" {
  source = "./failing"
  inputs = { id = "p", fail_apply = true }
}
component "child" {
  source = "./one"
  inputs = { id = component.parent.id }
}
`))
	if _, diags := s.TryApply(s.Plan(engine.Normal)); !diags.HasErrors() {
		t.Fatal("the apply succeeded")
	}
	if got := stacktest.StateText(s.State); !strings.Contains(got, "component.parent,") || !strings.Contains(got, "component.child,") {
		t.Errorf("state after the failed apply:\n%s\nwant records of both components", got)
	}
	s.Apply(s.Plan(engine.Destroy))
	nothingLeft(t, s)
}

const unknownConfigured = `
provider "fake" "later" {
  config { region = component.parent.value }
}
component "parent" {
  source = "./later"
}
component "child" {
  source    = "./data"
  inputs    = { id = "x" }
  providers = { fake = provider.fake.later }
}
`

func TestRow205DestroyAfterDeferredApply(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, "-- main.tfcomponent.hcl --"+fakeHead+unknownConfigured+fakeModules+`
-- later/main.tf --
resource "terraform_data" "this" { input = "somewhere" }
output "value" { value = terraform_data.this.output }
`)
	put(t, s, "x", "v")
	plan := s.Plan(engine.Normal)
	if plan.Complete {
		t.Errorf("the plan is complete; the child's provider was not known:\n%s", stacktest.PlanText(plan))
	}
	s.Apply(plan)
	if got := stacktest.StateText(s.State); !strings.Contains(got, "component.child,") {
		t.Errorf("state after the deferred apply:\n%s\nwant a record of the child", got)
	}
	s.Apply(s.Plan(engine.Destroy))
	same(t, "state after destroying", "", stacktest.StateText(s.State))
}

const rotated = `
component "credentials" {
  source = "./data"
  inputs = { id = "credentials" }
}
provider "fake" "secured" {
  config {
    require_auth   = true
    authentication = component.credentials.value
  }
}
`

// withOldCredentials gives the component of the credentials an old output.
func withOldCredentials(t *testing.T, s *stacktest.Stack) {
	t.Helper()
	addr := component(t, "component.credentials")
	s.State = s.State.With(func(state *stackstate.State) {
		old := *state.Components[addr]
		old.Outputs = map[string]cty.Value{"value": cty.StringVal("old")}
		state.Components[addr] = &old
	})
}

func TestRow210RefreshedCredentialsDestroy(t *testing.T) {
	t.Parallel()
	const dependent = `
component "dependent" {
  source    = "./one"
  inputs    = { id = "d" }
  providers = { fake = provider.fake.secured }
}
`
	config := strings.Replace(rotated, "\n  source", fakeSlotLine+"\n  source", 1) + dependent
	s := stacktest.Real(t, "-- main.tfcomponent.hcl --"+fakeHead+config+fakeModules)
	put(t, s, "credentials", testprovider.ExpectedAuthentication)
	s.Converge()
	withOldCredentials(t, s)
	s.Apply(s.Plan(engine.Destroy))
	same(t, "state after destroying", "", stacktest.StateText(s.State))
}

func TestRow211RefreshedCredentialsRemove(t *testing.T) {
	t.Parallel()
	const dependent = `
component "dependent" {
  source    = "./one"
  inputs    = { id = "d" }
  providers = { fake = provider.fake.secured }
}
`
	config := strings.Replace(rotated, "\n  source", fakeSlotLine+"\n  source", 1)
	s := stacktest.Real(t, "-- main.tfcomponent.hcl --"+fakeHead+config+dependent+fakeModules)
	put(t, s, "credentials", testprovider.ExpectedAuthentication)
	s.Converge()
	withOldCredentials(t, s)
	s.Write("-- main.tfcomponent.hcl --" + fakeHead + config + `
removed {
  from      = component.dependent
  source    = "./one"
  providers = { fake = provider.fake.secured }
}
`)
	s.Apply(s.Plan(engine.Destroy))
	same(t, "state after destroying", "", stacktest.StateText(s.State))
}

func TestRow212DestroyNothing(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, fakeStack(`
variable "id" { type = string }
component "parent" {
  source = "./one"
  inputs = { id = var.id }
}
component "child" {
  source = "./one"
  inputs = { id = "${component.parent.id}-child" }
}
`))
	s.Inputs["id"] = cty.StringVal("x")
	plan := s.Plan(engine.Destroy)
	same(t, "plan", `
input id: create "x", delete on apply
component.child: delete, applyable, destroy mode, requires component.parent
component.parent: delete, applyable, destroy mode
`, stacktest.PlanText(plan))
	s.Apply(plan)
	nothingLeft(t, s)
}

func TestRow213UpstreamVanished(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, fakeStack(`
component "upstream" {
  source = "./one"
  inputs = { id = "u" }
}
component "dependent" {
  source = "./one"
  inputs = { id = "${component.upstream.id}-d" }
}
`))
	s.Converge()
	vanish(t, s, "u")
	plan := s.Plan(engine.Destroy)
	upstream := plan.Components[1]
	if upstream.Addr != component(t, "component.upstream") || !upstream.Complete || upstream.Applyable || len(upstream.Changes) > 0 {
		t.Errorf("upstream: complete %v, applyable %v, %d changes; want complete, not applyable, none",
			upstream.Complete, upstream.Applyable, len(upstream.Changes))
	}
	s.Apply(plan)
	nothingLeft(t, s)
}

func TestRow214OnlyTheFirstOfAChainIsLeft(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, fakeStack(`
component "a" {
  source = "./one"
  inputs = { id = "a" }
}
component "b" {
  source = "./one"
  inputs = { id = "${component.a.id}b" }
}
component "c" {
  source = "./one"
  inputs = { id = "${component.b.id}c" }
}
`))
	s.Converge()
	vanish(t, s, "ab")
	vanish(t, s, "abc")
	s.State = s.State.With(func(state *stackstate.State) {
		delete(state.Components, component(t, "component.b"))
		delete(state.Components, component(t, "component.c"))
	})
	plan := s.Plan(engine.Destroy)
	for _, c := range plan.Components {
		if c.Action != stackplan.Delete {
			t.Errorf("%s: %s, want delete", c.Addr, c.Action)
		}
	}
	for _, c := range plan.Components[1:] {
		if len(c.Changes) > 0 || !c.Complete || !c.Applyable {
			t.Errorf("%s: %d changes, complete %v, applyable %v; want none, true, true", c.Addr, len(c.Changes), c.Complete, c.Applyable)
		}
	}
	s.Apply(plan)
	nothingLeft(t, s)
}

// A component that is missing in the middle of a chain is planned, so that those after it can be
// destroyed.
func TestRow214TheMiddleOfAChainIsMissing(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, fakeStack(`
component "a" {
  source = "./one"
  inputs = { id = "a" }
}
component "b" {
  source = "./one"
  inputs = { id = "${component.a.id}b" }
}
component "c" {
  source = "./one"
  inputs = { id = "${component.b.id}c" }
}
`))
	s.Converge()
	vanish(t, s, "ab")
	s.State = s.State.With(func(state *stackstate.State) { delete(state.Components, component(t, "component.b")) })
	plan := s.Plan(engine.Destroy)
	same(t, "planned outputs of b", `id = "ab"`+"\nvalue = null\n", stacktest.ValuesText(plan.Components[1].Outputs))
	same(t, "planned inputs of c", `id = "abc"`+"\nvalue = null\n", stacktest.ValuesText(plan.Components[2].Inputs))
	s.Apply(plan)
	nothingLeft(t, s)
}

func TestRow215HalfCreated(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, fakeStack(`
component "self" {
  source = "./two"
  inputs = { id = "x" }
}
`))
	s.Converge()
	vanish(t, s, "x-2")
	dropObject(t, s, "component.self", "second")
	plan := s.Plan(engine.Destroy)
	same(t, "plan", `
component.self: delete, applyable, destroy mode
  fake_resource.first: delete
`, stacktest.PlanText(plan))
	s.Apply(plan)
	nothingLeft(t, s)
}

func TestRow216DependentMissingFromState(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, fakeStack(`
component "parent" {
  source = "./two"
  inputs = { id = "p" }
}
component "dependent" {
  source = "./one"
  inputs = { id = join("+", component.parent.ids) }
}
`))
	s.Converge()
	vanish(t, s, "p-1+p-2")
	s.State = s.State.With(func(state *stackstate.State) { delete(state.Components, component(t, "component.dependent")) })
	plan := s.Plan(engine.Destroy)
	same(t, "plan", `
component.dependent: delete, applyable, destroy mode, requires component.parent
component.parent: delete, applyable, destroy mode
  fake_resource.first: delete
  fake_resource.second: delete
`, stacktest.PlanText(plan))
	s.Apply(plan)
	nothingLeft(t, s)
}

func TestRow217DestroyTwice(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, fakeStack(oneComponent))
	s.Inputs["id"] = cty.StringVal("x")
	s.Converge()
	s.Apply(s.Plan(engine.Destroy))
	events := s.Watch()
	plan := s.Plan(engine.Destroy)
	if n := plan.Counts().Total(); n != 0 {
		t.Errorf("the second destroy plan counts %d changes", n)
	}
	result := s.Apply(plan)
	if n := result.Counts().Total(); n != 0 {
		t.Errorf("the second destroy made %d changes", n)
	}
	same(t, "events", `
component.self pending
component.self planning
component.self planned nothing
component.self planned
component.self pending
component.self applying
component.self applied nothing
component.self applied
`, strings.ReplaceAll(events.Of("component.self"), "component.self expanded 1\n", ""))
	nothingLeft(t, s)
}

// dropObject removes a resource from the state of a component.
func dropObject(t *testing.T, s *stacktest.Stack, addr, name string) {
	t.Helper()
	var doc map[string]any
	record := *s.State.Components[component(t, addr)]
	if err := json.Unmarshal(record.Module, &doc); err != nil {
		t.Fatal(err)
	}
	resources := doc["resources"].([]any)
	doc["resources"] = slices.DeleteFunc(resources, func(r any) bool { return r.(map[string]any)["name"] == name })
	if len(doc["resources"].([]any)) != len(resources)-1 {
		t.Fatalf("the state of %s has no resource named %s", addr, name)
	}
	var err error
	if record.Module, err = json.Marshal(doc); err != nil {
		t.Fatal(err)
	}
	s.State = s.State.With(func(state *stackstate.State) { state.Components[record.Addr] = &record })
}
