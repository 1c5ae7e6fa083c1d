// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package enginetest

import (
	"bytes"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// TypedModule is described at [SimpleModule].
const TypedModule = `
variable "text" { type = string }
variable "list" { type = list(string) }
variable "settings" {
  type = object({
    name = string
    size = optional(number)
  })
}
resource "terraform_data" "a" { input = var.list }
output "text" { value = var.text }
output "prefixed" { value = "p-${var.text}" }
output "list" { value = var.list }
output "name" { value = var.settings.name }
output "settings" { value = var.settings }
output "constant" { value = "c" }
`

var settingsType = cty.Object(map[string]cty.Type{"name": cty.String, "size": cty.Number})

func settings(name, size cty.Value) cty.Value {
	return cty.ObjectVal(values{"name": name, "size": size})
}

func unknownInputs(b *bench) {
	b.module("m", TypedModule)
	req := b.request("m", values{
		"text":     cty.UnknownVal(cty.String),
		"list":     cty.UnknownVal(cty.List(cty.String)),
		"settings": cty.UnknownVal(settingsType),
	})
	plan := b.plan(req)
	b.wantChanges(plan, "terraform_data.a create")
	b.wantUnknown(plan.Outputs, "text", cty.String)
	b.wantUnknown(plan.Outputs, "prefixed", cty.String)
	b.wantUnknown(plan.Outputs, "list", cty.List(cty.String))
	b.wantUnknown(plan.Outputs, "name", cty.String)
	b.wantUnknown(plan.Outputs, "settings", settingsType)
	b.wantOutput(plan.Outputs, "constant", cty.StringVal("c"))

	final := settings(cty.StringVal("n"), cty.NullVal(cty.Number))
	result := b.apply(applyRequest(req, plan, values{
		"text": cty.StringVal("t"), "list": strings("a", "b"), "settings": final,
	}))
	b.wantOutput(result.Outputs, "text", cty.StringVal("t"))
	b.wantOutput(result.Outputs, "prefixed", cty.StringVal("p-t"))
	b.wantOutput(result.Outputs, "list", strings("a", "b"))
	b.wantOutput(result.Outputs, "name", cty.StringVal("n"))
	b.wantOutput(result.Outputs, "settings", final)
}

func partlyKnownInputs(b *bench) {
	b.module("m", TypedModule)
	req := b.request("m", values{
		"text":     cty.StringVal("t"),
		"list":     cty.ListVal([]cty.Value{cty.StringVal("a"), cty.UnknownVal(cty.String)}),
		"settings": settings(cty.StringVal("n"), cty.UnknownVal(cty.Number)),
	})
	plan := b.plan(req)
	b.wantOutput(plan.Outputs, "text", cty.StringVal("t"))
	b.wantOutput(plan.Outputs, "name", cty.StringVal("n"))
	if list := plan.Outputs["list"]; !list.IsKnown() || list.LengthInt() != 2 || list.IsWhollyKnown() {
		b.Errorf("planned list: got %#v, want two elements, one of them unknown", list)
	}
	final := settings(cty.StringVal("n"), cty.NumberIntVal(7))
	result := b.apply(applyRequest(req, plan, values{"text": cty.StringVal("t"), "list": strings("a", "b"), "settings": final}))
	b.wantOutput(result.Outputs, "list", strings("a", "b"))
	b.wantOutput(result.Outputs, "settings", final)
}

// chain plans three components before any is applied.
func chain(b *bench) {
	b.module("m", `
variable "v" { type = string }
resource "terraform_data" "a" { input = "${var.v}." }
output "v" { value = terraform_data.a.output }
`)
	given := cty.StringVal("x")
	type step struct{ planned, final cty.Value }
	current := step{given, given}
	requests := []string{"first", "second", "third"}
	applies := make([]*engine.ApplyRequest, len(requests))
	for i, name := range requests {
		req := b.request("m", values{"v": current.planned})
		req.Component.Item.Component.Name = name
		plan := b.plan(req)
		applies[i], current.planned = applyRequest(req, plan, nil), plan.Outputs["v"]
		if plan.Outputs["v"].IsKnown() {
			b.Errorf("%s: got planned output %#v, want unknown", name, plan.Outputs["v"])
		}
	}
	for _, apply := range applies {
		apply.Inputs = values{"v": current.final}
		// An output without a type constraint comes as it is; the caller converts it for the next
		// variable.
		current.final = b.apply(apply).Outputs["v"]
	}
	if want := cty.StringVal("x..."); !current.final.RawEquals(want) {
		b.Errorf("last output: got %#v, want %#v", current.final, want)
	}
}

func notRefining(b *bench) {
	b.module("m", TypedModule)
	planned := values{
		"text":     cty.StringVal("t"),
		"list":     cty.UnknownVal(cty.List(cty.String)).RefineNotNull(),
		"settings": settings(cty.StringVal("n"), cty.UnknownVal(cty.Number)),
	}
	req := b.request("m", planned)
	plan := b.plan(req)
	good := values{"text": cty.StringVal("t"), "list": strings("a"), "settings": settings(cty.StringVal("n"), cty.Zero)}
	wrong := values{
		"text":     cty.StringVal("other"),
		"list":     cty.NullVal(cty.List(cty.String)),
		"settings": settings(cty.StringVal("other"), cty.Zero),
	}
	for name, bad := range wrong {
		final := values{}
		for variable, value := range good {
			final[variable] = value
		}
		final[name] = bad
		result, diags := b.tryApply(applyRequest(req, plan, final))
		if !diags.HasErrors() || result != nil {
			b.Errorf("Apply with another %s: got %v and %v, want an error and nothing done", name, result, diags)
		}
	}
	b.apply(applyRequest(req, plan, good))
}

func sensitiveValues(b *bench) {
	b.module("m", `
variable "known" { type = string }
variable "later" { type = string }
variable "declared" {
  type      = string
  sensitive = true
}
output "known" {
  value     = var.known
  sensitive = true
}
output "later" {
  value     = var.later
  sensitive = true
}
output "declared" {
  value     = var.declared
  sensitive = true
}
`)
	secret := cty.StringVal("secret").Mark(marks.Sensitive)
	inputs := func(later cty.Value) values {
		return values{"known": secret, "later": later.Mark(marks.Sensitive), "declared": cty.StringVal("secret")}
	}
	req := b.request("m", inputs(cty.UnknownVal(cty.String)))
	plan := b.plan(req)
	for _, name := range []string{"known", "later", "declared"} {
		if !plan.Outputs[name].HasMark(marks.Sensitive) {
			b.Errorf("planned output %s: got %#v, want it sensitive", name, plan.Outputs[name])
		}
	}
	result := b.apply(applyRequest(req, plan, inputs(cty.StringVal("secret"))))
	for _, name := range []string{"known", "later", "declared"} {
		b.wantOutput(result.Outputs, name, secret)
	}

	// A sensitive value in an output that is not declared so is an error that doesn't show it.
	b.module("leak", `
variable "v" { type = string }
output "v" { value = var.v }
`)
	b.reopen()
	_, diags := b.tryPlan(b.request("leak", values{"v": secret}))
	b.wantErrors("Plan", diags)
	for _, diag := range diags {
		if bytes.Contains([]byte(diag.Summary+diag.Detail), []byte(`"secret"`)) {
			b.Errorf("message shows the value: %s: %s", diag.Summary, diag.Detail)
		}
	}
}

func variableValidation(b *bench) {
	b.module("m", `
variable "v" {
  type = string
  validation {
    condition     = var.v != "bad"
    error_message = "It must not be bad."
  }
}
`)
	_, diags := b.tryPlan(b.request("m", simpleInputs("bad")))
	b.wantErrors("Plan", diags)
	if !bytes.Contains([]byte(diags[0].Detail), []byte("It must not be bad.")) {
		b.Errorf("Plan: got %v, want the module's message", diags)
	}
	b.plan(b.request("m", simpleInputs("good")))
	b.plan(b.request("m", values{"v": cty.UnknownVal(cty.String)}))
}
