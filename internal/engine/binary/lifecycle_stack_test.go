// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/testprovider"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// isTofu reports which of the engines runs.
func (s *stack) isTofu() bool { return s.opts.Session.Info().Name == "tofu" }

func TestCreateBeforeDestroy(t *testing.T) {
	testenv.SkipUnderRace(t, "the contract of engines does the same things at the same time")
	module := func(value string) string {
		return `
-- mod/main.tf --
` + fakeModule + `
resource "fake_computed" "a" {
  replace_on = "` + value + `"
  lifecycle {
    create_before_destroy = true
  }
}
`
	}
	f := newFeature(t, "", module("x"))
	f.run()
	f.write(module("y"))
	plan := f.plan(engine.Normal)
	if got := change(t, plan, "fake_computed.a").Action; got != engine.ActionCreateThenDelete {
		t.Errorf("action %s, want create before delete", got)
	}
	wantCounts(t, "plan", plan.Counts(), stackplan.Counts{Add: 1, Remove: 1})
	wantText(t, f.text(plan), "+/- resource", "must be replaced")
	result := f.apply(plan)
	wantCounts(t, "apply", result.Counts(), stackplan.Counts{Add: 1, Remove: 1})
	var order []string
	for _, event := range f.events {
		if event.Type == engine.ApplyComplete {
			order = append(order, event.Action)
		}
	}
	if got := strings.Join(order, " "); got != "create delete" {
		t.Errorf("done: %s, want create delete", got)
	}
	f.settled()
}

func TestPreventDestroy(t *testing.T) {
	const module = `
-- mod/main.tf --
resource "terraform_data" "a" {
  triggers_replace = "VALUE"
  lifecycle {
    prevent_destroy = PREVENT
  }
}
`
	f := newFeature(t, "", strings.NewReplacer("VALUE", "x", "PREVENT", "true").Replace(module))
	f.run()
	_, diags := f.tryPlan(engine.Destroy)
	wantAt(t, wantDiagnostic(t, diags, hcl.DiagError, "nstance cannot be destroyed"), "mod/main.tf", 1)
	f.write(strings.NewReplacer("VALUE", "y", "PREVENT", "true").Replace(module))
	_, diags = f.tryPlan(engine.Normal)
	wantDiagnostic(t, diags, hcl.DiagError, "nstance cannot be destroyed")
	f.wantObjects("terraform_data.a")
	f.write(strings.NewReplacer("VALUE", "y", "PREVENT", "false").Replace(module))
	f.run()
	f.destroyed()
}

func TestIgnoreChanges(t *testing.T) {
	testenv.SkipUnderRace(t, "the contract of engines does the same things at the same time")
	f := newFeature(t, "value = var.name", `
-- mod/main.tf --
`+fakeModule+`
variable "value" { type = string }
resource "fake_resource" "a" {
  id    = "a"
  value = var.value
  lifecycle {
    ignore_changes = [value]
  }
}
output "value" { value = fake_resource.a.value }
`)
	f.run()
	f.inputs = map[string]cty.Value{"name": cty.StringVal("other")}
	plan := f.plan(engine.Normal)
	wantCounts(t, "plan", plan.Counts(), stackplan.Counts{})
	f.apply(plan)
	f.wantOutputs(map[string]cty.Value{"value": cty.StringVal("name")})
	f.settled()
}

func TestReplaceTriggeredBy(t *testing.T) {
	testenv.SkipUnderRace(t, "the contract of engines does the same things at the same time")
	f := newFeature(t, "value = var.name", `
-- mod/main.tf --
variable "value" { type = string }
resource "terraform_data" "trigger" { input = var.value }
resource "terraform_data" "a" {
  lifecycle {
    replace_triggered_by = [terraform_data.trigger]
  }
}
`)
	f.run()
	f.inputs = map[string]cty.Value{"name": cty.StringVal("other")}
	plan := f.plan(engine.Normal)
	rc := change(t, plan, "terraform_data.a")
	if !rc.Action.Replaces() || rc.Reason != engine.ReplaceByTriggers {
		t.Errorf("action %s, reason %s, want a replacement by triggers", rc.Action, rc.Reason)
	}
	wantCounts(t, "plan", plan.Counts(), stackplan.Counts{Add: 1, Change: 1, Remove: 1})
	wantText(t, f.text(plan), "will be replaced due to changes in replace_triggered_by")
	f.apply(plan)
	f.settled()
}

// OpenTofu forgets an object instead of destroying it where the resource says so, also when it
// makes a new one.
func TestObjectsThatAreNotDestroyed(t *testing.T) {
	module := func(value string) string {
		return `
-- mod/main.tf --
` + fakeModule + `
resource "fake_computed" "a" {
  id         = "` + value + `"
  replace_on = "` + value + `"
  lifecycle {
    destroy = false
  }
}
`
	}
	f := newFeature(t, "", module("x"))
	if !f.isTofu() {
		wantDiagnostic(t, f.validate(), hcl.DiagError, "destroy")
		return
	}
	f.run()
	f.write(module("y"))
	plan := f.plan(engine.Normal)
	wantCounts(t, "plan", plan.Counts(), stackplan.Counts{Add: 1, Forget: 1})
	wantText(t, f.text(plan), "the old object will not be destroyed", "Plan: 1 to add, 0 to change, 0 to destroy, 1 to forget")
	wantCounts(t, "apply", f.apply(plan).Counts(), stackplan.Counts{Add: 1, Forget: 1})
	f.settled()
	if ids, err := f.store.List(); err != nil || len(ids) != 2 {
		t.Errorf("stored objects: %v, %v, want the old one, too", ids, err)
	}
}

// Instances, nested blocks and dependencies from values that are known, and from those that are
// not.
func TestRepetition(t *testing.T) {
	testenv.SkipUnderRace(t, "the contract of engines does the same things at the same time")
	f := newFeature(t, `names = toset(["a", "b"]), size = 2, later = component.up.later`, `
-- mod/main.tf --
`+fakeModule+`
variable "names" { type = set(string) }
variable "size" { type = number }
variable "later" { type = string }
resource "fake_everything" "each" {
  for_each = var.names
  dynamic "list_block" {
    for_each = range(var.size)
    iterator = block
    content {
      name  = "${each.key}-${block.value}"
      value = var.later
      dynamic "inner" {
        for_each = toset([each.key])
        content {
          name = inner.value
        }
      }
    }
  }
}
resource "fake_resource" "counted" {
  count = var.size
  id    = "c-${count.index}"
}
module "child" {
  for_each   = { for name in var.names : name => upper(name) }
  source     = "./child"
  name       = each.value
  depends_on = [fake_resource.counted]
}
output "blocks" { value = [for b in fake_everything.each["a"].list_block : "${b.name} ${b.value} ${b.inner[0].name}"] }
output "children" { value = { for key, child in module.child : key => child.id } }
-- mod/child/main.tf --
`+fakeModule+`
variable "name" { type = string }
resource "fake_blocked" "a" {
  id                 = var.name
  required_resources = ["c-0", "c-1"]
}
output "id" { value = fake_blocked.a.id }
`)
	plan := f.plan(engine.Normal)
	wantCounts(t, "plan", plan.Counts(), stackplan.Counts{Add: 7})
	f.apply(plan)
	f.wantOutputs(map[string]cty.Value{
		"blocks":   cty.TupleVal([]cty.Value{cty.StringVal("a-0 later-name a"), cty.StringVal("a-1 later-name a")}),
		"children": cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("A"), "b": cty.StringVal("B")}),
	})
	f.settled()
	f.destroyed()
}

// A write-only argument reaches the provider with every change, and no plan and no state.
func TestWriteOnlyAndEphemeral(t *testing.T) {
	testenv.SkipUnderRace(t, "the contract of engines does the same things at the same time")
	module := func(version string) string {
		return `
-- mod/main.tf --
` + fakeModule + `
variable "token" {
  type      = string
  ephemeral = true
}
ephemeral "fake_ephemeral" "e" {
  name = "e"
}
resource "fake_writeonly" "a" {
  id             = "a"
  secret         = "${var.token}+${ephemeral.fake_ephemeral.e.value}"
  secret_version = ` + version + `
}
`
	}
	f := newFeature(t, `token = "top-secret"`, module("1"))
	check := func(plan *stackplan.Plan) {
		t.Helper()
		object, err := f.store.Get("a")
		if err != nil {
			t.Fatal(err)
		}
		if got := string(object.WriteOnly["secret"]); got != `"top-secret+ephemeral-e"` {
			t.Errorf("the provider got %s", got)
		}
		for what, data := range map[string]string{
			"engine's plan": string(planned(t, plan).EnginePlan), "state": string(f.component().Module), "plan": f.text(plan),
		} {
			if strings.Contains(data, "top-secret") || strings.Contains(data, "ephemeral-e") {
				t.Errorf("the %s has the secret", what)
			}
		}
	}
	plan := f.plan(engine.Normal)
	f.apply(plan)
	check(plan)
	f.settled()
	if err := f.store.Put(withoutSecret(t, f.store)); err != nil {
		t.Fatal(err)
	}
	f.write(module("2"))
	plan = f.plan(engine.Normal)
	wantCounts(t, "plan", plan.Counts(), stackplan.Counts{Change: 1})
	f.apply(plan)
	check(plan)
	f.settled()
}

func withoutSecret(t *testing.T, store testprovider.Store) *testprovider.Object {
	t.Helper()
	object, err := store.Get("a")
	if err != nil {
		t.Fatal(err)
	}
	object.WriteOnly = map[string]json.RawMessage{}
	return object
}

// Functions of providers, with values that are not known yet, too.
func TestProviderFunctions(t *testing.T) {
	f := newFeature(t, "later = component.up.later", `
-- mod/main.tf --
terraform {
  required_providers {
    fake      = { source = "cairnstacks/fake" }
    terraform = { source = "terraform.io/builtin/terraform" }
  }
}
variable "later" { type = string }
locals {
  all = provider::fake::echo([var.later, "known"])
}
resource "terraform_data" "a" {
  input = local.all[0]
}
output "known" { value = provider::fake::echo({ k = true }) }
output "later" { value = terraform_data.a.output }
output "encoded" { value = provider::terraform::encode_expr(["x"]) }
-- terraform.tfcomponent.hcl --
provider "terraform" "main" {}
`, "terraform = provider.terraform.main")
	plan := f.plan(engine.Normal)
	if got := planned(t, plan).Outputs["known"]; !got.RawEquals(cty.ObjectVal(map[string]cty.Value{"k": cty.True})) {
		t.Errorf("planned output known = %#v", got)
	}
	f.apply(plan)
	f.wantOutputs(map[string]cty.Value{"later": cty.StringVal("later-name"), "encoded": cty.StringVal(`["x"]`)})
	f.settled()
}

// A plain state that another program has written can be read, and so can one that a component has
// exported for another.
func TestRemoteState(t *testing.T) {
	f := newFeature(t, "later = component.up.later", `
-- other.tfstate --
{
  "version": 4, "terraform_version": "1.5.0", "serial": 1, "lineage": "l", "resources": [],
  "outputs": {"later": {"value": "there", "type": "string"}}
}
-- mod/main.tf --
variable "later" { type = string }
data "terraform_remote_state" "known" {
  backend = "local"
  config  = { path = "${path.cwd}/other.tfstate" }
}
data "terraform_remote_state" "later" {
  backend  = "local"
  config   = { path = "${path.cwd}/${var.later == "" ? "nowhere" : "other.tfstate"}" }
  defaults = { missing = "default" }
}
output "known" { value = data.terraform_remote_state.known.outputs.later }
output "later" { value = data.terraform_remote_state.later.outputs }
`)
	f.run()
	want := func(text string) {
		t.Helper()
		f.wantOutputs(map[string]cty.Value{
			"known": cty.StringVal(text),
			"later": cty.ObjectVal(map[string]cty.Value{"later": cty.StringVal(text), "missing": cty.StringVal("default")}),
		})
		f.settled()
	}
	want("there")

	for _, c := range f.state.SortedComponents() {
		if c.Addr.String() != "component.up" {
			continue
		}
		exported, err := stackstate.ExportModule(c)
		if err != nil {
			t.Fatal(err)
		}
		f.write("\n-- other.tfstate --\n" + string(exported) + "\n")
	}
	f.run()
	want("later-name")
}
