// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package memengine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/enginetest"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// dirWorld makes a component whose module has this main.tf.
func dirWorld(t testing.TB, source string) *world {
	t.Helper()
	dir := t.TempDir()
	writeModule(t, dir, source)
	return openWorld(t, memengine.New(memengine.Options{}), dir, engine.SessionOptions{StackDir: dir})
}

// writeModule writes the main.tf of a module.
func writeModule(t testing.TB, dir, source string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
}

func messages(diags hcl.Diagnostics) []string {
	var list []string
	for _, d := range diags {
		where := ""
		if d.Subject != nil {
			where = fmt.Sprintf("%s:%d:%d: ", d.Subject.Filename, d.Subject.Start.Line, d.Subject.Start.Column)
		}
		list = append(list, where+d.Summary)
	}
	return list
}

const everything = `
terraform {
  required_version = ">= 1.0"
  required_providers {
    fake = {
      source                = "acme/fake"
      version               = "~> 1.2"
      configuration_aliases = [fake.main, fake.other]
    }
    terraform = { source = "terraform.io/builtin/terraform" }
    local     = { source = "hashicorp/local" }
  }
}

variable "names" {
  type    = set(string)
  default = ["a", "b"]
  validation {
    condition     = length(var.names) < 3
    error_message = "Too many: ${join(", ", var.names)}."
  }
}

variable "settings" {
  type = object({ size = optional(number, 3), tag = optional(string) })
}

variable "password" {
  type      = string
  sensitive = true
  default   = "hunter2"
}

locals {
  prefix = upper("x-${var.settings.size}")
  all    = [for name in sort(keys(terraform_data.each)) : terraform_data.each[name].output]
}

resource "terraform_data" "each" {
  for_each = var.names
  input    = "${local.prefix}-${each.key}"
}

resource "terraform_data" "counted" {
  count = 2
  input = [count.index, terraform_data.each["a"].id]
  lifecycle {
    precondition {
      condition     = count.index < 5
      error_message = "Never."
    }
    postcondition {
      condition     = self.input[0] == count.index
      error_message = "Never."
    }
  }
}

resource "terraform_data" "secret" {
  input            = { password = var.password }
  triggers_replace = local.all
  depends_on       = [terraform_data.counted]
}

check "size" {
  assert {
    condition     = var.settings.size < 10
    error_message = "The size ${var.settings.size} is large."
  }
}

output "all" {
  value = local.all
}

output "password" {
  value     = terraform_data.secret.input.password
  sensitive = true
  precondition {
    condition     = terraform_data.secret.id != ""
    error_message = "Never."
  }
}

output "when" {
  value = plantimestamp()
}
`

func everythingInputs(size int64) map[string]cty.Value {
	return map[string]cty.Value{
		"names": cty.SetVal([]cty.Value{cty.StringVal("a"), cty.StringVal("b")}),
		"settings": cty.ObjectVal(map[string]cty.Value{
			"size": cty.NumberIntVal(size), "tag": cty.NullVal(cty.String),
		}),
		"password": cty.StringVal("s3cret"),
	}
}

func TestDescribeModule(t *testing.T) {
	w := dirWorld(t, everything)
	m, diags := w.s.Module(t.Context(), w.dir)
	noErrors(t, diags)
	again, _ := w.s.Module(t.Context(), w.dir)
	if m != again {
		t.Error("the second description is another one")
	}
	if !m.Variables["settings"].Required() || m.Variables["names"].Required() || !m.Variables["password"].Sensitive {
		t.Errorf("variables: %+v", m.Variables)
	}
	filled := m.Variables["settings"].ApplyDefaults(cty.EmptyObjectVal)
	if got := filled.GetAttr("size"); !got.RawEquals(cty.NumberIntVal(3)) {
		t.Errorf("default of an optional attribute: got %#v", got)
	}
	if !m.Outputs["password"].Sensitive || m.Outputs["all"].Sensitive || len(m.Outputs) != 3 {
		t.Errorf("outputs: %+v", m.Outputs)
	}
	fake := stackaddrs.Provider{Hostname: "registry.terraform.io", Namespace: "acme", Type: "fake"}
	local := stackaddrs.Provider{Hostname: "registry.terraform.io", Namespace: "hashicorp", Type: "local"}
	if diff := cmp.Diff(map[stackaddrs.Provider][]string{fake: {"~> 1.2"}, local: nil}, m.Requirements); diff != "" {
		t.Errorf("requirements (-want +got):\n%s", diff)
	}
	for _, slot := range []engine.ProviderSlot{{LocalName: "fake", Alias: "main"}, {LocalName: "fake", Alias: "other"}, {LocalName: "local"}, {LocalName: "terraform"}} {
		if s := m.Slots[slot]; s == nil || !s.Declared {
			t.Errorf("slot %s: got %+v", slot, s)
		}
	}
	if len(m.Slots) != 4 {
		t.Errorf("slots: got %v, want 4", m.Slots)
	}
	noErrors(t, w.s.ValidateModule(t.Context(), w.dir))
}

func TestModuleWithEverything(t *testing.T) {
	w := dirWorld(t, everything)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(r *engine.PlanRequest) { r.Timestamp = now }

	plan, diags := w.plan(t, everythingInputs(30), at)
	noErrors(t, diags)
	if diff := cmp.Diff([]string{"main.tf:67:21: Check block assertion failed"}, messages(diags)); diff != "" {
		t.Errorf("diagnostics (-want +got):\n%s", diff)
	}
	want := []string{
		"terraform_data.counted[0] [create]", "terraform_data.counted[1] [create]",
		`terraform_data.each["a"] [create]`, `terraform_data.each["b"] [create]`,
		"terraform_data.secret [create]",
	}
	if diff := cmp.Diff(want, summary(plan)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	statuses := map[string]engine.CheckStatus{}
	for _, c := range plan.Checks {
		statuses[c.Address] = c.Status
	}
	wantStatuses := map[string]engine.CheckStatus{
		"var.names": "pass", "terraform_data.counted": "pass", "output.password": "unknown", "check.size": "fail",
	}
	if diff := cmp.Diff(wantStatuses, statuses); diff != "" {
		t.Errorf("checks (-want +got):\n%s", diff)
	}
	result, diags := w.apply(t, engine.Normal, plan, everythingInputs(30))
	noErrors(t, diags)
	wantOutputs := cty.ObjectVal(map[string]cty.Value{
		"all":      cty.TupleVal([]cty.Value{cty.StringVal("X-30-a"), cty.StringVal("X-30-b")}),
		"password": cty.StringVal("s3cret").Mark(marks.Sensitive),
		"when":     cty.StringVal("2026-01-02T03:04:05Z"),
	})
	if got := cty.ObjectVal(result.Outputs); !got.RawEquals(wantOutputs) {
		t.Errorf("outputs: got %#v, want %#v", got, wantOutputs)
	}
	if !strings.Contains(string(w.state), `"dependencies":["terraform_data.counted","terraform_data.each"]`) {
		t.Errorf("dependencies are missing in the state: %s", w.state)
	}

	plan, diags = w.plan(t, everythingInputs(30), at)
	noErrors(t, diags)
	for _, rc := range plan.Changes {
		if rc.Action != engine.ActionNoOp {
			t.Errorf("second plan: %s %v", rc.Address(), rc.Action)
		}
	}

	smaller := everythingInputs(4)
	smaller["names"] = cty.SetVal([]cty.Value{cty.StringVal("a")})
	plan, diags = w.plan(t, smaller, at)
	noErrors(t, diags)
	want = []string{
		"terraform_data.counted[0] [no-op]", "terraform_data.counted[1] [no-op]",
		`terraform_data.each["a"] [update]`, `terraform_data.each["b"] [delete] delete_because_each_key`,
		"terraform_data.secret [delete create] replace_because_cannot_update",
	}
	if diff := cmp.Diff(want, summary(plan)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	_, diags = w.apply(t, engine.Normal, plan, smaller)
	noErrors(t, diags)
}

func TestUnknownExpansionIsDeferred(t *testing.T) {
	w := dirWorld(t, `
variable "n" { type = number }
resource "terraform_data" "a" {
  count = var.n
  input = count.index
}
resource "terraform_data" "b" {
  input = "known"
}
output "a" { value = terraform_data.a }
`)
	inputs := map[string]cty.Value{"n": cty.UnknownVal(cty.Number)}
	plan, diags := w.plan(t, inputs)
	noErrors(t, diags)
	if plan.Complete || !plan.Applyable || len(plan.Deferred) != 1 {
		t.Fatalf("got complete %t, applyable %t, deferred %v", plan.Complete, plan.Applyable, plan.Deferred)
	}
	if d := plan.Deferred[0]; d.Reason != "instance_count_unknown" || d.Change.Address() != "terraform_data.a[*]" {
		t.Errorf("deferred: %s %s", d.Reason, d.Change.Address())
	}
	result, diags := w.apply(t, engine.Normal, plan, inputs)
	noErrors(t, diags)
	if got := result.Outputs["a"]; got.IsKnown() {
		t.Errorf("output: got %#v, want an unknown", got)
	}
	final := map[string]cty.Value{"n": cty.NumberIntVal(1)}
	if got := w.planAndApply(t, final).Outputs["a"].LengthInt(); got != 1 {
		t.Errorf("%d instances after the second round, want 1", got)
	}
}

func TestInvalidModules(t *testing.T) {
	tests := map[string]struct {
		source string
		want   []string
	}{
		"syntax": {`variable "a" {`, []string{"main.tf:1:14: Unclosed configuration block"}},
		"undeclared": {
			"output \"a\" {\n  value = [var.b, local.c, terraform_data.d, each.key, self.id, count.index, path.x, terraform.y, foo.bar]\n}",
			[]string{
				"main.tf:2:12: Reference to undeclared input variable", "main.tf:2:19: Reference to undeclared local value",
				"main.tf:2:28: Reference to undeclared resource", "main.tf:2:46: Reference to undeclared each object",
				"main.tf:2:56: Reference to undeclared self object", "main.tf:2:65: Reference to undeclared count object",
				"main.tf:2:78: Reference to undeclared path", "main.tf:2:86: Reference to undeclared terraform attribute",
				"main.tf:2:99: Invalid reference",
			},
		},
		"remote module":  {"module \"x\" {\n  source = \"a/b/c\"\n}", []string{"main.tf:1:1: Unsupported module source"}},
		"own module":     {"module \"x\" {\n  source = \"./.\"\n}", []string{"main.tf:1:1: Recursive module call"}},
		"moved":          {"moved {\n  from = terraform_data.a\n  to = terraform_data.b\n}", []string{"main.tf:1:1: Unsupported block type"}},
		"data source":    {`data "terraform_remote_state" "x" {}`, []string{"main.tf:1:1: Unsupported block type"}},
		"other resource": {`resource "null_resource" "x" {}`, []string{"main.tf:1:10: Unsupported resource type"}},
		"provisioner":    {"resource \"terraform_data\" \"x\" {\n  provisioner \"local-exec\" {}\n}", []string{"main.tf:2:3: Unsupported block type"}},
		"provider":       {`provider "aws" {}`, []string{"main.tf:1:1: Modules used by components cannot configure providers"}},
		"backend":        {"terraform {\n  backend \"local\" {}\n}", []string{"main.tf:2:3: Unsupported block type"}},
		"twice":          {"variable \"a\" {}\nvariable \"a\" {}", []string{"main.tf:2:1: Duplicate declaration"}},
		"default":        {"variable \"a\" {\n  type    = number\n  default = \"x\"\n}", []string{"main.tf:3:13: Invalid default value for variable"}},
		"count and for_each": {
			"resource \"terraform_data\" \"x\" {\n  count    = 1\n  for_each = {}\n}", []string{"main.tf:3:14: Invalid combination of arguments"},
		},
		"ignore_changes": {"resource \"terraform_data\" \"x\" {\n  lifecycle {\n    ignore_changes = [output]\n  }\n}", []string{"main.tf:3:23: Unsupported ignore_changes"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := dirWorld(t, test.source)
			_, diags := w.s.Module(t.Context(), w.dir)
			if diff := cmp.Diff(test.want, messages(diags)); diff != "" {
				t.Errorf("Module (-want +got):\n%s", diff)
			}
			if diags := w.s.ValidateModule(t.Context(), w.dir); !diags.HasErrors() {
				t.Error("ValidateModule: no errors")
			}
			if plan, diags := w.plan(t, nil); plan != nil || !diags.HasErrors() {
				t.Errorf("Plan = %v, %v, want errors only", plan, diags)
			}
		})
	}
	t.Run("no module", func(t *testing.T) {
		e := enginetest.Open(t, memengine.New(memengine.Options{}), engine.SessionOptions{})
		if m, diags := e.Module(t.Context(), t.TempDir()); m != nil || !diags.HasErrors() {
			t.Errorf("Module = %v, %v, want errors only", m, diags)
		}
	})
}

func TestErrorsWhilePlanning(t *testing.T) {
	tests := map[string]struct {
		source string
		inputs map[string]cty.Value
		want   []string
	}{
		"cycle": {
			"locals {\n  a = local.b\n  b = local.a\n}\noutput \"x\" {\n  value = local.a\n}",
			nil,
			[]string{"main.tf:2:3: Self-referencing configuration"},
		},
		"required variable": {`variable "a" {}`, nil, []string{"main.tf:1:1: Required variable not set"}},
		"null for a variable that takes none": {
			"variable \"a\" {\n  nullable = false\n}",
			map[string]cty.Value{"a": cty.NullVal(cty.String)},
			[]string{"main.tf:1:1: Required variable not set"},
		},
		"validation": {
			"variable \"a\" {\n  validation {\n    condition     = var.a > 3\n    error_message = \"small\"\n  }\n}",
			map[string]cty.Value{"a": cty.NumberIntVal(1)},
			[]string{"main.tf:3:21: Invalid value for variable"},
		},
		"precondition stops dependents": {
			"resource \"terraform_data\" \"a\" {\n  lifecycle {\n    precondition {\n      condition     = 1 > 2\n      error_message = \"no\"\n    }\n  }\n}\n" +
				"resource \"terraform_data\" \"b\" {\n  input = terraform_data.a.id\n}\noutput \"x\" {\n  value = terraform_data.b.id\n}",
			nil,
			[]string{"main.tf:4:23: Resource precondition failed"},
		},
		"sensitive output": {
			"variable \"a\" {\n  sensitive = true\n}\noutput \"x\" {\n  value = var.a\n}",
			map[string]cty.Value{"a": cty.True},
			[]string{"main.tf:5:11: Output refers to sensitive values"},
		},
		"ephemeral output": {
			"variable \"a\" {\n  ephemeral = true\n}\noutput \"x\" {\n  value = var.a\n}",
			map[string]cty.Value{"a": cty.True},
			[]string{"main.tf:5:11: Ephemeral value not allowed"},
		},
		"ephemeral argument": {
			"variable \"a\" {\n  ephemeral = true\n}\nresource \"terraform_data\" \"x\" {\n  input = var.a\n}",
			map[string]cty.Value{"a": cty.True},
			[]string{"main.tf:4:1: Invalid use of ephemeral value"},
		},
		"negative count": {
			"resource \"terraform_data\" \"x\" {\n  count = -1\n}", nil, []string{"main.tf:2:11: Invalid count argument"},
		},
		"sensitive for_each": {
			"variable \"a\" {\n  sensitive = true\n}\nresource \"terraform_data\" \"x\" {\n  for_each = var.a\n}",
			map[string]cty.Value{"a": cty.MapValEmpty(cty.String)},
			[]string{"main.tf:5:14: Invalid for_each argument"},
		},
		"list for for_each": {
			"resource \"terraform_data\" \"x\" {\n  for_each = [1]\n}", nil, []string{"main.tf:2:14: Invalid for_each argument"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := dirWorld(t, test.source)
			plan, diags := w.plan(t, test.inputs)
			if diff := cmp.Diff(test.want, messages(diags)); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s", diff)
			}
			if plan != nil && (plan.Applyable || plan.Complete || plan.Plan != nil) {
				t.Errorf("the plan with errors can be applied: %+v", plan)
			}
		})
	}
}

func TestPreventDestroy(t *testing.T) {
	w := dirWorld(t, `
variable "t" {}
resource "terraform_data" "a" {
  triggers_replace = var.t
  lifecycle { prevent_destroy = true }
}
`)
	inputs := func(s string) map[string]cty.Value { return map[string]cty.Value{"t": cty.StringVal(s)} }
	w.planAndApply(t, inputs("x"))
	want := "Instance cannot be destroyed"
	if _, diags := w.plan(t, inputs("y")); len(diags) != 1 || diags[0].Summary != want {
		t.Errorf("replacing: got %v, want %q", diags, want)
	}
	destroy := func(r *engine.PlanRequest) { r.Mode = engine.Destroy }
	if _, diags := w.plan(t, inputs("x"), destroy); len(diags) != 1 || diags[0].Summary != want {
		t.Errorf("destroying: got %v, want %q", diags, want)
	}
}

func TestRefreshOnlyChangesNothing(t *testing.T) {
	w := dirWorld(t, "variable \"a\" {}\nresource \"terraform_data\" \"x\" {\n  input = var.a\n}\noutput \"x\" {\n  value = terraform_data.x.output\n}")
	first := map[string]cty.Value{"a": cty.StringVal("1")}
	second := map[string]cty.Value{"a": cty.StringVal("2")}
	w.planAndApply(t, first)
	plan, diags := w.plan(t, second, func(r *engine.PlanRequest) { r.Mode = engine.RefreshOnly })
	noErrors(t, diags)
	if len(plan.Changes) != 0 || plan.Applyable || !plan.Outputs["x"].RawEquals(cty.StringVal("1")) {
		t.Errorf("got changes %v, applyable %t, outputs %#v", summary(plan), plan.Applyable, plan.Outputs)
	}
}

func TestJSONModule(t *testing.T) {
	dir := t.TempDir()
	source := `{"variable":{"a":{"type":"string"}},"resource":{"terraform_data":{"x":{"input":"${var.a}!","depends_on":["terraform_data.y"]},"y":{}}},"output":{"o":{"value":"${terraform_data.x.output}"}}}`
	if err := os.WriteFile(filepath.Join(dir, "main.tf.json"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	w := openWorld(t, memengine.New(memengine.Options{}), dir, engine.SessionOptions{})
	got := w.planAndApply(t, map[string]cty.Value{"a": cty.StringVal("hi")}).Outputs["o"]
	if !got.RawEquals(cty.StringVal("hi!")) {
		t.Errorf("got %#v", got)
	}
}

func TestModuleCalls(t *testing.T) {
	w := dirWorld(t, `
variable "on" { type = bool }
module "first" {
  source = "./child"
  in     = 3
}
module "second" {
  source     = "./child"
  in         = module.first.out
  depends_on = [module.first]
}
output "out" { value = module.second.out }
`)
	child := filepath.Join(w.dir, "child")
	writeModule(t, child, `
terraform {
  required_providers {
    fake = { source = "acme/fake", version = ">= 2" }
  }
}
variable "in" {
  type = string
  validation {
    condition     = var.in != "bad"
    error_message = "bad"
  }
}
resource "terraform_data" "x" {
  input = "${var.in}!"
  lifecycle { prevent_destroy = false }
}
output "out" { value = terraform_data.x.output }
`)
	m, diags := w.s.Module(t.Context(), w.dir)
	noErrors(t, diags)
	if slot := m.Slots[engine.ProviderSlot{LocalName: "fake"}]; slot == nil || len(m.Requirements) != 1 {
		t.Errorf("what the called module needs is missing: slots %v, requirements %v", m.Slots, m.Requirements)
	}
	inputs := map[string]cty.Value{"on": cty.True}
	result := w.planAndApply(t, inputs)
	if got := result.Outputs["out"]; !got.RawEquals(cty.StringVal("3!!")) {
		t.Errorf("output: got %#v", got)
	}
	if !strings.Contains(string(w.state), `"dependencies":["module.first.terraform_data.x"]`) {
		t.Errorf("dependencies are missing in the state: %s", w.state)
	}
	var checks []string
	for _, c := range result.Checks {
		checks = append(checks, c.Address)
	}
	if diff := cmp.Diff([]string{"module.first.var.in", "module.second.var.in"}, checks); diff != "" {
		t.Errorf("checks (-want +got):\n%s", diff)
	}

	writeModule(t, w.dir, "module \"first\" {\n  source = \"./child\"\n  in     = 3\n}")
	w.s = enginetest.Open(t, w.e, engine.SessionOptions{})
	plan, diags := w.plan(t, nil)
	noErrors(t, diags)
	want := []string{"module.first.terraform_data.x [no-op]", "module.second.terraform_data.x [delete] delete_because_no_module"}
	if diff := cmp.Diff(want, summary(plan)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}

	for name, test := range map[string]struct{ source, want string }{
		"unknown argument": {"module \"a\" {\n  source = \"./child\"\n  in     = 1\n  no     = 1\n}", "main.tf:4:12: Unsupported argument"},
		"missing argument": {"module \"a\" {\n  source = \"./child\"\n}", "main.tf:1:1: Missing required argument"},
		"repetition":       {"module \"a\" {\n  source = \"./child\"\n  in     = 1\n  count  = 1\n}", "main.tf:4:3: Unsupported argument"},
		"wrong type":       {"module \"a\" {\n  source = \"./child\"\n  in     = {}\n}", "main.tf:3:12: Invalid value for variable"},
		"failed rule":      {"module \"a\" {\n  source = \"./child\"\n  in     = \"bad\"\n}", "child/main.tf:10:21: Invalid value for variable"},
		"cycle":            {"module \"a\" {\n  source = \"./child\"\n  in     = module.a.out\n}", "main.tf:1:1: Self-referencing configuration"},
	} {
		t.Run(name, func(t *testing.T) {
			writeModule(t, w.dir, test.source)
			e := enginetest.Open(t, w.e, engine.SessionOptions{StackDir: w.dir})
			_, diags := e.Plan(t.Context(), &engine.PlanRequest{Component: w.addr, ModuleDir: w.dir}, nil)
			if diff := cmp.Diff([]string{test.want}, messages(diags)); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s", diff)
			}
		})
	}
}
