// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
)

// checkedModule has something to check of every kind.
const checkedModule = `
-- mod/main.tf --
variable "name" {
  type = string
  validation {
    condition     = var.name != ""
    error_message = "Empty."
  }
}
resource "terraform_data" "conditions" {
  count = 2
  input = var.name
  lifecycle {
    precondition {
      condition     = var.name != "precondition"
      error_message = "Precondition of ${var.name}."
    }
    postcondition {
      condition     = self.input != "postcondition"
      error_message = "Postcondition of ${var.name}."
    }
  }
}
module "child" {
  source = "./child"
  name   = var.name
}
check "name" {
  assert {
    condition     = var.name != "check"
    error_message = "Checked ${var.name}."
  }
  assert {
    condition     = length(var.name) < 100
    error_message = "Too long."
  }
}
output "name" {
  value = var.name
  precondition {
    condition     = var.name != "output"
    error_message = "Output of ${var.name}."
  }
}
-- mod/child/main.tf --
variable "name" { type = string }
output "name" { value = var.name }
check "inner" {
  assert {
    condition     = var.name != "inner"
    error_message = "Inner ${var.name}."
  }
}
`

// checkResult is the result of a checkable object in a document.
type checkResult struct {
	status    string
	instances map[string]string // status and messages by address
}

// checkResults reads the results in the document of component.c.
func checkResults(t *testing.T, component map[string]any) map[string]checkResult {
	t.Helper()
	list, ok := component["checks"].([]any)
	if !ok {
		t.Fatalf("no checks in the document: %v", component)
	}
	results := map[string]checkResult{}
	display := func(v any) string { return v.(map[string]any)["address"].(map[string]any)["to_display"].(string) }
	for _, item := range list {
		check := item.(map[string]any)
		result := checkResult{check["status"].(string), map[string]string{}}
		instances, _ := check["instances"].([]any)
		for _, item := range instances {
			instance := item.(map[string]any)
			text := instance["status"].(string)
			problems, _ := instance["problems"].([]any)
			for _, problem := range problems {
				text += ": " + problem.(map[string]any)["message"].(string)
			}
			result.instances[display(instance)] = text
		}
		results[display(check)] = result
	}
	return results
}

// wantChecks compares the results in a document with a table: lines of an address and its status,
// each followed by the instances, indented.
func wantChecks(t *testing.T, what string, component map[string]any, want string) {
	t.Helper()
	var lines []string
	results := checkResults(t, component)
	for _, address := range slices.Sorted(maps.Keys(results)) {
		result := results[address]
		lines = append(lines, address+" "+result.status)
		for _, instance := range slices.Sorted(maps.Keys(result.instances)) {
			lines = append(lines, "  "+instance+" "+result.instances[instance])
		}
	}
	if got := strings.Join(lines, "\n"); got != strings.TrimSpace(want) {
		t.Errorf("%s: checks are\n%s\nwant\n%s", what, got, strings.TrimSpace(want))
	}
}

// failingCheck is the recorded results when the check block of checkedModule fails.
const failingCheck = `
check.name fail
  check.name fail: Checked check.
module.child.check.inner pass
  module.child.check.inner pass
output.name pass
  output.name pass
terraform_data.conditions pass
  terraform_data.conditions[0] pass
  terraform_data.conditions[1] pass
var.name pass
  var.name pass
`

func TestRow067ChecksAndConditions(t *testing.T) {
	testenv.SkipUnderRace(t, "the contract of engines does the same things at the same time")
	f := newFeature(t, `name = "check"`, checkedModule)
	plan, diags := f.tryPlan(engine.Normal)
	if diag := wantDiagnostic(t, diags, hcl.DiagWarning, "Checked check."); diag.Filename != "mod/main.tf" || diag.Start.Line != 28 {
		t.Errorf("the warning is at %v", diag)
	}
	wantChecks(t, "plan", f.planJSON(plan), failingCheck)
	wantText(t, f.text(plan), "Checks that fail:", "component.c: check.name\n    Checked check.")

	result, diags := f.tryApply(plan)
	wantDiagnostic(t, diags, hcl.DiagWarning, "Checked check.")
	if o := outcome(t, result); o.Status != hooks.Applied {
		t.Errorf("status %s, want %s: check blocks stop nothing", o.Status, hooks.Applied)
	}
	wantChecks(t, "state", f.stateJSON(), failingCheck)
	wantText(t, f.stateText(), "Checks that fail:", "  check.name\n    Checked check.")

	plan, diags = f.tryPlan(engine.Normal)
	wantDiagnostic(t, diags, hcl.DiagWarning, "Checked check.")
	f.settled()
	f.apply(plan)
	wantChecks(t, "state after nothing was done", f.stateJSON(), failingCheck)
}

// The only change is whether a check holds: that is recorded, too.
func TestCheckResultChangesAlone(t *testing.T) {
	f := newFeature(t, "", `
-- mod/main.tf --
resource "terraform_data" "a" {}
check "c" {
  assert {
    condition     = fileexists("${path.module}/there")
    error_message = "Not there."
  }
}
-- mod/there --
`)
	f.run()
	wantChecks(t, "state", f.stateJSON(), "check.c pass\n  check.c pass")
	if err := os.Remove(filepath.Join(f.opts.Config.Root.Dir, "mod", "there")); err != nil {
		t.Fatal(err)
	}
	f.write("")
	plan, diags := f.tryPlan(engine.Normal)
	wantDiagnostic(t, diags, hcl.DiagWarning, "Not there.")
	f.settled()
	f.apply(plan)
	wantChecks(t, "state", f.stateJSON(), "check.c fail\n  check.c fail: Not there.")
}

func TestRow158FailingCheckThenDestroy(t *testing.T) {
	testenv.SkipUnderRace(t, "the contract of engines does the same things at the same time")
	f := newFeature(t, `name = "check"`, checkedModule+`
-- after.tfcomponent.hcl --
component "after" {
  source = "./after"
  inputs = { name = component.c.name }
}
-- after/main.tf --
variable "name" { type = string }
resource "terraform_data" "a" { input = var.name }
`)
	plan, diags := f.tryPlan(engine.Normal)
	wantDiagnostic(t, diags, hcl.DiagWarning, "Checked check.")
	_, diags = f.tryApply(plan)
	wantDiagnostic(t, diags, hcl.DiagWarning, "Checked check.")
	plan, diags = f.tryPlan(engine.Destroy)
	noDiagnostics(t, "Plan to destroy", diags)
	_, diags = f.tryApply(plan)
	noDiagnostics(t, "Apply to destroy", diags)
	if len(f.state.Components) > 0 {
		t.Errorf("%d components left", len(f.state.Components))
	}
}

func TestConditionsThatFailWhilePlanning(t *testing.T) {
	testenv.SkipUnderRace(t, "the contract of engines does the same things at the same time")
	for name, message := range map[string]string{
		"":              "Empty.",
		"precondition":  "Precondition of precondition.",
		"postcondition": "Postcondition of postcondition.",
		"output":        "Output of output.",
	} {
		t.Run("name is "+name, func(t *testing.T) {
			f := newFeature(t, `name = "`+name+`"`, checkedModule)
			plan, diags := f.tryPlan(engine.Normal)
			if diag := wantDiagnostic(t, diags, hcl.DiagError, message); diag.Filename != "mod/main.tf" {
				t.Errorf("the error is at %v", diag)
			}
			if name == "" && !strings.Contains(explain(diags), "mod/main.tf:1,1-16: Invalid value for variable") {
				t.Errorf("the error is not at the variable: %s", explain(diags))
			}
			if plan.Applyable {
				t.Error("the plan is applyable")
			}
		})
	}
}

// unknownChecks is the results of the checks while the input isn't known.
const unknownChecks = `
check.name unknown
  check.name unknown
module.child.check.inner unknown
  module.child.check.inner unknown
output.name unknown
  output.name unknown
terraform_data.conditions unknown
  terraform_data.conditions[0] unknown
  terraform_data.conditions[1] unknown
var.name unknown
  var.name unknown
`

// Conditions that can't be checked before apply are checked then: an error where a condition stops,
// a warning where a check block does not.
func TestConditionsOnValuesKnownAtApply(t *testing.T) {
	testenv.SkipUnderRace(t, "the contract of engines does the same things at the same time")
	for name, test := range map[string]struct {
		severity hcl.DiagnosticSeverity
		message  string
		status   string
	}{
		"good":          {hcl.DiagInvalid, "", ""},
		"":              {hcl.DiagError, "Empty.", ""},
		"precondition":  {hcl.DiagError, "Precondition of precondition.", "terraform_data.conditions[0] fail: Precondition of precondition."},
		"postcondition": {hcl.DiagError, "Postcondition of postcondition.", "terraform_data.conditions[0] fail: Postcondition of postcondition."},
		"output":        {hcl.DiagError, "Output of output.", "output.name fail: Output of output."},
		"check":         {hcl.DiagWarning, "Checked check.", "check.name fail: Checked check."},
		"inner":         {hcl.DiagWarning, "Inner inner.", "module.child.check.inner fail: Inner inner."},
	} {
		t.Run("name is "+name, func(t *testing.T) {
			f := newFeature(t, `name = trimprefix(component.up.later, "later-")`, checkedModule)
			f.inputs = map[string]cty.Value{"name": cty.StringVal(name)}
			plan, diags := f.tryPlan(engine.Normal)
			for _, diag := range diags {
				if diag.Severity == hcl.DiagError || diag.Summary != "Check block assertion known after apply" {
					t.Errorf("Plan: %v", diag)
				}
			}
			wantChecks(t, "plan", f.planJSON(plan), unknownChecks)
			result, diags := f.tryApply(plan)
			if test.severity == hcl.DiagInvalid {
				noDiagnostics(t, "Apply", diags)
				wantChecks(t, "state", f.stateJSON(), strings.NewReplacer("fail: Checked check.", "pass", "fail", "pass").Replace(failingCheck))
				f.wantOutputs(map[string]cty.Value{"name": cty.StringVal(name)})
				f.settled()
				return
			}
			if diag := wantDiagnostic(t, diags, test.severity, test.message); !strings.HasPrefix(diag.Filename, "mod/") {
				t.Errorf("reported at %v", diag)
			}
			if failed := outcome(t, result).Status == hooks.Failed; failed != (test.severity == hcl.DiagError) {
				t.Errorf("failed is %v", failed)
			}
			if test.status == "" {
				return
			}
			status := map[string]string{}
			for _, result := range checkResults(t, f.stateJSON()) {
				maps.Copy(status, result.instances)
			}
			address, want, _ := strings.Cut(test.status, " ")
			if status[address] != want {
				t.Errorf("state: %s is %q, want %q", address, status[address], want)
			}
		})
	}
}

// A data source in a check block is read last; its errors are warnings.
func TestCheckWithDataSource(t *testing.T) {
	testenv.SkipUnderRace(t, "the contract of engines does the same things at the same time")
	const module = `
-- mod/main.tf --
` + fakeModule + `
resource "fake_resource" "a" {
  id    = "a"
  value = "v"
}
check "c" {
  data "fake_data" "a" {
    id = "WHICH"
    depends_on = [fake_resource.a]
  }
  assert {
    condition     = data.fake_data.a.value == "w"
    error_message = "The value is ${coalesce(data.fake_data.a.value, "nothing")}."
  }
}
`
	f := newFeature(t, "", strings.ReplaceAll(module, "WHICH", "a"))
	plan, diags := f.tryPlan(engine.Normal)
	wantDiagnostic(t, diags, hcl.DiagWarning, "Check block assertion known after apply")
	wantChecks(t, "plan", f.planJSON(plan), "check.c unknown\n  check.c unknown")
	_, diags = f.tryApply(plan)
	wantDiagnostic(t, diags, hcl.DiagWarning, "The value is v.")
	wantChecks(t, "state", f.stateJSON(), "check.c fail\n  check.c fail: The value is v.")
	f.wantObjects("data.fake_data.a", "fake_resource.a")

	f.write(strings.ReplaceAll(module, "WHICH", "nowhere"))
	plan, diags = f.tryPlan(engine.Normal)
	if diags.HasErrors() {
		t.Fatal(explain(diags))
	}
	wantDiagnostic(t, diags, hcl.DiagWarning, "nowhere")
	f.apply(plan)
	f.destroyed()
}

// A message about a sensitive value is not shown.
func TestSensitiveCheckMessage(t *testing.T) {
	f := newFeature(t, `name = "hush"`, `
-- mod/main.tf --
variable "name" {
  type      = string
  sensitive = true
}
resource "terraform_data" "a" {}
check "c" {
  assert {
    condition     = var.name != "hush"
    error_message = "It is ${var.name}."
  }
}
`)
	plan, diags := f.tryPlan(engine.Normal)
	if !strings.Contains(explain(diags), "sensitive") || strings.Contains(explain(diags), "hush") {
		t.Errorf("diagnostics: %s", explain(diags))
	}
	f.apply(plan)
	data, err := json.Marshal([]any{f.planJSON(plan)["checks"], f.stateJSON()["checks"]})
	if err != nil || strings.Contains(string(data), "hush") {
		t.Errorf("checks: %s, %v", data, err)
	}
}
