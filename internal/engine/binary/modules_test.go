// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// once plans and applies a module with inputs that don't change.
func (b *bench) once(inputs map[string]cty.Value) *engine.ApplyResult {
	b.t.Helper()
	req := b.request(inputs)
	return b.apply(applyRequest(req, b.plan(req).Plan, inputs))
}

// Trap 6: paths are those of plain terraform run in the module's directory, and files are found.
func TestPathsAndFiles(t *testing.T) {
	b := newBench(t, map[string]string{
		"repo/modules/m/main.tf": `
module "inner" { source = "./inner" }
module "sibling" { source = "../sibling" }
output "paths" {
  value = [path.module, path.root, module.inner.path, module.sibling.path]
}
output "cwd" { value = path.cwd }
output "text" { value = templatefile("${path.module}/files/t.tftpl", { name = "n" }) }
output "above" { value = file("${path.module}/../../shared/s.txt") }
output "sibling" { value = module.sibling.text }
output "set" { value = fileset(path.module, "files/**") }
`,
		"repo/modules/m/inner/a.tf":    `output "path" { value = path.module }`,
		"repo/modules/m/files/t.tftpl": "hello ${name}",
		"repo/modules/m/files/sub/x":   "",
		"repo/modules/sibling/a.tf": "output \"path\" {\n  value = path.module\n}\noutput \"text\" {\n  value = " +
			"file(\"${path.module}/s.txt\")\n}\n",
		"repo/modules/sibling/s.txt":    "sibling's",
		"repo/shared/s.txt":             "shared",
		"repo/modules/unrelated/bad.tf": "this is not configuration",
	})
	req := b.request(nil)
	req.ModuleDir = filepath.Join(b.stack, "repo", "modules", "m")
	result := b.apply(applyRequest(req, b.plan(req).Plan, nil))
	str := cty.StringVal
	want := map[string]cty.Value{
		"paths":   cty.TupleVal([]cty.Value{str("."), str("."), str("inner"), str("../sibling")}),
		"cwd":     str(filepath.ToSlash(b.stack)),
		"text":    str("hello n"),
		"above":   str("shared"),
		"sibling": str("sibling's"),
		"set":     cty.SetVal([]cty.Value{str("files/sub/x"), str("files/t.tftpl")}),
	}
	for name, value := range want {
		if got := result.Outputs[name]; !got.RawEquals(value) {
			t.Errorf("%s: got %#v, want %#v", name, got, value)
		}
	}
}

// Trap 6b: files that plain terraform would load don't reach a component, and the module's
// directory stays as it is.
func TestFilesThatAreLeftOut(t *testing.T) {
	files := map[string]string{
		"mod/main.tf": `
terraform {
  backend "s3" {
    bucket = "b"
  }
  cloud {
    organization = "o"
  }
}
variable "v" {
  type    = string
  default = "default"
}
resource "terraform_data" "a" {}
output "v" { value = var.v }
`,
		"mod/terraform.tfvars":             `v = "tfvars"`,
		"mod/x.auto.tfvars":                `v = "auto"`,
		"mod/y.auto.tfvars.json":           `{"v": "json"}`,
		"mod/terraform.tfstate":            "no state",
		"mod/.terraform.lock.hcl":          "no lock file",
		"mod/.terraform/terraform.tfstate": "no state",
	}
	b := newBench(t, files)
	result := b.once(nil)
	if got := result.Outputs["v"]; !got.RawEquals(cty.StringVal("default")) {
		t.Errorf("v: got %#v, want the default", got)
	}
	for name, content := range files {
		if got, err := os.ReadFile(filepath.Join(b.stack, name)); err != nil || string(got) != content {
			t.Errorf("%s was changed: %q, %v", name, got, err)
		}
	}
}

// Trap 4: the directory of a run, with all the secrets in it, is only readable by its owner.
func TestWorkingFilesArePrivate(t *testing.T) {
	b := newBench(t, map[string]string{"mod/main.tf": "variable \"v\" {\n  type = string\n}\nresource \"terraform_data\" \"a\" {}\n"})
	req := b.request(map[string]cty.Value{"v": cty.UnknownVal(cty.String)})
	b.observe = func(engine.Event) {
		err := filepath.WalkDir(filepath.Join(b.stack, ".cairn"), func(path string, entry os.DirEntry, err error) error {
			if errors.Is(err, os.ErrNotExist) {
				return nil // removed by the engine meanwhile
			}
			if err != nil || entry.Type()&os.ModeSymlink != 0 {
				return err
			}
			info, err := entry.Info()
			if err == nil && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s has mode %v", path, info.Mode())
			}
			if errors.Is(err, os.ErrNotExist) {
				return nil
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	plan := b.plan(req)
	apply := applyRequest(req, plan.Plan, map[string]cty.Value{"v": cty.StringVal("x")})
	b.apply(apply)
}

// Trap 6: import and moved blocks work in a module that is the root, with latched inputs, too.
func TestImportAndMovedBlocks(t *testing.T) {
	testenv.SkipUnderRace(t, "the contract of engines does the same things at the same time")
	b := newBench(t, map[string]string{"mod/main.tf": `
variable "later" { type = string }
resource "terraform_data" "old" { input = "kept" }
`})
	req := b.request(map[string]cty.Value{"later": cty.UnknownVal(cty.String)})
	final := map[string]cty.Value{"later": cty.StringVal("x")}
	req.PriorState = b.apply(applyRequest(req, b.plan(req).Plan, final)).State

	b.write("mod/main.tf", `
variable "later" { type = string }
moved {
  from = terraform_data.old
  to   = terraform_data.new
}
import {
  to = terraform_data.found
  id = "found-id"
}
resource "terraform_data" "new" { input = "kept" }
resource "terraform_data" "found" {}
resource "terraform_data" "later" { input = var.later }
`)
	b.reopen()
	plan := b.plan(req)
	for _, change := range plan.Changes {
		switch change.Address() {
		case "terraform_data.new":
			if change.PreviousAddr.String() != "terraform_data.old" || change.Action != engine.ActionNoOp {
				t.Errorf("moved: got %s, %s", change.PreviousAddr, change.Action)
			}
		case "terraform_data.found":
			if change.Importing == nil || change.Importing.ID != "found-id" {
				t.Errorf("import: got %+v", change.Importing)
			}
		}
	}
	req.PriorState = b.apply(applyRequest(req, plan.Plan, final)).State
	noTraces(t, req.PriorState)
	req.Inputs = final
	for address, action := range actions(b.plan(req)) {
		if action != "no-op " {
			t.Errorf("second plan: %s is %q, want no-op", address, action)
		}
	}
}

// Trap 3: a plan is only applied to the module, state and inputs that it was made for.
func TestPlansThatAreRefused(t *testing.T) {
	b := newBench(t, map[string]string{
		"mod/main.tf":   "module \"child\" {\n  source = \"../child\"\n}\nresource \"terraform_data\" \"a\" {}\n",
		"child/main.tf": "output \"o\" {\n  value = file(\"${path.module}/t.txt\")\n}\n",
		"child/t.txt":   "before",
	})
	req := b.request(nil)
	plan := b.plan(req)
	refused := func(t *testing.T, change func(*engine.ApplyRequest), want string) {
		t.Helper()
		apply := applyRequest(req, plan.Plan, nil)
		change(apply)
		result, diags := b.tryApply(context.Background(), apply)
		if result != nil || !diags.HasErrors() || !strings.Contains(diags[0].Detail, want) {
			t.Errorf("Apply: got %v, %v, want a refusal with %q", result, diags, want)
		}
	}
	t.Run("truncated", func(t *testing.T) {
		refused(t, func(r *engine.ApplyRequest) { r.Planned = &engine.PlanResult{Plan: plan.Plan[:len(plan.Plan)/2]} }, "damaged")
	})
	t.Run("other component", func(t *testing.T) {
		refused(t, func(r *engine.ApplyRequest) { r.Component.Item.Component.Name = "other" }, "not for component.other")
	})
	t.Run("other mode", func(t *testing.T) {
		refused(t, func(r *engine.ApplyRequest) { r.Mode = engine.Destroy }, "mode")
	})
	t.Run("other state", func(t *testing.T) {
		other := b.apply(applyRequest(req, plan.Plan, nil))
		refused(t, func(r *engine.ApplyRequest) { r.PriorState = other.State }, "state of component.c")
	})
	t.Run("other engine", func(t *testing.T) {
		info := b.engine.info
		defer func() { b.engine.info = info }()
		b.engine.info.Version = "9.9.9"
		refused(t, func(*engine.ApplyRequest) {}, "9.9.9")
	})
	t.Run("other file of a child module", func(t *testing.T) {
		b.write("child/t.txt", "after, and longer")
		refused(t, func(*engine.ApplyRequest) {}, "have changed")
	})
	b.noRuns()
}

// A state that came without the engine's bookkeeping, as from a store of single records, is planned
// and applied.
func TestStateWithoutLineage(t *testing.T) {
	b := newBench(t, map[string]string{"mod/main.tf": `
variable "v" { type = string }
resource "terraform_data" "a" { input = var.v }
`})
	result := b.once(map[string]cty.Value{"v": cty.StringVal("x")})
	doc := string(result.State)
	start, end := strings.Index(doc, `"resources"`), strings.LastIndex(doc, `"check_results"`)
	state := engine.State(`{"version": 4, ` + strings.TrimRight(strings.TrimSpace(doc[start:end]), ",") + `}`)

	req := b.request(map[string]cty.Value{"v": cty.StringVal("y")})
	req.PriorState = state
	plan := b.plan(req)
	if got := actions(plan)["terraform_data.a"]; got != "update " {
		t.Errorf("plan: got %q, want update", got)
	}
	b.apply(applyRequest(req, plan.Plan, req.Inputs))
}

// Trap 6a: rules for latched variables hold at plan and apply, wherever they refer to, and messages
// are about the module as it was written.
func TestValidationOfLatchedVariables(t *testing.T) {
	b := newBench(t, map[string]string{"mod/main.tf": `
variable "limit" { type = number }
variable "v" {
  type = number
  validation {
    condition     = var.v > 0
    error_message = "Must be positive."
  }
  validation {
    condition     = var.v < var.limit
    error_message = "Must be below ${var.limit}."
  }
}
resource "terraform_data" "a" { input = var.v }
`})
	inputs := func(v cty.Value) map[string]cty.Value {
		return map[string]cty.Value{"v": v, "limit": cty.NumberIntVal(10)}
	}
	req := b.request(inputs(cty.UnknownVal(cty.Number)))
	plan := b.plan(req)
	for name, test := range map[string]struct {
		value int64
		want  string
	}{"own rule": {-1, "Must be positive."}, "rule with another variable": {11, "Must be below 10."}} {
		t.Run(name, func(t *testing.T) {
			_, diags := b.tryApply(context.Background(), applyRequest(req, plan.Plan, inputs(cty.NumberIntVal(test.value))))
			b.acknowledge()
			if !diags.HasErrors() || !strings.Contains(diags[0].Detail, test.want) {
				t.Fatalf("Apply: got %v, want %q", diags, test.want)
			}
			for _, diag := range diags {
				if strings.Contains(diag.Summary+diag.Detail, "__stack_") {
					t.Errorf("message names generated objects: %s: %s", diag.Summary, diag.Detail)
				}
				if diag.Subject == nil || diag.Subject.Filename != "mod/main.tf" || diag.Subject.Start.Line < 3 {
					t.Errorf("error at %v, want it at the variable", diag.Subject)
				}
			}
		})
	}
	b.apply(applyRequest(req, plan.Plan, inputs(cty.NumberIntVal(5))))
}

// Trap 6a: places in messages are those in the module's files, though references before them are
// longer in the copy.
func TestPlacesInMessages(t *testing.T) {
	const line = `output "o" { value = [var.v, var.v, tonumber("x${var.w}")] }`
	b := newBench(t, map[string]string{"mod/sub.tf": "variable \"v\" {}\nvariable \"w\" {}\n" + line + "\n"})
	req := b.request(map[string]cty.Value{"v": cty.DynamicVal, "w": cty.StringVal("y")})
	_, diags := b.tryPlan(context.Background(), req)
	if !diags.HasErrors() || diags[0].Subject == nil {
		t.Fatalf("Plan: got %v, want an error with a place", diags)
	}
	column := strings.Index(line, `x${`) + 1
	if got := diags[0].Subject; got.Filename != "mod/sub.tf" || got.Start.Line != 3 || got.Start.Column != column {
		t.Errorf("error at %v, want column %d of line 3", got, column)
	}
}

func TestPlanTimestamp(t *testing.T) {
	b := newBench(t, map[string]string{
		"mod/main.tf":   "module \"c\" {\n  source = \"./c\"\n}\noutput \"t\" {\n  value = [plantimestamp(), module.c.t]\n}\n",
		"mod/c/main.tf": "output \"t\" {\n  value = plantimestamp()\n}\n",
	})
	req := b.request(nil)
	req.Timestamp = testTime
	plan := b.plan(req)
	at := cty.StringVal("2031-02-03T04:05:06Z")
	if got := plan.Outputs["t"]; !got.RawEquals(cty.TupleVal([]cty.Value{at, at})) {
		t.Errorf("t: got %#v, want %#v twice", got, at)
	}
}

func TestCheckResults(t *testing.T) {
	b := newBench(t, map[string]string{"mod/main.tf": `
variable "v" {
  type = string
  validation {
    condition     = var.v != ""
    error_message = "Empty."
  }
}
check "c" {
  assert {
    condition     = var.v == "good"
    error_message = "Not good."
  }
}
`})
	inputs := map[string]cty.Value{"v": cty.StringVal("bad")}
	req := b.request(map[string]cty.Value{"v": cty.UnknownVal(cty.String)})
	plan := b.plan(req)
	result, diags := b.tryApply(context.Background(), applyRequest(req, plan.Plan, inputs))
	b.noErrors("Apply", diags)
	b.acknowledge()
	if len(diags) != 1 || diags[0].Severity != hcl.DiagWarning || !strings.Contains(diags[0].Detail, "Not good.") {
		t.Errorf("Apply: got %v, want one warning", diags)
	}
	statuses := map[string]string{}
	for _, check := range result.Checks {
		statuses[check.Address] = string(check.Status)
	}
	if len(statuses) != 2 || statuses["check.c"] != "fail" || statuses["var.v"] != "pass" {
		t.Errorf("checks: got %v", statuses)
	}
}

func TestValidateModule(t *testing.T) {
	testenv.SkipUnderRace(t, "does one thing at a time")
	testenv.CLIConfig(t, testenv.FakeProviderMirror(t))
	b := newBenchAt(t, t.TempDir(), map[string]string{
		"mod/main.tf": fakeRequired + `
resource "fake_resource" "a" {
  vlaue = "x"
}
module "child" { source = "./child" }
`,
		"mod/child/main.tf": "output \"o\" {\n  value = local.missing\n}\n",
		"broken/main.tf":    "resource {",
	})
	b.prepare()
	dir := filepath.Join(b.stack, "mod")
	diags := b.engine.ValidateModule(context.Background(), dir)
	places := map[string]int{}
	for _, diag := range diags {
		if diag.Subject != nil {
			places[diag.Subject.Filename] = diag.Subject.Start.Line
		}
	}
	if len(diags) != 2 || places["mod/main.tf"] != 9 || places["mod/child/main.tf"] != 2 {
		t.Errorf("ValidateModule: got %v", diags)
	}
	b.engine.binary.Path = filepath.Join(t.TempDir(), "gone")
	if again := b.engine.ValidateModule(context.Background(), dir); len(again) != len(diags) {
		t.Errorf("ValidateModule, again: got %v", again)
	}
	if diags := b.engine.ValidateModule(context.Background(), filepath.Join(b.stack, "broken")); len(diags) != 0 {
		t.Errorf("ValidateModule repeats what Module says: %v", diags)
	}
}

// A move is a change, though the object stays as it is: it is deferred with all else.
func TestDeferAllWithMove(t *testing.T) {
	b := newBench(t, map[string]string{"mod/main.tf": "resource \"terraform_data\" \"a\" {}\n"})
	req := b.request(nil)
	req.PriorState = b.once(nil).State
	b.write("mod/main.tf", "moved {\n  from = terraform_data.a\n  to   = terraform_data.b\n}\nresource \"terraform_data\" \"b\" {}\n")
	b.reopen()
	req.DeferAll = true
	plan := b.plan(req)
	if len(plan.Deferred) != 1 || plan.Deferred[0].Change.PreviousAddr.String() != "terraform_data.a" {
		t.Errorf("deferred: got %+v, want the move", plan.Deferred)
	}
}

// Dependents of something deferred are planned for show, and nothing of them can be applied.
func TestDeferAll(t *testing.T) {
	b := newBench(t, map[string]string{
		"mod/main.tf": "variable \"v\" {}\nresource \"terraform_data\" \"a\" {\n  input = var.v\n}\noutput \"o\" {\n  value = " +
			"terraform_data.a.output\n}\n",
		"count/main.tf": "variable \"v\" {}\nresource \"terraform_data\" \"a\" {\n  count = var.v\n}\nresource \"terraform_data\" \"b\" {}\n",
	})
	req := b.request(map[string]cty.Value{"v": cty.UnknownVal(cty.Number)})
	req.DeferAll = true
	plan := b.plan(req)
	if len(plan.Deferred) != 1 || plan.Deferred[0].Reason != "deferred_prereq" || plan.Deferred[0].Change.Address() != "terraform_data.a" {
		t.Errorf("deferred: got %+v, want terraform_data.a", plan.Deferred)
	}
	if plan.Plan != nil || plan.Applyable || plan.Complete || len(plan.Changes) != 0 || plan.Outputs["o"].IsKnown() {
		t.Errorf("plan: got %+v, want nothing to apply", plan)
	}
	req.ModuleDir = filepath.Join(b.stack, "count")
	plan = b.plan(req)
	wantDeferrals(t, plan, "terraform_data.a[*] create instance_count_unknown", "terraform_data.b create deferred_prereq")
	if plan.Plan != nil || plan.Applyable || len(plan.Changes) != 0 {
		t.Errorf("plan with unknown count: got %+v, want it deferred as a whole", plan)
	}
}
