// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

func TestRowsBuiltInProvider(t *testing.T) {
	const module = `
-- mod/main.tf --
variable "in" { type = string }
resource "terraform_data" "this" { input = var.in }
output "out" { value = terraform_data.this.output }
`
	const component = `
component "self" {
  source = "./mod"
  inputs = { in = "x" }
}
output "out" {
  type  = string
  value = component.self.out
}
`
	for name, config := range map[string]string{
		"153_not_declared": component,
		"153_declared": `
required_providers {
  terraform = { source = "terraform.io/builtin/terraform" }
}
provider "terraform" "this" {}
` + strings.Replace(component, "source", "providers = { terraform = provider.terraform.this }\n  source", 1) + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := module
			if strings.HasSuffix(name, "153_declared") {
				m = strings.Replace(m, "-- mod/main.tf --\n",
					"-- mod/main.tf --\nterraform {\n  required_providers { terraform = { source = \"terraform.io/builtin/terraform\" } }\n}\n", 1)
			}
			s := stacktest.Real(t, "-- main.tfcomponent.hcl --"+config+m)
			s.Converge()
			same(t, "state", `
component.self
  terraform_data.this
  in in = "x"
  out out = "x"
output out = "x"
`, stacktest.StateText(s.State))
		})
	}
}

// A module that declares the built-in provider takes a configuration of it like of any other, also
// where a module that it calls does; one that only uses it takes none.
func TestBuiltInProviderThatAModuleRequires(t *testing.T) {
	const required = `terraform {
  required_providers {
    terraform = { source = "terraform.io/builtin/terraform" }
  }
}
`
	const archive = `
-- main.tfcomponent.hcl --
required_providers {}
provider "terraform" "this" {}
component "uses" {
  source = "./uses"
}
component "requires" { # want error "Provider slot not filled" ` + "`component \"requires\"`" + `
  source = "./requires"
}
component "calls" { # want error "Provider slot not filled" ` + "`component \"calls\"`" + `
  source = "./calls"
}
component "filled" {
  source    = "./requires"
  providers = { terraform = provider.terraform.this }
}
component "filled_called" {
  source    = "./calls"
  providers = { terraform = provider.terraform.this }
}
-- uses/main.tf --
resource "terraform_data" "this" {}
-- requires/main.tf --
` + required + `
resource "terraform_data" "this" {}
-- calls/main.tf --
module "called" { source = "./called" }
-- calls/called/main.tf --
` + required + `
resource "terraform_data" "this" {}
`
	for name, start := range map[string]func(*testing.T, string) *stacktest.Stack{
		"memory": func(t *testing.T, archive string) *stacktest.Stack { return stacktest.InMemory(t, archive) },
		"real":   func(t *testing.T, archive string) *stacktest.Stack { return stacktest.Real(t, archive) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, archive)
			if found := wantMistakes(t, s); !found.HasErrors() {
				t.Fatal("the stack is valid")
			}
			head, rest, found := strings.Cut(archive, `component "requires"`)
			_, rest, foundNext := strings.Cut(rest, `component "filled"`)
			if !found || !foundNext {
				t.Fatal("the archive lacks a component")
			}
			s.Write(head + `component "filled"` + rest)
			s.Converge()
			same(t, "state", `
component.filled
  terraform_data.this
component.filled_called
  module.called.terraform_data.this
component.uses
  terraform_data.this
`, stacktest.StateText(s.State))
		})
	}
}

const inputsAndOutputs = `
-- main.tfcomponent.hcl --
variable "kept" { type = string }
variable "other" {
  type    = number
  default = 1
}
output "kept" {
  type  = string
  value = var.kept
}
output "sum" {
  type  = number
  value = var.other + 1
}
`

func TestRowsInputsAndOutputs(t *testing.T) {
	s := stacktest.InMemory(t, inputsAndOutputs)
	s.Inputs["kept"] = cty.StringVal("a")
	t.Run("154_create", func(t *testing.T) {
		plan := s.Plan(engine.Normal)
		same(t, "plan", `
input kept: create "a"
input other: create 1
output kept: create "a"
output sum: create 2
`, stacktest.PlanText(plan))
		s.Apply(plan)
		same(t, "state", `
input kept = "a"
input other = 1
output kept = "a"
output sum = 2
`, stacktest.StateText(s.State))
	})
	t.Run("155_change", func(t *testing.T) {
		s.Inputs["kept"], s.Inputs["other"] = cty.StringVal("b"), cty.NumberIntVal(5)
		plan := s.Plan(engine.Normal)
		same(t, "plan", `
input kept: update "b"
input other: update 5
output kept: update "b"
output sum: update 6
`, stacktest.PlanText(plan))
		s.Apply(plan)
		same(t, "state", `
input kept = "b"
input other = 5
output kept = "b"
output sum = 6
`, stacktest.StateText(s.State))
	})
	t.Run("156_same_again", func(t *testing.T) {
		before := stacktest.StateText(s.State)
		plan := s.Plan(engine.Normal)
		same(t, "plan", `
input kept: no-op "b"
input other: no-op 5
output kept: no-op "b"
output sum: no-op 6
`, stacktest.PlanText(plan))
		s.Apply(plan)
		same(t, "state", before, stacktest.StateText(s.State))
	})
	t.Run("157_not_in_configuration", func(t *testing.T) {
		s.Write("-- main.tfcomponent.hcl --\nvariable \"kept\" { type = string }\n")
		delete(s.Inputs, "other")
		plan := s.Plan(engine.Normal)
		same(t, "plan", `
input kept: no-op "b"
input other: delete null
output kept: delete null
output sum: delete null
`, stacktest.PlanText(plan))
		s.Apply(plan)
		same(t, "state", "input kept = \"b\"\n", stacktest.StateText(s.State))
	})
}

// laterModule has an output that is not known while the plan creates its resource.
const laterModule = `
-- later/main.tf --
variable "in" {
  type    = any
  default = null
}
resource "terraform_data" "this" { input = var.in }
output "value" { value = terraform_data.this.output }
`

func TestRow175DeferredProviderSet(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, "-- main.tfcomponent.hcl --"+fakeHead+`
variable "regions" { type = set(string) }
component "constant" {
  source    = "./one"
  inputs    = { id = "c" }
  providers = { fake = provider.fake.main }
}
provider "fake" "each" {
  for_each = var.regions
  config { region = each.key }
}
component "each" {
  for_each  = var.regions
  source    = "./one"
  inputs    = { id = each.key }
  providers = { fake = provider.fake.each[each.key] }
}
`+fakeModules)
	s.LeaveUnknown = true
	s.Inputs["regions"] = cty.UnknownVal(cty.Set(cty.String))
	plan := s.Plan(engine.Normal)
	if plan.Complete || !plan.Applyable {
		t.Errorf("plan:\n%s\nwant an applyable plan that is not complete", stacktest.PlanText(plan))
	}
	s.Apply(plan)
	got := stacktest.StateText(s.State)
	if !strings.Contains(got, "component.constant\n  fake_resource.this\n") || strings.Contains(got, "component.each") {
		t.Errorf("state:\n%s\nwant component.constant only", got)
	}
	s.Inputs["regions"] = cty.SetValEmpty(cty.String)
	s.Apply(s.Plan(engine.Destroy))
	nothingLeft(t, s)
}

const dependentOfUnknown = `
-- main.tfcomponent.hcl --
variable "ids" { type = set(string) }
component "unknown" {
  for_each = var.ids
  source   = "./later"
  inputs   = { in = each.key }
}
component "dependent" {
  source = "./later"
  inputs = { in = component.unknown }
}
` + laterModule

func TestRow176DependentOfUnknownComponent(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, dependentOfUnknown)
	s.LeaveUnknown = true
	s.Inputs["ids"] = cty.UnknownVal(cty.Set(cty.String))
	s.Apply(s.Plan(engine.Normal))
	got := stacktest.StateText(s.State)
	if !strings.Contains(got, "component.dependent, requires component.unknown\n  in in = (unknown)\n") ||
		strings.Contains(got, "terraform_data") {
		t.Errorf("state:\n%s\nwant a record of component.dependent with an unknown input, without resources", got)
	}
	s.Inputs["ids"] = cty.SetValEmpty(cty.String)
	s.Apply(s.Plan(engine.Destroy))
	nothingLeft(t, s)
}

func TestRow177UnknownSetKeepsInstances(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, dependentOfUnknown)
	s.Inputs["ids"] = cty.SetVal([]cty.Value{cty.StringVal("a")})
	s.Converge()
	before := s.State.Components[component(t, `component.unknown["a"]`)]
	s.LeaveUnknown = true
	s.Inputs["ids"] = cty.UnknownVal(cty.Set(cty.String))
	plan := s.Plan(engine.Normal)
	if got := stacktest.PlanText(plan); !strings.Contains(got, `component.unknown["a"]: update, incomplete, deferred (deferred_prereq)`) ||
		plan.Complete {
		t.Errorf("plan:\n%s\nwant the instance in the state deferred", got)
	}
	s.Apply(plan)
	after := s.State.Components[component(t, `component.unknown["a"]`)]
	if after == nil || string(after.Module) != string(before.Module) || !after.Outputs["value"].RawEquals(before.Outputs["value"]) {
		t.Errorf("record after the apply: %+v, want it as before: %+v", after, before)
	}
}

func TestRow182Timestamps(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, `
-- main.tfcomponent.hcl --
component "self" { source = "./mod" }
output "stack" {
  type  = string
  value = plantimestamp()
}
output "module" {
  type  = string
  value = component.self.when
}
-- mod/main.tf --
output "when" { value = plantimestamp() }
`)
	forced := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	s.Apply(s.Plan(engine.Normal, func(req *stackruntime.PlanRequest) { req.Timestamp = forced }))
	want := `"2024-05-06T07:08:09Z"`
	same(t, "state", "\ncomponent.self\n  out when = "+want+"\noutput module = "+want+"\noutput stack = "+want+"\n",
		stacktest.StateText(s.State))

	before := time.Now().UTC().Truncate(time.Second)
	plan := s.Plan(engine.Normal)
	s.Apply(plan)
	when := s.State.Outputs["stack"].AsString()
	if at, err := time.Parse(time.RFC3339, when); err != nil || at.Before(before) || at.After(time.Now()) {
		t.Errorf("plantimestamp() = %s, %v, want the time of the plan", when, err)
	}
	if planned := plan.Outputs["stack"].After.AsString(); planned != when {
		t.Errorf("plantimestamp() = %s at apply, %s at plan", when, planned)
	}
	if module := s.State.Outputs["module"].AsString(); module != when {
		t.Errorf("plantimestamp() = %s in the module, %s in the stack", module, when)
	}
}

func TestRow183UpstreamFails(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, fakeStack(`
component "upstream" {
  source = "./failing"
  inputs = { id = null, value = "v", fail_apply = true }
}
component "dependent" {
  source = "./one"
  inputs = { id = component.upstream.id }
}
`))
	_, diags := s.TryApply(s.Plan(engine.Normal))
	if len(diags.Errs()) != 1 {
		t.Errorf("diagnostics:\n%s\nwant that of the resource only", stacktest.Explain(diags))
	}
	same(t, "state", `
component.dependent, requires component.upstream
  in id = (unknown)
  in value = null
component.upstream, required by component.dependent
  in fail_apply = true
  in fail_delete = false
  in id = null
  in value = "v"
  out id = (unknown)
`, stacktest.StateText(s.State))
}

func TestRow184ProviderDependencyFails(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, "-- main.tfcomponent.hcl --"+fakeHead+`
component "upstream" {
  source    = "./failing"
  inputs    = { id = "u", fail_apply = true }
  providers = { fake = provider.fake.main }
}
provider "fake" "dependent" {
  config { region = component.upstream.id }
}
component "dependent" {
  source    = "./one"
  inputs    = { id = "d", value = "known" }
  providers = { fake = provider.fake.dependent }
}
`+fakeModules)
	result, diags := s.TryApply(s.Plan(engine.Normal))
	if len(diags.Errs()) != 1 {
		t.Errorf("diagnostics:\n%s\nwant that of the resource only", stacktest.Explain(diags))
	}
	if got := result.Components[component(t, "component.dependent")].Status; got != "skipped" {
		t.Errorf("component.dependent was %s, want skipped", got)
	}
	got := stacktest.StateText(s.State)
	if !strings.Contains(got, "component.dependent, requires component.upstream\n  in id = \"d\"\n  in value = \"known\"\n") {
		t.Errorf("state:\n%s\nwant the dependent with its inputs", got)
	}
	if ids, err := s.Store.List(); err != nil || len(ids) > 0 {
		t.Errorf("objects: %v, %v, want none", ids, err)
	}
}

func TestRow188OneDeferredOneApplied(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, dependentOfUnknown+`
-- more.tfcomponent.hcl --
component "fine" {
  source = "./later"
  inputs = { in = "x" }
}
`)
	s.LeaveUnknown = true
	s.Inputs["ids"] = cty.UnknownVal(cty.Set(cty.String))
	plan := s.Plan(engine.Normal)
	result := s.Apply(plan)
	if n := result.Components[component(t, "component.fine")].Counts; n != (stackplan.Counts{Add: 1}) {
		t.Errorf("component.fine: %+v, want one addition", n)
	}
	if planned := plan.Counts().Defer; planned == 0 {
		t.Error("the plan counts nothing as deferred")
	}
	got := stacktest.StateText(s.State)
	if !strings.Contains(got, "component.fine\n  terraform_data.this\n") ||
		strings.Count(got, "terraform_data") != 1 || !strings.Contains(got, "component.dependent,") {
		t.Errorf("state:\n%s\nwant the resource of component.fine, and a record of component.dependent", got)
	}
}

func TestRow189VariableChangedAtApply(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, fakeStack(`
variable "id" { type = string }
variable "other" { type = string }
component "self" {
  source = "./one"
  inputs = { id = var.id }
}
`))
	s.Inputs["id"], s.Inputs["other"] = cty.StringVal("a"), cty.StringVal("same")
	plan := s.Plan(engine.Normal)
	_, diags := s.TryApply(plan, func(req *stackruntime.ApplyRequest) {
		req.Inputs = map[string]cty.Value{"id": cty.StringVal("b"), "other": cty.StringVal("same")}
	})
	if len(diags.Errs()) != 2 {
		t.Errorf("diagnostics:\n%s\nwant one for the variable and one for the component", stacktest.Explain(diags))
	}
	same(t, "state", "input other = \"same\"\ncomponent.self\n", stacktest.StateText(s.State))
	if ids, err := s.Store.List(); err != nil || len(ids) > 0 {
		t.Errorf("objects: %v, %v, want none", ids, err)
	}
}

func TestRow190ObjectForMapVariable(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, `
-- main.tfcomponent.hcl --
variable "items" { type = map(string) }
component "each" {
  for_each = var.items
  source   = "./later"
  inputs   = { in = each.value }
}
`+laterModule)
	given := cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("x"), "b": cty.StringVal("y")})
	s.Inputs["items"] = given
	s.Apply(s.Plan(engine.Normal), func(req *stackruntime.ApplyRequest) {
		req.Inputs = map[string]cty.Value{"items": given}
	})
	same(t, "state", `
input items = {a = "x", b = "y"}
component.each["a"]
  terraform_data.this
  in in = "x"
  out value = "x"
component.each["b"]
  terraform_data.this
  in in = "y"
  out value = "y"
`, stacktest.StateText(s.State))
	if ty := s.State.Inputs["items"].Type(); !ty.Equals(cty.Map(cty.String)) {
		t.Errorf("the input is recorded as %s, want a map", ty.FriendlyName())
	}
}

func TestRow191DependencyWithoutInstances(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, `
-- main.tfcomponent.hcl --
component "none" {
  for_each = toset([])
  source   = "./later"
}
component "self" {
  source     = "./later"
  inputs     = { in = "x" }
  depends_on = [component.none]
}
`+laterModule)
	s.Converge()
	same(t, "state", `
component.self, requires component.none
  terraform_data.this
  in in = "x"
  out value = "x"
`, stacktest.StateText(s.State))
}

// index is where an event is among the others.
func index(t *testing.T, events *stacktest.Events, line string) int {
	t.Helper()
	i := slices.Index(events.Lines(), line)
	if i < 0 {
		t.Fatalf("no event %q in:\n%s", line, strings.Join(events.Lines(), "\n"))
	}
	return i
}

func TestRow196And197ApplyOrder(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, fakeStack(`
component "upstream" {
  source = "./one"
  inputs = { id = "u" }
}
component "downstream" {
  source     = "./blocked"
  inputs     = { id = "d", required = ["u"] }
  depends_on = [component.upstream]
}
`))
	create := s.Plan(engine.Normal)
	events := s.Watch()
	s.Apply(create)
	if index(t, events, "component.upstream applied") > index(t, events, "component.downstream applying") {
		t.Errorf("the downstream component started before the upstream one had reported:\n%s", strings.Join(events.Lines(), "\n"))
	}
	destroy := s.Plan(engine.Destroy)
	events = s.Watch()
	s.Apply(destroy)
	if index(t, events, "component.downstream applied") > index(t, events, "component.upstream applying") {
		t.Errorf("the upstream component was destroyed before the downstream one:\n%s", strings.Join(events.Lines(), "\n"))
	}
	nothingLeft(t, s)
}
