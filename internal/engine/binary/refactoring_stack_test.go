// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/testprovider"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

func wantMove(t *testing.T, rc *engine.Change, from string) {
	t.Helper()
	if rc.PreviousAddr.String() != from || rc.Action != engine.ActionNoOp {
		t.Errorf("%s: previous address %s, action %s, want a no-op from %q", rc.Address(), rc.PreviousAddr, rc.Action, from)
	}
}

// Section 4.9: a moved object is a change with its previous address, counted even without any
// other.
func TestRows139And180MovedResource(t *testing.T) {
	f := newFeature(t, "", `
-- mod/main.tf --
`+fakeModule+`
resource "fake_resource" "old" {
  id = "a"
}
`)
	f.run()
	f.write(`
-- mod/main.tf --
` + fakeModule + `
moved {
  from = fake_resource.old
  to   = fake_resource.new
}
resource "fake_resource" "new" {
  id = "a"
}
`)
	plan := f.plan(engine.Normal)
	t.Run("139_plan", func(t *testing.T) {
		wantMove(t, change(t, plan, "fake_resource.new"), "fake_resource.old")
		c := planned(t, plan)
		if c.Action != stackplan.Update || !c.Applyable || !c.Complete {
			t.Errorf("action %s, applyable %v, complete %v, want an update that is both", c.Action, c.Applyable, c.Complete)
		}
		wantCounts(t, "plan", plan.Counts(), stackplan.Counts{Move: 1})
		wantText(t, f.text(plan), "# fake_resource.old has moved to fake_resource.new", "Plan: 0 to add, 0 to change, 0 to destroy, 1 to move "+
			"in 1 component.")
		changes := f.planJSON(plan)["resource_changes"].([]any)
		if got := changes[0].(map[string]any)["previous_address"]; len(changes) != 1 || got != "fake_resource.old" {
			t.Errorf("JSON: %v", changes)
		}
	})
	t.Run("180_apply", func(t *testing.T) {
		result := f.apply(plan)
		wantCounts(t, "apply", result.Counts(), stackplan.Counts{Move: 1})
		f.wantObjects("fake_resource.new")
		f.settled()
	})
}

func TestRow140MoveAcrossTypes(t *testing.T) {
	f := newFeature(t, "", `
-- mod/main.tf --
`+fakeModule+`
resource "fake_resource" "old" {
  id    = "a"
  value = "v"
}
`)
	f.run()
	f.write(`
-- mod/main.tf --
` + fakeModule + `
moved {
  from = fake_resource.old
  to   = fake_deferred.new
}
resource "fake_deferred" "new" {
  id       = "a"
  value    = "v"
  deferred = false
}
`)
	plan := f.plan(engine.Normal)
	rc := change(t, plan, "fake_deferred.new")
	if rc.PreviousAddr.String() != "fake_resource.old" || rc.Action.Replaces() || rc.Action == engine.ActionCreate {
		t.Errorf("previous address %s, action %s, want the same object under another address", rc.PreviousAddr, rc.Action)
	}
	if got := plan.Counts().Move; got != 1 {
		t.Errorf("counts %+v, want one move", plan.Counts())
	}
	f.apply(plan)
	f.wantObjects("fake_deferred.new")
	f.settled()
}

// One block moves the instances of count to those of for_each, in child modules, too.
func TestMovesBetweenKeysAndModules(t *testing.T) {
	f := newFeature(t, "", `
-- mod/main.tf --
resource "terraform_data" "all" { count = 2 }
resource "terraform_data" "single" {}
-- mod/child/main.tf --
resource "terraform_data" "inner" {}
`)
	f.run()
	f.write(`
-- mod/main.tf --
moved {
  from = terraform_data.all[0]
  to   = terraform_data.all["a"]
}
moved {
  from = terraform_data.all[1]
  to   = terraform_data.all["b"]
}
moved {
  from = terraform_data.single
  to   = module.child["x"].terraform_data.inner
}
resource "terraform_data" "all" { for_each = toset(["a", "b"]) }
module "child" {
  for_each = toset(["x"])
  source   = "./child"
}
`)
	plan := f.plan(engine.Normal)
	wantMove(t, change(t, plan, `terraform_data.all["a"]`), "terraform_data.all[0]")
	wantMove(t, change(t, plan, `terraform_data.all["b"]`), "terraform_data.all[1]")
	wantMove(t, change(t, plan, `module.child["x"].terraform_data.inner`), "terraform_data.single")
	wantCounts(t, "plan", plan.Counts(), stackplan.Counts{Move: 3})
	f.apply(plan)
	f.wantObjects(`terraform_data.all["a"]`, `terraform_data.all["b"]`, `module.child["x"].terraform_data.inner`)
	f.settled()
}

const failingSibling = `
resource "fake_failing" "sibling" {
  fail_apply = true
}
`

// wantFailed fails unless the component has failed with these counts.
func (f *feature) wantFailed(plan *stackplan.Plan, want stackplan.Counts) {
	f.t.Helper()
	result, diags := f.tryApply(plan)
	wantDiagnostic(f.t, diags, hcl.DiagError, "fail_apply is true")
	o := outcome(f.t, result)
	if o.Status != hooks.Failed {
		f.t.Errorf("status %s, want %s", o.Status, hooks.Failed)
	}
	wantCounts(f.t, "apply", o.Counts, want)
}

// Section 7.4: moves, imports and forgotten objects count though something else fails, and are
// recorded.
func TestRow185MoveWithFailingSibling(t *testing.T) {
	f := newFeature(t, "", `
-- mod/main.tf --
`+fakeModule+`
resource "fake_resource" "old" {
  id = "a"
}
`)
	f.run()
	f.write(`
-- mod/main.tf --
` + fakeModule + failingSibling + `
moved {
  from = fake_resource.old
  to   = fake_resource.new
}
resource "fake_resource" "new" {
  id = "a"
}
`)
	plan := f.plan(engine.Normal)
	wantCounts(t, "plan", plan.Counts(), stackplan.Counts{Add: 1, Move: 1})
	f.wantFailed(plan, stackplan.Counts{Move: 1})
	f.wantObjects("fake_resource.new")
}

// put stores an object that nothing manages yet.
func (f *feature) put(id string) {
	f.t.Helper()
	if err := f.store.Put(&testprovider.Object{Type: "fake_resource", ID: id, Values: map[string]json.RawMessage{
		"id": json.RawMessage(`"` + id + `"`),
	}}); err != nil {
		f.t.Fatal(err)
	}
}

func TestRow141ImportOfAnObject(t *testing.T) {
	f := newFeature(t, "name = var.name", `
-- mod/main.tf --
`+fakeModule+`
variable "name" { type = string }
import {
  to = fake_resource.found
  id = var.name
}
resource "fake_resource" "found" {
  id = "name"
}
`)
	f.put("name")
	plan := f.plan(engine.Normal)
	rc := change(t, plan, "fake_resource.found")
	if rc.Importing == nil || rc.Importing.ID != "name" || rc.Action != engine.ActionNoOp {
		t.Errorf("action %s, importing %+v, want the import of an unchanged object", rc.Action, rc.Importing)
	}
	if c := planned(t, plan); c.Action != stackplan.Create {
		t.Errorf("action %s, want create", c.Action)
	}
	wantCounts(t, "plan", plan.Counts(), stackplan.Counts{Import: 1})
	wantText(t, f.text(plan), "fake_resource.found will be imported", "Plan: 1 to import, 0 to add")
	result := f.apply(plan)
	wantCounts(t, "apply", result.Counts(), stackplan.Counts{Import: 1})
	f.wantObjects("fake_resource.found")
	f.settled()
}

func TestRow186ImportWithFailingSibling(t *testing.T) {
	f := newFeature(t, "", `
-- mod/main.tf --
`+fakeModule+failingSibling+`
import {
  to = fake_resource.found
  id = "x"
}
resource "fake_resource" "found" {
  id = "x"
}
`)
	f.put("x")
	f.wantFailed(f.plan(engine.Normal), stackplan.Counts{Import: 1})
	f.wantObjects("fake_resource.found")
}

const removedBlock = `
removed {
  from = fake_resource.gone
  lifecycle {
    destroy = DESTROY
  }
}
`

func (f *feature) withoutGone(destroy, more string) {
	f.t.Helper()
	f.write("\n-- mod/main.tf --\n" + fakeModule + strings.Replace(removedBlock, "DESTROY", destroy, 1) + more)
}

const goneModule = `
-- mod/main.tf --
` + fakeModule + `
resource "fake_resource" "gone" {
  id = "x"
}
`

func TestRow142ModuleForgetsAResource(t *testing.T) {
	f := newFeature(t, "", goneModule)
	f.run()
	f.withoutGone("false", "")
	plan, diags := f.tryPlan(engine.Normal)
	wantDiagnostic(t, diags, hcl.DiagWarning, "fake_resource.gone")
	if got := change(t, plan, "fake_resource.gone").Action; got != engine.ActionForget {
		t.Errorf("actions %v, want forget", got)
	}
	wantCounts(t, "plan", plan.Counts(), stackplan.Counts{Forget: 1})
	wantText(t, f.text(plan), "1 to forget")
	result := f.apply(plan)
	wantCounts(t, "apply", result.Counts(), stackplan.Counts{Forget: 1})
	f.wantObjects()
	if _, err := f.store.Get("x"); err != nil {
		t.Errorf("the object was not kept: %v", err)
	}
	f.settled()
}

func TestModuleRemovesAndDestroysAResource(t *testing.T) {
	f := newFeature(t, "", goneModule)
	f.run()
	f.withoutGone("true", "")
	plan, diags := f.tryPlan(engine.Normal)
	noDiagnostics(t, "Plan", diags)
	wantCounts(t, "plan", plan.Counts(), stackplan.Counts{Remove: 1})
	f.apply(plan)
	f.wantObjects()
	if _, err := f.store.Get("x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the object was kept: %v", err)
	}
	f.settled()
}

func TestRow187ForgetWithFailingSibling(t *testing.T) {
	f := newFeature(t, "", goneModule)
	f.run()
	f.withoutGone("false", failingSibling)
	f.wantFailed(f.plan(engine.Normal), stackplan.Counts{Forget: 1})
	f.wantObjects()
}

// A resource without a block is destroyed; the component's record stays.
func TestRow179ResourceRemovedFromModule(t *testing.T) {
	f := newFeature(t, "", goneModule)
	f.run()
	f.write("\n-- mod/main.tf --\n" + fakeModule)
	plan := f.plan(engine.Normal)
	wantCounts(t, "plan", plan.Counts(), stackplan.Counts{Remove: 1})
	f.apply(plan)
	f.wantObjects()
	f.settled()
}

func TestRow194VanishedResourceWithoutBlock(t *testing.T) {
	f := newFeature(t, "", goneModule)
	f.run()
	if err := f.store.Delete("x"); err != nil {
		t.Fatal(err)
	}
	f.write("\n-- mod/main.tf --\n" + fakeModule)
	plan := f.plan(engine.Normal)
	wantCounts(t, "plan", plan.Counts(), stackplan.Counts{})
	f.apply(plan)
	f.wantObjects()
	f.settled()
}

// A sibling that needs the failing resource keeps its state as it is.
func TestRow193SiblingOfAFailingResource(t *testing.T) {
	module := func(fail string) string {
		return `
-- mod/main.tf --
` + fakeModule + `
resource "fake_failing" "first" {
  id         = "first"
  value      = "` + fail + `"
  fail_apply = ` + fail + `
}
resource "fake_resource" "second" {
  id         = "second"
  value      = "v"
  depends_on = [fake_failing.first]
}
`
	}
	f := newFeature(t, "", module("false"))
	f.run()
	before := f.objects()
	f.write(module("true"))
	f.wantFailed(f.plan(engine.Normal), stackplan.Counts{})
	f.wantObjects(before...)
	f.wantObjects("fake_failing.first", "fake_resource.second")
	f.write(module("false"))
	f.settled()
}

// An import whose id is known only during apply is deferred, with its dependents; all else is
// planned and applied.
func TestImportWithUnknownID(t *testing.T) {
	f := newFeature(t, `id = trimprefix(component.up.later, "later-")`, `
-- mod/main.tf --
`+fakeModule+`
variable "id" { type = string }
import {
  to = fake_resource.found
  id = var.id
}
resource "fake_resource" "found" {
  id = "name"
}
resource "fake_resource" "needs" {
  id    = "needs"
  value = fake_resource.found.id
}
resource "fake_resource" "sibling" {
  id = "sibling"
}
`)
	f.put("name")
	plan := f.plan(engine.Normal)
	var deferred []string
	for _, d := range planned(t, plan).Deferred {
		if importing := d.Change.Importing; d.Change.Addr.Resource.Name == "found" && (importing == nil || !importing.Unknown) {
			t.Errorf("%s: importing %+v, want it unknown", d.Change.Address(), importing)
		}
		deferred = append(deferred, d.Change.Address()+" "+d.Reason)
	}
	if got := strings.Join(deferred, ", "); got != "fake_resource.found resource_config_unknown, fake_resource.needs deferred_prereq" {
		t.Errorf("deferred: %s", got)
	}
	wantCounts(t, "plan", plan.Counts(), stackplan.Counts{Add: 2, Defer: 2})
	f.apply(plan)
	f.wantObjects("fake_resource.sibling")

	plan = f.plan(engine.Normal)
	wantCounts(t, "second plan", plan.Counts(), stackplan.Counts{Add: 1, Import: 1})
	f.apply(plan)
	f.wantObjects("fake_resource.found", "fake_resource.needs", "fake_resource.sibling")
	f.settled()
}

// The resource of an import can be in another module, or be repeated, and the block in JSON.
func TestImportsWithUnknownArguments(t *testing.T) {
	f := newFeature(t, `id = trimprefix(component.up.later, "later-")`, `
-- mod/main.tf --
variable "id" { type = string }
module "child" { source = "./child" }
import {
  for_each = toset([var.id])
  to       = module.child.fake_resource.many["k"]
  id       = each.key
}
-- mod/more.tf.json --
{"import": {"to": "module.child.fake_resource.one", "id": "${var.id}-one"}}
-- mod/child/main.tf --
`+fakeModule+`
resource "fake_resource" "one" {
  id = "name-one"
}
resource "fake_resource" "many" {
  for_each = toset(["k"])
  id       = "name"
}
resource "fake_resource" "sibling" {
  id = "sibling"
}
`)
	f.put("name")
	f.put("name-one")
	plan := f.plan(engine.Normal)
	var deferred []string
	for _, d := range planned(t, plan).Deferred {
		deferred = append(deferred, d.Change.Address()+" "+d.Reason)
	}
	if got := strings.Join(deferred, ", "); got != "module.child.fake_resource.many[*] resource_config_unknown, "+
		"module.child.fake_resource.one resource_config_unknown" {
		t.Errorf("deferred: %s", got)
	}
	f.apply(plan)
	plan = f.plan(engine.Normal)
	wantCounts(t, "second plan", plan.Counts(), stackplan.Counts{Import: 2})
	f.apply(plan)
	f.settled()
}
