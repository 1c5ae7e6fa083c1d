// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// deferrals returns the addresses, actions and reasons of deferred changes.
func deferrals(result *engine.PlanResult) []string {
	var out []string
	for _, deferred := range result.Deferred {
		text := deferred.Change.Address()
		if deferred.Change.Action != "" {
			text += " " + strings.ReplaceAll(string(deferred.Change.Action), "/", " ")
		}
		out = append(out, text+" "+deferred.Reason)
	}
	return out
}

func wantDeferrals(t *testing.T, result *engine.PlanResult, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, deferrals(result)); diff != "" {
		t.Errorf("deferred (-want +got):\n%s", diff)
	}
	if result.Complete {
		t.Error("plan is complete, want it not to be")
	}
}

func wantActions(t *testing.T, result *engine.PlanResult, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, actions(result)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// quiet fails on warnings and errors.
func quiet(t *testing.T, call string, diags hcl.Diagnostics) {
	t.Helper()
	for _, diag := range diags {
		t.Errorf("%s: %s: %s (%v)", call, diag.Summary, diag.Detail, diag.Subject)
	}
}

// planQuietly plans without errors and warnings.
func (b *bench) planQuietly(req *engine.PlanRequest) *engine.PlanResult {
	b.t.Helper()
	result, diags := b.tryPlan(context.Background(), req)
	quiet(b.t, "Plan", diags)
	if result == nil {
		b.t.Fatal("Plan returned no result")
	}
	return result
}

func (b *bench) applyQuietly(req *engine.ApplyRequest) *engine.ApplyResult {
	b.t.Helper()
	result, diags := b.tryApply(context.Background(), req)
	quiet(b.t, "Apply", diags)
	if result == nil {
		b.t.Fatal("Apply returned no result")
	}
	b.acknowledge()
	return result
}

const unknownModule = `
variable "names" { type = set(string) }
variable "copies" { type = number }
variable "v" { type = string }
locals { all = terraform_data.named }
resource "terraform_data" "named" {
  for_each = var.names
}
resource "terraform_data" "counted" {
  count = var.copies
}
resource "terraform_data" "other" { input = var.v }
resource "terraform_data" "zero" { count = 0 }
resource "terraform_data" "through_local" { input = length(local.all) }
resource "terraform_data" "waits" {
  count      = 2
  depends_on = [terraform_data.counted]
}
module "repeated" {
  source   = "./child"
  for_each = var.names
  v        = each.key
}
module "waits" {
  source     = "./child"
  v          = "w"
  depends_on = [module.repeated]
}
module "inner" {
  source = "./outer"
  for_each = toset(["a", "b"])
  copies   = var.copies
}
data "terraform_remote_state" "read" {
  backend = "local"
  config  = { path = "${path.module}/found.tfstate" }
}
check "fails" {
  assert {
    condition     = data.terraform_remote_state.read.outputs.x == "other"
    error_message = "It is not the other one."
  }
}
output "counted" { value = length(terraform_data.counted) }
output "other" { value = terraform_data.other.output }
output "known" {
  value     = "k"
  sensitive = true
}
output "given" { value = var.v }
output "zero" { value = [for z in terraform_data.zero : z.id] }
output "read" { value = data.terraform_remote_state.read.outputs.x }
output "free" { value = module.inner["a"].free }
output "bound" { value = module.inner["a"].bound }
`

var unknownFiles = map[string]string{
	"mod/main.tf": unknownModule,
	"mod/found.tfstate": `{"version":4,"terraform_version":"1.10.0","serial":1,"lineage":"x",` +
		`"outputs":{"x":{"value":"found","type":"string"}},"resources":[]}`,
	"mod/child/main.tf": "variable \"v\" {}\nresource \"terraform_data\" \"a\" {\n  input = var.v\n}\noutput \"out\" {\n  value = var.v\n}\n",
	"mod/outer/main.tf": `
variable "copies" {}
resource "terraform_data" "free" {}
module "deep" {
  source = "../deep"
  copies = var.copies
}
output "free" { value = terraform_data.free.id }
output "bound" { value = module.deep.ids }
`,
	"mod/deep/main.tf": "variable \"copies\" {}\nresource \"terraform_data\" \"a\" {\n  count = var.copies\n}\noutput \"ids\" {\n  value = " +
		"terraform_data.a[*].id\n}\n",
}

func unknownInputs() map[string]cty.Value {
	return map[string]cty.Value{
		"names": cty.UnknownVal(cty.Set(cty.String)), "copies": cty.UnknownVal(cty.Number), "v": cty.UnknownVal(cty.String),
	}
}

func finalInputs(copies int64, names ...cty.Value) map[string]cty.Value {
	return map[string]cty.Value{"names": cty.SetVal(names), "copies": cty.NumberIntVal(copies), "v": cty.StringVal("x")}
}

// All that does not depend on a number of instances is planned and applied; the next plan has the
// rest.
func TestUnknownInstancesAreDeferred(t *testing.T) {
	testenv.SkipUnderRace(t, "the contract of engines does the same things at the same time")
	b := newBench(t, unknownFiles)
	req := b.request(unknownInputs())
	plan, diags := b.tryPlan(context.Background(), req)
	if len(diags) != 1 || diags[0].Severity != hcl.DiagWarning || diags[0].Detail != "It is not the other one." {
		t.Errorf("Plan: got %v, want only the check's warning", diags)
	}
	wantDeferrals(t, plan,
		`module.inner["a"].module.deep.terraform_data.a[*] create instance_count_unknown`,
		`module.inner["b"].module.deep.terraform_data.a[*] create instance_count_unknown`,
		`module.repeated[*].terraform_data.a create instance_count_unknown`,
		`module.waits.terraform_data.a create deferred_prereq`,
		`terraform_data.counted[*] create instance_count_unknown`,
		`terraform_data.named[*] create instance_count_unknown`,
		`terraform_data.through_local create deferred_prereq`,
		`terraform_data.waits[*] create deferred_prereq`,
	)
	wantActions(t, plan, map[string]string{
		`module.inner["a"].terraform_data.free`: "create ", `module.inner["b"].terraform_data.free`: "create ",
		"terraform_data.other": "create ",
	})
	if !plan.Applyable || plan.Plan == nil {
		t.Error("plan is not applyable")
	}
	known, found := cty.StringVal("k").Mark(marks.Sensitive), cty.StringVal("found")
	for name, want := range map[string]cty.Value{
		"counted": cty.DynamicVal, "other": cty.UnknownVal(cty.String), "known": known, "given": cty.UnknownVal(cty.String),
		"zero": cty.EmptyTupleVal, "read": found, "bound": cty.DynamicVal,
	} {
		if got := plan.Outputs[name]; !got.RawEquals(want) {
			t.Errorf("planned output %s: got %#v, want %#v", name, got, want)
		}
	}
	if got := plan.Outputs["free"]; got.IsKnown() || !got.Type().Equals(cty.String) {
		t.Errorf("planned output free: got %#v, want an unknown string", got)
	}

	result := b.applyQuietly(applyRequest(req, plan.Plan, finalInputs(1, cty.StringVal("n"))))
	for name, want := range map[string]cty.Value{
		"counted": cty.DynamicVal, "other": cty.StringVal("x"), "known": known, "given": cty.StringVal("x"),
		"zero": cty.EmptyTupleVal, "read": found, "bound": cty.DynamicVal,
	} {
		if got := result.Outputs[name]; !got.RawEquals(want) {
			t.Errorf("output %s: got %#v, want %#v", name, got, want)
		}
	}
	noTraces(t, result.State)

	// The second round.
	req.Inputs, req.PriorState = finalInputs(1, cty.StringVal("n")), result.State
	second := b.plan(req)
	wantActions(t, second, map[string]string{
		`module.inner["a"].module.deep.terraform_data.a[0]`: "create ", `module.inner["b"].module.deep.terraform_data.a[0]`: "create ",
		`module.inner["a"].terraform_data.free`: "no-op ", `module.inner["b"].terraform_data.free`: "no-op ",
		`module.repeated["n"].terraform_data.a`: "create ", "module.waits.terraform_data.a": "create ",
		"terraform_data.counted[0]": "create ", `terraform_data.named["n"]`: "create ", "terraform_data.other": "no-op ",
		"terraform_data.through_local": "create ", "terraform_data.waits[0]": "create ", "terraform_data.waits[1]": "create ",
	})
	if !second.Complete || len(second.Deferred) != 0 {
		t.Errorf("second plan: complete %v, deferred %v, want nothing deferred", second.Complete, deferrals(second))
	}
	req.PriorState = b.apply(applyRequest(req, second.Plan, req.Inputs)).State

	// Their number is unknown again: the present ones stay, and nothing has to be done.
	req.Inputs = unknownInputs()
	req.Inputs["v"] = cty.StringVal("x")
	third := b.plan(req)
	wantActions(t, third, map[string]string{
		`module.inner["a"].terraform_data.free`: "no-op ", `module.inner["b"].terraform_data.free`: "no-op ", "terraform_data.other": "no-op ",
	})
	if third.Applyable || third.Plan != nil || len(third.Deferred) != 8 {
		t.Errorf("third plan: applyable %v, deferred %v, want nothing to apply", third.Applyable, deferrals(third))
	}
	if got := deferrals(third)[6]; got != "terraform_data.through_local update deferred_prereq" {
		t.Errorf("deferred: got %s, want an update", got)
	}

	// Part of it changes.
	req.Inputs["v"] = cty.StringVal("y")
	fourth := b.plan(req)
	wantActions(t, fourth, map[string]string{
		`module.inner["a"].terraform_data.free`: "no-op ", `module.inner["b"].terraform_data.free`: "no-op ", "terraform_data.other": "update ",
	})
	inputs := finalInputs(1, cty.StringVal("n"))
	inputs["v"] = cty.StringVal("y")
	result = b.applyQuietly(applyRequest(req, fourth.Plan, inputs))
	if got := result.Outputs["counted"]; got.IsKnown() {
		t.Errorf("output counted: got %#v, want it unknown, not the one from before", got)
	}
	req.Inputs, req.PriorState = inputs, result.State
	for address, action := range actions(b.plan(req)) {
		if action != "no-op " {
			t.Errorf("last plan: %s is %q, want no-op", address, action)
		}
	}
}

// With nothing that could be planned, there is nothing to apply, and no second process.
func TestUnknownInstancesOnly(t *testing.T) {
	testenv.SkipUnderRace(t, "the contract of engines does the same things at the same time")
	for name, source := range map[string]string{
		"resource":                 "resource \"terraform_data\" \"a\" {\n  count = var.v\n}\n",
		"data source":              "data \"terraform_remote_state\" \"a\" {\n  count   = var.v\n  backend = \"local\"\n}\n",
		"module":                   "module \"a\" {\n  source = \"./child\"\n  count  = var.v\n}\n",
		"module without resources": "module \"a\" {\n  source = \"./empty\"\n  count  = var.v\n}\n",
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, map[string]string{
				"mod/main.tf":       "variable \"v\" {}\noutput \"k\" {\n  value = 5\n}\n" + source,
				"mod/child/main.tf": "resource \"terraform_data\" \"a\" {}\n", "mod/empty/main.tf": "output \"o\" {\n  value = 1\n}\n",
			})
			runs := b.countRuns()
			plan := b.planQuietly(b.request(map[string]cty.Value{"v": cty.UnknownVal(cty.Number)}))
			wantDeferrals(t, plan, map[string]string{
				"resource":                 "terraform_data.a[*] create instance_count_unknown",
				"data source":              "data.terraform_remote_state.a[*] read instance_count_unknown",
				"module":                   "module.a[*].terraform_data.a create instance_count_unknown",
				"module without resources": "module.a[*] instance_count_unknown",
			}[name])
			if plan.Applyable || plan.Plan != nil || len(plan.Changes) != 0 {
				t.Errorf("plan: got %+v, want nothing to apply", plan)
			}
			if got := plan.Outputs["k"]; !got.RawEquals(cty.NumberIntVal(5)) {
				t.Errorf("output k: got %#v, want 5", got)
			}
			if got := runs(); len(got) != 1 {
				t.Errorf("processes: got %q, want one", got)
			}
		})
	}
}

// countRuns makes the engine's binary note its plan commands.
func (b *bench) countRuns() func() []string {
	b.t.Helper()
	log, script := filepath.Join(b.t.TempDir(), "log"), filepath.Join(b.t.TempDir(), "engine")
	content := "#!/bin/sh\ncase \"$2\" in plan) echo \"$@\" >> '" + log + "';; esac\nexec '" + testenv.Engine(b.t) + "' \"$@\"\n"
	if err := os.WriteFile(script, []byte(content), 0o700); err != nil { //nolint:gosec // a program
		b.t.Fatal(err)
	}
	b.engine.binary.Path = script
	return func() []string {
		data, err := os.ReadFile(log)
		if err != nil {
			b.t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(data)), "\n")
	}
}

// A second process runs only if something can be applied, and then only once.
func TestProcessesForUnknownInstances(t *testing.T) {
	b := newBench(t, map[string]string{
		"mod/main.tf": "variable \"v\" {}\nresource \"terraform_data\" \"a\" {\n  count = var.v\n}\nresource \"terraform_data\" \"b\" {}\n",
	})
	runs := b.countRuns()
	b.plan(b.request(map[string]cty.Value{"v": cty.NumberIntVal(1)}))
	if got := runs(); len(got) != 1 {
		t.Errorf("processes for a known number: got %q, want one", got)
	}
	var events []string
	req := b.request(map[string]cty.Value{"v": cty.UnknownVal(cty.Number)})
	b.observe = func(ev engine.Event) { events = append(events, string(ev.Type)+" "+ev.Resource) }
	b.plan(req)
	if got := runs(); len(got) != 3 || strings.Count(got[2], "-target=") == 0 {
		t.Errorf("processes: got %q, want two more, the last with targets", got)
	}
	if want := []string{"planned_change terraform_data.b"}; !slices.Equal(events, want) {
		t.Errorf("events: got %q, want %q", events, want)
	}
}

// Moves and imports in the part that is planned don't keep it from being applied.
func TestUnknownInstancesWithMovesAndImports(t *testing.T) {
	testenv.SkipUnderRace(t, "the contract of engines does the same things at the same time")
	b := newBench(t, map[string]string{"mod/main.tf": `
variable "v" {}
resource "terraform_data" "old" { input = "kept" }
resource "terraform_data" "single" {}
resource "terraform_data" "first" {}
`})
	req := b.request(map[string]cty.Value{"v": cty.UnknownVal(cty.Number)})
	final := map[string]cty.Value{"v": cty.NumberIntVal(2)}
	req.PriorState = b.apply(applyRequest(req, b.plan(req).Plan, final)).State

	b.write("mod/main.tf", `
variable "v" {}
moved {
  from = terraform_data.old
  to   = terraform_data.new
}
moved {
  from = terraform_data.first
  to   = terraform_data.counted[1]
}
import {
  to = terraform_data.found
  id = "found-id"
}
resource "terraform_data" "new" { input = "kept" }
resource "terraform_data" "found" {}
resource "terraform_data" "single" { count = var.v }
resource "terraform_data" "counted" { count = var.v }
resource "terraform_data" "more" {}
`)
	b.reopen()
	plan := b.planQuietly(req)
	wantActions(t, plan, map[string]string{
		"terraform_data.found": "no-op ", "terraform_data.more": "create ", "terraform_data.new": "no-op ",
	})
	if got := plan.Changes[0].Importing; got == nil || got.ID != "found-id" {
		t.Errorf("import: got %+v", got)
	}
	if got := plan.Changes[2].PreviousAddr.String(); got != "terraform_data.old" {
		t.Errorf("moved from %q, want terraform_data.old", got)
	}
	wantDeferrals(t, plan, "terraform_data.counted[*] create instance_count_unknown", "terraform_data.single[*] create instance_count_unknown")

	req.PriorState = b.applyQuietly(applyRequest(req, plan.Plan, final)).State
	req.Inputs = final
	wantActions(t, b.plan(req), map[string]string{
		"terraform_data.found": "no-op ", "terraform_data.more": "no-op ", "terraform_data.new": "no-op ",
		"terraform_data.single[0]": "no-op ", "terraform_data.single[1]": "create ",
		"terraform_data.counted[0]": "create ", "terraform_data.counted[1]": "no-op ",
	})
}

// A count that depends on a resource of the same module becomes known by applying the part.
func TestUnknownInstancesFromOwnResource(t *testing.T) {
	testenv.SkipUnderRace(t, "the contract of engines does the same things at the same time")
	b := newBench(t, map[string]string{"mod/main.tf": `
resource "terraform_data" "size" { input = 2 }
resource "terraform_data" "gone" {}
resource "terraform_data" "c" { count = terraform_data.size.output }
output "ids" { value = terraform_data.c[*].id }
`})
	req := b.request(nil)
	plan := b.planQuietly(req)
	wantDeferrals(t, plan, "terraform_data.c[*] create instance_count_unknown")
	req.PriorState = b.applyQuietly(applyRequest(req, plan.Plan, nil)).State
	plan = b.planQuietly(req)
	if !plan.Complete || len(plan.Changes) != 4 {
		t.Fatalf("second plan: got %v, want two instances created", actions(plan))
	}
	result := b.apply(applyRequest(req, plan.Plan, nil))
	req.PriorState = result.State
	if got := result.Outputs["ids"]; got.LengthInt() != 2 {
		t.Errorf("ids: got %#v, want two", got)
	}

	// An object that the configuration no longer has is deleted although something else is deferred.
	b.write("mod/main.tf", `
resource "terraform_data" "size" {
  input            = 3
  triggers_replace = 1
}
resource "terraform_data" "c" { count = terraform_data.size.output }
output "ids" { value = terraform_data.c[*].id }
`)
	b.reopen()
	plan = b.planQuietly(req)
	wantActions(t, plan, map[string]string{"terraform_data.gone": "delete ", "terraform_data.size": "delete create "})
	req.PriorState = b.applyQuietly(applyRequest(req, plan.Plan, nil)).State
	wantActions(t, b.plan(req), map[string]string{
		"terraform_data.size": "no-op ", "terraform_data.c[0]": "no-op ", "terraform_data.c[1]": "no-op ", "terraform_data.c[2]": "create ",
	})
}

// The other modes: destroying doesn't need the number, and refreshing goes as far as it can.
func TestUnknownInstancesInOtherModes(t *testing.T) {
	testenv.SkipUnderRace(t, "the contract of engines does the same things at the same time")
	b := newBench(t, map[string]string{"mod/main.tf": `
variable "v" {}
resource "terraform_data" "c" { count = var.v }
resource "terraform_data" "other" {}
output "n" { value = length(terraform_data.c) }
`})
	req := b.request(map[string]cty.Value{"v": cty.NumberIntVal(2)})
	req.PriorState = b.apply(applyRequest(req, b.plan(req).Plan, req.Inputs)).State
	req.Inputs = map[string]cty.Value{"v": cty.UnknownVal(cty.Number)}

	req.Mode = engine.RefreshOnly
	plan := b.planQuietly(req)
	wantDeferrals(t, plan, "terraform_data.c[*] create instance_count_unknown")
	if plan.Applyable || strings.Count(string(plan.RefreshedState), "index_key") != 2 {
		t.Errorf("refresh-only plan: applyable %v, state %s, want all objects kept", plan.Applyable, plan.RefreshedState)
	}

	req.Mode = engine.Destroy
	var events []string
	b.observe = func(ev engine.Event) {
		if ev.Type == engine.PlannedChange {
			events = append(events, ev.Resource+" "+ev.Action)
		}
	}
	plan = b.planQuietly(req)
	slices.Sort(events)
	if want := []string{"terraform_data.c[0] delete", "terraform_data.c[1] delete", "terraform_data.other delete"}; !slices.Equal(events,
		want) {
		t.Errorf("planned changes in events: got %q, want %q", events, want)
	}
	wantActions(t, plan, map[string]string{
		"terraform_data.c[0]": "delete ", "terraform_data.c[1]": "delete ",
		"terraform_data.other": "delete ",
	})
	if !plan.Complete || !plan.Applyable || len(plan.Deferred) != 0 {
		t.Errorf("destroy plan: got %+v, want it complete", plan)
	}
	result := b.applyQuietly(applyRequest(req, plan.Plan, req.Inputs))
	if strings.Contains(string(result.State), "terraform_data") {
		t.Errorf("state after destroying: %s", result.State)
	}
}

// Numbers in JSON files are found, too, as are references and dependencies.
func TestUnknownInstancesInJSON(t *testing.T) {
	b := newBench(t, map[string]string{"mod/main.tf.json": `{
  "variable": {"v": {}},
  "resource": {"terraform_data": {
    "c": {"count": "${var.v}"},
    "refers": {"input": {"deep": ["${terraform_data.c[*].id}"]}},
    "waits": {"depends_on": ["terraform_data.c"]},
    "free": {"input": "${var.v}"}
  }}
}`})
	plan := b.planQuietly(b.request(map[string]cty.Value{"v": cty.UnknownVal(cty.Number)}))
	wantDeferrals(t, plan,
		"terraform_data.c[*] create instance_count_unknown",
		"terraform_data.refers create deferred_prereq", "terraform_data.waits create deferred_prereq")
	wantActions(t, plan, map[string]string{"terraform_data.free": "create "})
}

// Other errors are errors, and those about numbers come with a remedy then.
func TestUnknownInstancesAmongErrors(t *testing.T) {
	b := newBench(t, map[string]string{"mod/main.tf": `
variable "v" {}
variable "w" {}
resource "terraform_data" "b" { input = jsondecode(var.w) }
resource "terraform_data" "a" { count = var.v }
`})
	inputs := map[string]cty.Value{"v": cty.UnknownVal(cty.Number), "w": cty.StringVal("{")}
	result, diags := b.tryPlan(context.Background(), b.request(inputs))
	i := slices.IndexFunc(diags, isUnknownInstances)
	if !diags.HasErrors() || i < 0 || !strings.Contains(diags[i].Detail, "In a stack") {
		t.Fatalf("Plan: got %v, want both errors, one with a remedy", diags)
	}
	if at := diags[i].Subject; at == nil || at.Filename != "mod/main.tf" || at.Start.Line != 5 {
		t.Errorf("Plan: error at %v, want line 5 of mod/main.tf", at)
	}
	if strings.Contains(diags[i].Detail, "__stack_") {
		t.Errorf("message names generated objects: %s", diags[i].Detail)
	}
	if result != nil && (result.Plan != nil || result.Applyable || result.Complete || len(result.Deferred) > 0) {
		t.Errorf("Plan: got %+v, want nothing to apply", result)
	}
}

// An import that waits for something unknown defers its resource, along with instances that are
// deferred.
func TestUnknownImports(t *testing.T) {
	b := newBench(t, map[string]string{"mod/main.tf": `
variable "v" {}
variable "n" {}
resource "terraform_data" "b" {}
resource "terraform_data" "a" { count = var.n }
import {
  for_each = toset([var.v])
  to       = terraform_data.i[each.key]
  id       = each.key
}
resource "terraform_data" "i" {
  for_each = toset(["x"])
}
`})
	inputs := map[string]cty.Value{"v": cty.UnknownVal(cty.String), "n": cty.UnknownVal(cty.Number)}
	result := b.plan(b.request(inputs))
	wantDeferrals(t, result, "terraform_data.a[*] create instance_count_unknown", "terraform_data.i[*] create resource_config_unknown")
	wantActions(t, result, map[string]string{"terraform_data.b": "create "})
}

// Instance keys are nothing to stumble over, nor are replacements asked for.
func TestUnknownInstancesWithKeys(t *testing.T) {
	testenv.SkipUnderRace(t, "the contract of engines does the same things at the same time")
	b := newBench(t, map[string]string{
		"mod/main.tf": `
variable "n" {}
module "m" {
  source   = "./child"
  for_each = { "a.b[0]" = 1, "$${x}\"" = var.n }
  n        = each.value
}
resource "terraform_data" "c" { count = var.n }
resource "terraform_data" "d" {}
`,
		"mod/child/main.tf": `
variable "n" {}
resource "terraform_data" "free" {}
resource "terraform_data" "counted" { count = var.n }
resource "terraform_data" "after" {
  lifecycle { replace_triggered_by = [terraform_data.counted] }
}
`,
	})
	final := map[string]cty.Value{"n": cty.NumberIntVal(1)}
	req := b.request(map[string]cty.Value{"n": cty.UnknownVal(cty.Number)})
	plan := b.planQuietly(req)
	wantDeferrals(t, plan,
		`module.m["$${x}\""].terraform_data.after create deferred_prereq`,
		`module.m["$${x}\""].terraform_data.counted[*] create instance_count_unknown`,
		// The engine plans a resource in all instances of its module, or in none.
		`module.m["a.b[0]"].terraform_data.after create deferred_prereq`,
		`module.m["a.b[0]"].terraform_data.counted[*] create instance_count_unknown`,
		"terraform_data.c[*] create instance_count_unknown",
	)
	wantActions(t, plan, map[string]string{
		`module.m["$${x}\""].terraform_data.free`: "create ", `module.m["a.b[0]"].terraform_data.free`: "create ",
		"terraform_data.d": "create ",
	})
	req.PriorState = b.applyQuietly(applyRequest(req, plan.Plan, final)).State

	req.Replace = []string{"terraform_data.d", "terraform_data.c[0]"}
	plan = b.planQuietly(req)
	if got := actions(plan)["terraform_data.d"]; got != "delete create " {
		t.Errorf("terraform_data.d: got %q, want a replacement", got)
	}
	req.PriorState = b.applyQuietly(applyRequest(req, plan.Plan, final)).State
}

// Data sources are read once, ephemeral resources opened for their users, and drift is reported and
// corrected, also when something is deferred.
func TestUnknownInstancesWithProvider(t *testing.T) {
	b := newFakeBench(t, map[string]string{"mod/main.tf": fakeRequired + `
variable "n" { type = number }
resource "fake_resource" "a" {
  id    = "a"
  value = "as configured"
}
resource "fake_resource" "many" {
  count = var.n
  value = "m"
}
data "fake_data" "a" {
  id         = "a"
  depends_on = [fake_resource.a]
}
data "fake_data" "of_many" {
  id = fake_resource.many[0].id
}
data "fake_data" "many" {
  count = var.n
  id    = "a"
}
ephemeral "fake_ephemeral" "many" {
  count = var.n
  name  = "x"
}
ephemeral "fake_ephemeral" "one" {
  name = "one"
}
resource "fake_writeonly" "w" {
  secret         = ephemeral.fake_ephemeral.one.value
  secret_version = 1
}
resource "fake_writeonly" "many" {
  secret         = ephemeral.fake_ephemeral.many[0].value
  secret_version = 1
}
output "value" { value = data.fake_data.a.value }
`})
	req := b.request(map[string]cty.Value{"n": cty.UnknownVal(cty.Number)})
	req.Providers = map[engine.ProviderSlot]engine.ProviderConfig{fakeSlot: b.config(nil)}
	final := map[string]cty.Value{"n": cty.NumberIntVal(1)}
	plan := b.planQuietly(req)
	wantDeferrals(t, plan,
		"data.fake_data.many[*] read instance_count_unknown",
		"data.fake_data.of_many read deferred_prereq",
		"ephemeral.fake_ephemeral.many[*] read instance_count_unknown",
		"fake_resource.many[*] create instance_count_unknown",
		"fake_writeonly.many create deferred_prereq",
	)
	if got := plan.Deferred[3].Change.Provider; got != fakeProvider {
		t.Errorf("provider of a deferred change: got %s, want %s", got, fakeProvider)
	}
	wantActions(t, plan, map[string]string{"data.fake_data.a": "read ", "fake_resource.a": "create ", "fake_writeonly.w": "create "})
	result := b.applyQuietly(applyRequest(req, plan.Plan, final))
	if got := result.Outputs["value"]; !got.RawEquals(cty.StringVal("as configured")) {
		t.Errorf("value: got %#v", got)
	}
	req.PriorState = result.State

	changeOutside(t, "as configured", "changed")
	calls := filepath.Join(t.TempDir(), "calls")
	t.Setenv("CAIRN_FAKE_CALLS", calls)
	b.reopen()
	plan = b.planQuietly(req)
	if got := actions(plan)["fake_resource.a"]; got != "update " || len(plan.Drift) != 1 || plan.Drift[0].Address() != "fake_resource.a" {
		t.Errorf("plan: got %q and %v changed outside, want fake_resource.a updated", got, plan.Drift)
	}
	recorded, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(recorded), "ReadResource"); got != 2 {
		t.Errorf("objects were read %d times, want each of two once:\n%s", got, recorded)
	}
	result = b.applyQuietly(applyRequest(req, plan.Plan, final))
	if got := result.Outputs["value"]; !got.RawEquals(cty.StringVal("as configured")) {
		t.Errorf("value: got %#v", got)
	}

	// The same in refresh-only mode: the drift is in the state to keep.
	changeOutside(t, "as configured", "changed")
	req.Mode, req.PriorState = engine.RefreshOnly, result.State
	plan = b.planQuietly(req)
	if len(plan.Drift) != 1 || plan.Plan != nil || len(plan.Deferred) == 0 || !strings.Contains(string(plan.RefreshedState), `"changed"`) {
		t.Errorf("refresh-only plan: got drift %v, deferred %v, state %s", plan.Drift, deferrals(plan), plan.RefreshedState)
	}

	req.Mode, req.Inputs, req.PriorState = engine.Normal, final, result.State
	plan = b.planQuietly(req)
	if !plan.Complete {
		t.Errorf("second round: deferred %v", deferrals(plan))
	}
	b.applyQuietly(applyRequest(req, plan.Plan, final))
}

// changeOutside changes a text in all objects of the fake provider.
func changeOutside(t *testing.T, from, to string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(os.Getenv("CAIRN_FAKE_STORE"), "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("objects: %v, %v", files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, []byte(strings.ReplaceAll(string(data), "as configured", "changed")), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// The enabled argument, which only tofu has, defers like the others.
func TestUnknownEnabled(t *testing.T) {
	b := newBench(t, map[string]string{
		"mod/main.tf": `
variable "on" { type = bool }
resource "terraform_data" "a" {
  lifecycle { enabled = var.on }
}
module "m" {
  source = "./child"
  lifecycle { enabled = var.on }
}
resource "terraform_data" "b" {}
`,
		"mod/child/main.tf": "resource \"terraform_data\" \"a\" {}\n",
	})
	if b.engine.Info().Name != toolchain.Tofu {
		t.Skip("needs tofu: terraform has no such argument")
	}
	req := b.request(map[string]cty.Value{"on": cty.UnknownVal(cty.Bool)})
	plan := b.planQuietly(req)
	wantDeferrals(t, plan, "module.m.terraform_data.a create instance_count_unknown", "terraform_data.a create instance_count_unknown")
	req.Inputs = map[string]cty.Value{"on": cty.True}
	req.PriorState = b.applyQuietly(applyRequest(req, plan.Plan, req.Inputs)).State
	wantActions(t, b.planQuietly(req), map[string]string{
		"module.m.terraform_data.a": "create ", "terraform_data.a": "create ", "terraform_data.b": "no-op ",
	})
}

// Objects that are to be forgotten are, and rules of inputs hold for the part that is applied.
func TestUnknownInstancesWithRemovedAndValidation(t *testing.T) {
	testenv.SkipUnderRace(t, "the contract of engines does the same things at the same time")
	b := newBench(t, map[string]string{
		"mod/main.tf": "variable \"v\" {}\nvariable \"n\" {}\nresource \"terraform_data\" \"gone\" {}\nresource \"terraform_data\" " +
			"\"kept\" {}\n",
		"mod/child/main.tf": "variable \"n\" {}\nresource \"terraform_data\" \"a\" {\n  count = var.n\n}\noutput \"ids\" {\n  value = " +
			"terraform_data.a[*].id\n}\n",
	})
	inputs := func(v, n cty.Value) map[string]cty.Value { return map[string]cty.Value{"v": v, "n": n} }
	final := inputs(cty.StringVal("good"), cty.NumberIntVal(1))
	req := b.request(final)
	req.PriorState = b.apply(applyRequest(req, b.plan(req).Plan, final)).State

	b.write("mod/main.tf", `
variable "v" {
  type = string
  validation {
    condition     = var.v == "good"
    error_message = "It must be good."
  }
}
variable "n" { type = number }
removed {
  from = terraform_data.gone
  lifecycle {
    destroy = false
  }
}
resource "terraform_data" "kept" { input = var.v }
module "known" {
  source = "./child"
  n      = 1
}
module "unknown" {
  source = "./child"
  n      = var.n
}
output "known" { value = length(module.known.ids) }
output "unknown" { value = length(module.unknown.ids) }
`)
	b.reopen()
	req.Inputs = inputs(cty.UnknownVal(cty.String), cty.UnknownVal(cty.Number))
	plan, diags := b.tryPlan(context.Background(), req)
	b.noErrors("Plan", diags)
	for _, diag := range diags {
		if strings.Contains(strings.ToLower(diag.Summary), "target") {
			t.Errorf("Plan: warning about targets: %s", diag.Summary)
		}
	}
	wantDeferrals(t, plan, "module.unknown.terraform_data.a[*] create instance_count_unknown")
	wantActions(t, plan, map[string]string{
		"module.known.terraform_data.a[0]": "create ", "terraform_data.gone": "forget ", "terraform_data.kept": "update ",
	})
	bad := inputs(cty.StringVal("bad"), cty.NumberIntVal(1))
	failed, diags := b.tryApply(context.Background(), applyRequest(req, plan.Plan, bad))
	if !diags.HasErrors() || !strings.Contains(diags[0].Detail, "It must be good.") {
		t.Errorf("Apply with a bad input: got %v, want the module's message", diags)
	}
	if failed != nil {
		b.acknowledge()
	}
	result := b.apply(applyRequest(req, plan.Plan, final))
	if got := result.Outputs["known"]; !got.RawEquals(cty.NumberIntVal(1)) {
		t.Errorf("output known: got %#v, want 1", got)
	}
	if got := result.Outputs["unknown"]; !got.RawEquals(cty.DynamicVal) {
		t.Errorf("output unknown: got %#v, want it unknown", got)
	}
	if strings.Contains(string(result.State), `"gone"`) {
		t.Errorf("state still has what is to be forgotten: %s", result.State)
	}
}
