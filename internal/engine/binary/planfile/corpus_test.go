// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-exec/tfexec"
	tfjson "github.com/hashicorp/terraform-json"

	"github.com/cairnstacks/cairn/internal/document/terraformjson"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// scenario is a plan whose file must say the same to us as to the engine.
type scenario struct {
	before  map[string]string // applied first, if any
	prepare func(*module)     // run between the two
	files   map[string]string
	options []tfexec.PlanOption
	errored bool
	drift   string // value of driftEnv for the plan
}

const shapesRequired = `
terraform {
  required_providers {
    shapes = { source = "cairn/shapes" }
  }
}
`

const everyShape = shapesRequired + `
variable "secret" {
  type      = string
  sensitive = true
  default   = "hush"
}
resource "terraform_data" "late" {
  input = "late"
}
resource "shapes_thing" "full" {
  name     = "full"
  zone     = "a"
  number   = 0.1
  float    = 2.5
  flag     = true
  password = "given"
  list     = ["b", "a"]
  set      = ["b", "a"]
  map      = { one = 1, tenth = 0.1 }
  hidden   = { k = "v" }
  matrix   = [[1, 2], [], [3]]
  object   = { a = "x", b = 12345678901234567890123 }
  any      = { deep = [1, "a", { b = var.secret }], n = 0.1, none = null }
  single   = { key = "k", secret = "s" }
  nested_list = [{ key = "k", secret = "s" }, { key = var.secret }]
  nested_set  = [{ key = "k", secret = "s" }, { key = "l" }]
  nested_map  = { m = { key = "k", secret = "s" } }
  one {
    key    = "k"
    secret = "s"
  }
  step {
    key = "first"
    inner {
      secret = "s"
    }
  }
  step {
    key = var.secret
  }
  rule {
    key    = "x"
    secret = "s"
    inner {
      key = "i"
    }
  }
  rule {
    key = "y"
  }
}
resource "shapes_thing" "bare" {
}
resource "shapes_thing" "late" {
  name   = terraform_data.late.id
  zone   = "p-${terraform_data.late.id}"
  list   = ["a", terraform_data.late.id]
  set    = ["a", terraform_data.late.id]
  map    = { a = length(terraform_data.late.id) }
  any    = { a = terraform_data.late.id, b = [1, terraform_data.late.output] }
  hidden = { k = terraform_data.late.id }
  nested_list = [{ key = terraform_data.late.id }]
  nested_set  = [{ key = terraform_data.late.id }, { key = "k" }]
  dynamic "rule" {
    for_each = [terraform_data.late.id]
    content {
      key = rule.value
    }
  }
  dynamic "step" {
    for_each = toset([terraform_data.late.id])
    content {
      key = step.value
    }
  }
}
data "shapes_info" "now" {
  query = "q"
}
data "shapes_info" "later" {
  query = terraform_data.late.id
}
output "now" {
  value     = data.shapes_info.now
  sensitive = true
}
`

// scenarios is the corpus. Its names are those of the subtests.
var scenarios = map[string]scenario{
	"values of every shape": {files: map[string]string{"main.tf": `
variable "secret" {
  type      = string
  sensitive = true
  default   = "hush"
}
resource "terraform_data" "late" {}
resource "terraform_data" "values" {
  input = {
    whole    = 42
    negative = -40000
    big      = 12345678901234567890123
    max      = 9223372036854775807
    above    = 9223372036854775808
    half     = 0.5
    tenth    = 0.1
    tiny     = 1e-30
    text     = "ü “quoted” \n <&> 12345678901234567890123"
    long     = join("-", [for i in range(0, 1000) : format("%080d", i)])
    nothing  = null
    yes      = true
    tuple    = [1, "a", null, false, [], {}]
    list     = tolist(["b", "a"])
    many     = flatten([for i in range(0, 70) : range(0, 1000)])
    set      = toset(["b", "a"])
    numbers  = toset([2, 0.1, 1])
    objects  = toset([{ a = "x", b = 1 }, { a = "y", b = null }])
    map      = tomap({ k = "v" })
    keys     = { for i in range(0, 20) : "k${i}" => i }
    empty    = { list = tolist([]), set = toset([]), map = tomap({}), object = {}, tuple = [] }
    no_list  = tolist(null)
  }
}
resource "terraform_data" "unknowns" {
  input = {
    leaf   = terraform_data.late.id
    prefix = "p-${terraform_data.late.id}"
    number = length(terraform_data.late.id)
    list   = [terraform_data.late.id, "known"]
    whole  = terraform_data.late.output
    set    = toset([terraform_data.late.id, "known"])
    later  = toset(formatlist("%s", [terraform_data.late.id]))
    map    = { known = 1, unknown = terraform_data.late.id }
    typed  = tomap({ a = terraform_data.late.id })
    split  = split(",", terraform_data.late.id)
    object = { a = { b = { c = terraform_data.late.id } }, d = [] }
  }
}
resource "terraform_data" "secrets" {
  input = {
    leaf   = var.secret
    list   = ["a", var.secret]
    typed  = tolist(["a", var.secret])
    set    = toset(["a", var.secret])
    map    = tomap({ a = "x", b = var.secret })
    deep   = [{ a = [var.secret] }]
    unused = "x"
  }
}
resource "terraform_data" "secret" {
  input = sensitive({ a = 1, b = [2] })
}
resource "terraform_data" "secret_unknown" {
  input = sensitive([terraform_data.late.id])
}
output "values"   { value = terraform_data.values.input }
output "unknowns" { value = terraform_data.unknowns.input }
output "late"     { value = terraform_data.late.id }
output "number"   { value = length(terraform_data.late.id) }
output "dynamic"  { value = terraform_data.late.output }
output "null"     { value = null }
output "nulls"    { value = tolist(null) }
output "secret" {
  value     = [var.secret, terraform_data.late.id]
  sensitive = true
}
`}},
	"every kind of action": {
		before: map[string]string{"main.tf": `
variable "rev" {
  default = "1"
}
resource "terraform_data" "same" {
  input = "same"
}
resource "terraform_data" "updated" {
  input = { v = var.rev, kept = "k" }
}
resource "terraform_data" "replaced" {
  triggers_replace = [var.rev]
}
resource "terraform_data" "first_created" {
  triggers_replace = { r = var.rev }
  lifecycle {
    create_before_destroy = true
  }
}
resource "terraform_data" "triggered" {
  lifecycle {
    replace_triggered_by = [terraform_data.updated]
  }
}
resource "terraform_data" "deleted" {
  input = sensitive("s")
}
resource "terraform_data" "old_name" {
  input = 1
}
resource "terraform_data" "old_and_changed" {
  input = var.rev
}
resource "terraform_data" "moved_into_module" {}
resource "terraform_data" "forgotten" {}
resource "terraform_data" "tainted" {}
resource "terraform_data" "by_request" {}
resource "terraform_data" "fewer" {
  count = 3
}
resource "terraform_data" "keyed" {
  for_each = toset(["a", "dollar$${x}", "quo\"te"])
  input    = each.key
}
resource "terraform_data" "unkeyed" {}
resource "terraform_data" "turned_secret" {
  input = { a = "x" }
}
output "gone" {
  value = 1
}
output "same" {
  value = ["x"]
}
output "changed" {
  value = { rev = var.rev }
}
`},
		prepare: func(m *module) {
			if err := m.engine.Taint(m.t.Context(), "terraform_data.tainted"); err != nil {
				m.t.Fatal(err)
			}
		},
		files: map[string]string{"main.tf": `
variable "rev" {
  default = "1"
}
resource "terraform_data" "same" {
  input = "same"
}
resource "terraform_data" "updated" {
  input = { v = var.rev, kept = "k" }
}
resource "terraform_data" "replaced" {
  triggers_replace = [var.rev]
}
resource "terraform_data" "first_created" {
  triggers_replace = { r = var.rev }
  lifecycle {
    create_before_destroy = true
  }
}
resource "terraform_data" "triggered" {
  lifecycle {
    replace_triggered_by = [terraform_data.updated]
  }
}
moved {
  from = terraform_data.old_name
  to   = terraform_data.new_name
}
resource "terraform_data" "new_name" {
  input = 1
}
moved {
  from = terraform_data.old_and_changed
  to   = terraform_data.new_and_changed
}
resource "terraform_data" "new_and_changed" {
  input = var.rev
}
moved {
  from = terraform_data.moved_into_module
  to   = module.child["k"].terraform_data.here
}
removed {
  from = terraform_data.forgotten
  lifecycle {
    destroy = false
  }
}
resource "terraform_data" "tainted" {}
resource "terraform_data" "by_request" {}
resource "terraform_data" "fewer" {
  count = 1
}
resource "terraform_data" "keyed" {
  for_each = toset(["dollar$${x}", "line\nbreak"])
  input    = each.key
}
resource "terraform_data" "unkeyed" {
  count = 2
}
resource "terraform_data" "turned_secret" {
  input = { a = sensitive("x") }
}
module "child" {
  source   = "./child"
  for_each = toset(["k", "l"])
}
module "numbered" {
  source = "./child"
  count  = 11
}
output "same" {
  value = ["x"]
}
output "changed" {
  value = { rev = var.rev }
}
output "new" {
  value = module.child["l"].id
}
`, "child/main.tf": `
resource "terraform_data" "here" {}
module "leaf" {
  source = "./leaf"
}
output "id" {
  value = terraform_data.here.id
}
`, "child/leaf/main.tf": `
data "terraform_remote_state" "none" {
  backend  = "local"
  config   = { path = "./none" }
  defaults = { a = 1 }
}
resource "terraform_data" "leaf" {
  count = 2
}
`, "none": `{"version":4,"terraform_version":"1.10.0","serial":1,"lineage":"x","outputs":{},"resources":[]}`},
		options: []tfexec.PlanOption{tfexec.Var("rev=2"), tfexec.Replace("terraform_data.by_request")},
	},
	"destroy": {
		before:  map[string]string{"main.tf": everyShape},
		files:   map[string]string{"main.tf": everyShape},
		options: []tfexec.PlanOption{tfexec.Destroy(true)},
	},
	"no changes": {
		before: map[string]string{"main.tf": everyShape},
		files:  map[string]string{"main.tf": everyShape},
	},
	"moved only": {
		before: map[string]string{"main.tf": `resource "terraform_data" "a" {}`},
		files: map[string]string{"main.tf": `
resource "terraform_data" "b" {}
moved {
  from = terraform_data.a
  to   = terraform_data.b
}
`},
	},
	"data source gone": {
		before: map[string]string{"main.tf": shapesRequired + `data "shapes_info" "x" {}`},
		files:  map[string]string{"main.tf": shapesRequired},
	},
	"empty":                      {files: map[string]string{"main.tf": ``}},
	"provider shapes to create":  {files: map[string]string{"main.tf": everyShape}},
	"provider shapes to destroy": {before: map[string]string{"main.tf": everyShape}, files: map[string]string{"main.tf": shapesRequired}},
	"provider shapes to update": {
		before: map[string]string{"main.tf": everyShape},
		files: map[string]string{"main.tf": strings.NewReplacer(
			`"given"`, `"taken"`, `number   = 0.1`, `number = 0.2`, `zone     = "a"`, `zone = "b"`, `secret = "s"`, `secret = "t"`,
		).Replace(everyShape)},
	},
	"drift": {
		before: map[string]string{"main.tf": everyShape},
		files:  map[string]string{"main.tf": everyShape},
		drift:  "drifted",
	},
	"refresh only": {
		before:  map[string]string{"main.tf": everyShape},
		files:   map[string]string{"main.tf": everyShape},
		options: []tfexec.PlanOption{tfexec.RefreshOnly(true)},
		drift:   "drifted",
	},
	"refresh only, nothing found": {
		before:  map[string]string{"main.tf": everyShape},
		files:   map[string]string{"main.tf": everyShape},
		options: []tfexec.PlanOption{tfexec.RefreshOnly(true)},
	},
	"refresh only after a move": {
		before: map[string]string{"main.tf": `resource "terraform_data" "a" {}`},
		files: map[string]string{"main.tf": `
resource "terraform_data" "b" {}
moved {
  from = terraform_data.a
  to   = terraform_data.b
}
`},
		options: []tfexec.PlanOption{tfexec.RefreshOnly(true)},
	},
	"import": {files: map[string]string{"main.tf": shapesRequired + `
import {
  to = terraform_data.known
  id = "an-id"
}
resource "terraform_data" "known" {
  input = "changed by the import"
}
import {
  to = shapes_thing.same
  id = "an-id"
}
resource "shapes_thing" "same" {}
`}},
	"import with generated configuration": {
		files: map[string]string{"main.tf": shapesRequired + `
import {
  to = shapes_thing.generated
  id = "an-id"
}
`},
		options: []tfexec.PlanOption{tfexec.GenerateConfigOut("generated.tf.txt")},
		prepare: func(m *module) {
			_ = os.Remove(m.dir + "/generated.tf.txt")
		},
		errored: true, // the generated block gives values to computed attributes, the plan is written all the same
	},
	"target": {
		files: map[string]string{"main.tf": `
resource "terraform_data" "a" {}
resource "terraform_data" "b" {}
output "a" {
  value = terraform_data.a.id
}
output "b" {
  value = terraform_data.b.id
}
`},
		options: []tfexec.PlanOption{tfexec.Target("terraform_data.a")},
	},
	"target without changes": {
		before:  map[string]string{"main.tf": `resource "terraform_data" "a" {}`},
		files:   map[string]string{"main.tf": `resource "terraform_data" "a" {}`},
		options: []tfexec.PlanOption{tfexec.Target("terraform_data.a")},
	},
	"errored": {
		files: map[string]string{"main.tf": `
resource "terraform_data" "a" {}
resource "terraform_data" "b" {
  count = length(terraform_data.a.id)
}
`},
		errored: true,
	},
	"checks": {
		files: map[string]string{"main.tf": `
variable "v" {
  default = "ok"
  validation {
    condition     = var.v == "ok"
    error_message = "must be ok"
  }
}
resource "terraform_data" "late" {}
resource "terraform_data" "each" {
  for_each = toset(["x", "y"])
  lifecycle {
    precondition {
      condition     = each.key != "z"
      error_message = "no z"
    }
    postcondition {
      condition     = self.output != "z"
      error_message = "no z"
    }
  }
}
check "fails" {
  assert {
    condition     = var.v == "other"
    error_message = "second"
  }
  assert {
    condition     = var.v == "another"
    error_message = "first"
  }
}
check "unknown" {
  assert {
    condition     = terraform_data.late.id == "x"
    error_message = "unknown"
  }
}
module "child" {
  source = "./child"
  count  = 2
  v      = "ok"
}
output "o" {
  value = 1
  precondition {
    condition     = var.v == "ok"
    error_message = "must be ok"
  }
}
`, "child/main.tf": `
variable "v" {
  validation {
    condition     = var.v == "ok"
    error_message = "must be ok"
  }
}
output "o" {
  value = 1
  precondition {
    condition     = var.v == "ok"
    error_message = "must be ok"
  }
}
`},
	},
}

// planOf runs a scenario up to its plan.
func planOf(t *testing.T, s scenario) (m *module, planFile string) {
	t.Helper()
	m = newModule(t)
	if s.before != nil {
		m.write(s.before)
		m.init()
		m.apply()
	}
	if s.prepare != nil {
		s.prepare(m)
	}
	m.write(s.files)
	m.init()
	m.engine.Setenv(driftEnv, s.drift)
	planFile = m.plan(s.errored, s.options...)
	m.engine.Setenv(driftEnv, "")
	return m, planFile
}

func TestReadAgreesWithEngine(t *testing.T) {
	for name, s := range scenarios {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, planFile := planOf(t, s)
			want := m.show(planFile)

			plan, err := ReadFile(planFile, Options{Schema: m.schemas()})
			if err != nil {
				t.Fatalf("ReadFile with schemas: %s", err)
			}
			wantDoc, gotDoc := comparableDoc(t, want), comparableDoc(t, document(t, plan))
			dropUnsaid(wantDoc, gotDoc)
			if m.isTofu() {
				admitSensitive(t, wantDoc, gotDoc, true)
			}
			if diff := cmp.Diff(wantDoc, gotDoc); diff != "" {
				t.Errorf("with schemas, ReadFile differs from show -json (-want +got):\n%s", diff)
			}

			bare, err := ReadFile(planFile, Options{})
			if err != nil {
				t.Fatalf("ReadFile: %s", err)
			}
			wantDoc, gotDoc = comparableDoc(t, want), comparableDoc(t, document(t, bare))
			dropUnsaid(wantDoc, gotDoc)
			if m.isTofu() {
				admitSensitive(t, wantDoc, gotDoc, false)
			}
			admit(t, wantDoc, gotDoc)
			if diff := cmp.Diff(wantDoc, gotDoc); diff != "" {
				t.Errorf("ReadFile differs from show -json in more than is documented (-want +got):\n%s", diff)
			}

			// As if tofu had written it, which states neither of the two.
			data := rewritePlan(t, planFile, func(f field) bool { return f.num != 25 && f.num != 26 })
			derived, err := Read(data, Options{})
			if err != nil {
				t.Fatalf("Read without statements: %s", err)
			}
			if plan.Applyable != derived.Applyable || plan.Complete != derived.Complete {
				t.Errorf("derived applyable %t, complete %t; the file says %t, %t",
					derived.Applyable, derived.Complete, plan.Applyable, plan.Complete)
			}
		})
	}
}

func TestReadDriftedStates(t *testing.T) {
	_, planFile := planOf(t, scenarios["drift"])
	plan, err := ReadFile(planFile, Options{})
	if err != nil {
		t.Fatal(err)
	}
	const drifted = `"name":"drifted"`
	if !bytes.Contains(compactJSON(t, plan.PriorState), []byte(drifted)) {
		t.Errorf("PriorState is not refreshed: %s", plan.PriorState)
	}
	if bytes.Contains(compactJSON(t, plan.PreviousState), []byte(drifted)) {
		t.Errorf("PreviousState is refreshed: %s", plan.PreviousState)
	}
}

// document returns plan in the shape of `show -json`.
func document(t *testing.T, plan *Plan) map[string]any {
	t.Helper()
	shown := tfjson.Plan{
		ResourceChanges:  changesJSON(plan.ResourceChanges),
		ResourceDrift:    changesJSON(plan.ResourceDrift),
		Checks:           terraformjson.Checks(plan.Checks),
		OutputChanges:    map[string]*tfjson.Change{},
		TerraformVersion: plan.EngineVersion,
		Timestamp:        plan.Timestamp.Format("2006-01-02T15:04:05Z07:00"),
	}
	for _, deferred := range plan.DeferredChanges {
		shown.DeferredChanges = append(shown.DeferredChanges, &tfjson.DeferredResourceChange{
			Reason: deferred.Reason, ResourceChange: terraformjson.ResourceChange(deferred.Change),
		})
	}
	for name, output := range plan.Outputs {
		shown.OutputChanges[name] = outputJSON(output)
	}
	doc := asJSON(t, shown).(map[string]any)
	doc["applyable"], doc["complete"], doc["errored"] = plan.Applyable, plan.Complete, plan.Errored
	return doc
}

func changesJSON(changes []*engine.Change) []*tfjson.ResourceChange {
	var shown []*tfjson.ResourceChange
	for _, change := range changes {
		shown = append(shown, terraformjson.ResourceChange(change))
	}
	return shown
}

// outputJSON returns a change as `show -json` has it in output_changes.
func outputJSON(output *OutputChange) *tfjson.Change {
	shown := &tfjson.Change{
		Before: terraformjson.Value(output.Before), After: terraformjson.Value(output.After),
		AfterUnknown: false, BeforeSensitive: output.Sensitive, AfterSensitive: output.Sensitive,
	}
	for action := range strings.SplitSeq(string(output.Action), "/") {
		shown.Actions = append(shown.Actions, tfjson.Action(action))
	}
	if !output.After.IsWhollyKnown() {
		shown.AfterUnknown = terraformjson.Unknown(output.After)
	}
	return shown
}

// comparableDoc reduces a document to the parts that both sides have, in one order.
func comparableDoc(t *testing.T, doc map[string]any) map[string]any {
	t.Helper()
	out := make(map[string]any)
	for _, key := range []string{
		"resource_changes", "resource_drift", "deferred_changes", "checks", "output_changes",
		"terraform_version", "timestamp", "applyable", "complete", "errored",
	} {
		if v, ok := doc[key]; ok && !empty(v) {
			out[key] = v
		}
	}
	for _, change := range changesOf(out) {
		if change["after"] == nil { // terraform-json leaves null out
			delete(change, "after")
		}
		sortJSON(t, change["replace_paths"])
	}
	return out
}

// admitSensitive removes the differences in sensitivity that a plan of tofu has: it leaves the
// sensitive attributes of schemas to the readers of plans, so that without schemas nothing can be
// said, and with them the whole of a set or of a list of blocks may be hidden in place of parts.
// More than that, with schemas, is an error.
func admitSensitive(t *testing.T, want, got map[string]any, schemas bool) {
	t.Helper()
	wants, gots := changesOf(want), changesOf(got)
	if len(wants) != len(gots) {
		return // the comparison that follows shows it
	}
	for i, change := range wants {
		for _, key := range []string{"before_sensitive", "after_sensitive"} {
			if schemas && !hides(gots[i][key], change[key]) {
				t.Errorf("%s is %v, which reveals more than %v", key, gots[i][key], change[key])
			}
			gots[i][key] = change[key]
		}
	}
}

// dropUnsaid removes from got the attributes that a plan of tofu, unlike one of terraform, does not
// have; Read derives them.
func dropUnsaid(want, got map[string]any) {
	if _, says := want["applyable"]; !says {
		delete(got, "applyable")
		delete(got, "complete")
	}
}

// compactJSON removes the white space, which engines write differently.
func compactJSON(t *testing.T, document []byte) []byte {
	t.Helper()
	var compact bytes.Buffer
	if err := json.Compact(&compact, document); err != nil {
		t.Fatal(err)
	}
	return compact.Bytes()
}

func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	default:
		return false
	}
}

// changesOf returns all "change" objects of a document, in order.
func changesOf(doc map[string]any) []map[string]any {
	var out []map[string]any
	for _, key := range []string{"resource_changes", "resource_drift"} {
		list, _ := doc[key].([]any)
		for _, rc := range list {
			out = append(out, rc.(map[string]any)["change"].(map[string]any))
		}
	}
	outputs, _ := doc["output_changes"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		out = append(out, outputs[name].(map[string]any))
	}
	return out
}

// sortJSON sorts an array, if v is one, where the engine's order is not fixed.
func sortJSON(t *testing.T, v any) {
	list, _ := v.([]any)
	slices.SortFunc(list, func(a, b any) int {
		x, errX := json.Marshal(a)
		y, errY := json.Marshal(b)
		if err := errors.Join(errX, errY); err != nil {
			t.Fatal(err)
		}
		return bytes.Compare(x, y)
	})
}

// admit removes from both documents the differences that the package comment admits.
func admit(t *testing.T, want, got map[string]any) {
	t.Helper()
	wants, gots := changesOf(want), changesOf(got)
	if len(wants) != len(gots) {
		return // the comparison that follows shows it
	}
	for _, change := range slices.Concat(wants, gots) {
		for _, key := range []string{"before", "after"} {
			if v, ok := change[key]; ok {
				change[key] = numbersAsText(v)
			}
		}
		change["after_sensitive"] = withoutEmpty(change["after_sensitive"])
	}
	for i, change := range wants {
		if actions := change["actions"].([]any); len(actions) < 2 {
			continue
		}
		if !hides(gots[i]["after_sensitive"], change["after_sensitive"]) {
			t.Errorf("a replacement reveals what show -json does not: after_sensitive is %v, want %v",
				gots[i]["after_sensitive"], change["after_sensitive"])
		}
		gots[i]["after_sensitive"] = change["after_sensitive"]
	}
}

// hides reports whether got says sensitive wherever want does.
func hides(got, want any) bool {
	if got == true || want == nil || want == false {
		return true
	}
	switch want := want.(type) {
	case []any:
		got, _ := got.([]any)
		for i := range want {
			if i >= len(got) || !hides(got[i], want[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		got, _ := got.(map[string]any)
		for key := range want {
			if !hides(got[key], want[key]) {
				return false
			}
		}
		return true
	default:
		return false
	}
}

func numbersAsText(v any) any {
	switch v := v.(type) {
	case json.Number:
		return v.String()
	case []any:
		for i := range v {
			v[i] = numbersAsText(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = numbersAsText(v[key])
		}
	}
	return v
}

// withoutEmpty removes the attributes of v whose value is an empty collection.
func withoutEmpty(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = withoutEmpty(v[i])
		}
	case map[string]any:
		for key := range v {
			if v[key] = withoutEmpty(v[key]); empty(v[key]) {
				delete(v, key)
			}
		}
	}
	return v
}
