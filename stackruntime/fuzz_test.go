// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

const fuzzedStack = `
-- main.tfcomponent.hcl --
variable "text" {
  type    = string
  default = "t"
}
variable "secret" {
  type      = string
  default   = "s"
  sensitive = true
}
variable "list" {
  type    = list(string)
  default = ["a", "b"]
}
locals {
  object = { a = 1, b = [component.made.out] }
}
component "made" {
  source = "./echo"
  inputs = { in = "made" }
}
component "each" {
  for_each = toset(var.list)
  source   = "./echo"
  inputs   = { in = each.key }
}
` + echoModule

// FuzzExpression puts an expression where inputs and locals stand, and then where
// for_each stands. Whatever it is, there is a plan or an error that says why not,
// and a plan that can be made can be applied or fails with a reason.
func FuzzExpression(f *testing.F) {
	for _, seed := range []string{
		`"x"`, `var.text`, `"${var.text}-${local.object.a}"`, `[for x in var.list : upper(x)]`,
		`{ for k, v in component.each : k => v.out }`, `component.made.out`, `var.secret`, `component.each["a"].out`,
		`try(component.each["z"].out, 1)`, `local.object.b[*]`, `toset(var.list)`, `component.made.out == "made" ? [1] : [2, 3]`,
		`sensitive(var.list)`, `merge({ a = var.secret }, local.object)`, `null`, `component.fuzzed`,
		`jsondecode("{\"a\": 1}").a`, `templatestring("${var.text}", {})`, `terraform.applying`, `each.key`,
		`core::upper(var.text)`, `1 / 0`, `regex("(", var.text)`, `var.list...`, `<<X` + "\n${var.text}\nX\n",
		`toset([component.made.out])`, `nonsensitive(var.secret)`, `timestamp()`, `setproduct(var.list, var.list)`, `-1e999`,
		`substr(var.text, -5, 9)`, `"%{ for x in var.list }${x}%{ endfor }"`, `flatten([[[var.list]]])`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		if len(expression) > 300 || allocatesMuch(expression) {
			return
		}
		for _, block := range []string{
			"locals {\n  fuzzed = %\n}\ncomponent \"fuzzed\" {\n  source = \"./echo\"\n  inputs = { in = local.fuzzed }\n}\n",
			"component \"fuzzed\" {\n  for_each = %\n  source = \"./echo\"\n  inputs = { in = each.value }\n}\n",
		} {
			w := newWorld(t, fuzzedStack)
			w.appendTo("main.tfcomponent.hcl", strings.Replace(block, "%", expression, 1))
			w.fuzz()
		}
	})
}

// allocatesMuch reports whether functions are used that make much of little, as they are meant to.
func allocatesMuch(expression string) bool {
	for _, name := range []string{"range", "setproduct", "bcrypt", "cidr", "format", "file", "rsadecrypt", "replace", "indent", "pow"} {
		if strings.Contains(expression, name) {
			return true
		}
	}
	return false
}

func (w *world) fuzz() {
	w.t.Helper()
	opts, diags := w.Options()
	w.checkDetails(diags)
	if diags.HasErrors() {
		return
	}
	diags = stackruntime.Validate(w.t.Context(), opts)
	w.checkDetails(diags)
	plan, planDiags := stackruntime.Plan(w.t.Context(), stackruntime.PlanRequest{Options: opts, Prior: w.State, Timestamp: time.Unix(1e9, 0)})
	w.checkDetails(planDiags)
	if diags.HasErrors() && !planDiags.HasErrors() {
		w.t.Errorf("validate finds errors and plan does not: %s", describe(diags))
	}
	if plan.Applyable == planDiags.HasErrors() {
		w.t.Errorf("applyable %v with %s", plan.Applyable, describe(planDiags))
	}
	if !plan.Applyable {
		return
	}
	_, diags = w.TryApply(plan)
	w.checkDetails(diags)
	if diags.HasErrors() {
		return
	}
	w.applyRounds(engine.Destroy)
	if got := left(w.State); len(got) > 0 {
		w.t.Errorf("left after destroy: %v", got)
	}
}

// checkDetails checks that diagnostics say something, and none that it is our fault.
func (w *world) checkDetails(diags hcl.Diagnostics) {
	w.t.Helper()
	for _, diag := range diags {
		if diag.Summary == "" || diag.Detail == "" || strings.Contains(diag.Detail, "bug in cairn") {
			w.t.Errorf("a diagnostic that does not help: %s", describe(hcl.Diagnostics{diag}))
		}
	}
}
