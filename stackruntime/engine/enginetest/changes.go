// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package enginetest

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// SimpleModule is the file of a module that most tests use, as are [TriggeredModule] and
// [TypedModule]. An engine that reads no files can have the same modules in another form, and skip
// all other tests.
const SimpleModule = `
variable "v" {
  type = string
}
locals {
  text = "<${var.v}>"
}
resource "terraform_data" "b" {
  input = local.text
}
resource "terraform_data" "a" {
  input = terraform_data.b.output
}
output "text" { value = terraform_data.a.output }
output "id" { value = terraform_data.a.id }
output "given" { value = var.v }
output "nothing" { value = null }
`

func simpleInputs(v string) values { return values{"v": cty.StringVal(v)} }

func create(b *bench) {
	b.module("m", SimpleModule)
	req := b.request("m", simpleInputs("x"))
	plan := b.plan(req)
	if !plan.Applyable || !plan.Complete {
		b.Errorf("plan: applyable %v, complete %v, want both", plan.Applyable, plan.Complete)
	}
	b.wantChanges(plan, "terraform_data.a create", "terraform_data.b create")
	b.wantUnknown(plan.Outputs, "id", cty.String)
	if plan.Outputs["text"].IsKnown() {
		b.Errorf("planned text: got %#v, want unknown", plan.Outputs["text"])
	}
	b.wantOutput(plan.Outputs, "given", cty.StringVal("x"))

	result := b.apply(applyRequest(req, plan, req.Inputs))
	b.wantOutput(result.Outputs, "text", cty.StringVal("<x>"))
	b.wantOutput(result.Outputs, "given", cty.StringVal("x"))
	if nothing, ok := result.Outputs["nothing"]; !ok || !nothing.IsKnown() || !nothing.IsNull() {
		b.Errorf("output nothing: got %#v, want null", nothing)
	}
	if id := result.Outputs["id"]; !id.IsKnown() || id.IsNull() || id.AsString() == "" {
		b.Errorf("output id: got %#v, want a string", id)
	}
	if len(result.State) == 0 {
		b.Error("there is no state")
	}
}

func noOp(b *bench) {
	b.module("m", SimpleModule)
	req, result := b.planAndApply(b.request("m", simpleInputs("x")))
	plan := b.plan(req)
	b.wantChanges(plan, "terraform_data.a no-op", "terraform_data.b no-op")
	if !plan.Complete {
		b.Error("plan is not complete")
	}
	b.wantOutput(plan.Outputs, "text", cty.StringVal("<x>"))
	b.wantOutput(plan.Outputs, "id", result.Outputs["id"])
}

func update(b *bench) {
	b.module("m", SimpleModule)
	req, before := b.planAndApply(b.request("m", simpleInputs("x")))
	req.Inputs = simpleInputs("y")
	plan := b.plan(req)
	b.wantChanges(plan, "terraform_data.a update", "terraform_data.b update")
	b.wantOutput(plan.Outputs, "id", before.Outputs["id"])

	after := b.apply(applyRequest(req, plan, req.Inputs))
	b.wantOutput(after.Outputs, "text", cty.StringVal("<y>"))
	b.wantOutput(after.Outputs, "id", before.Outputs["id"])
}

// TriggeredModule is described at [SimpleModule].
const TriggeredModule = `
variable "trigger" { type = string }
resource "terraform_data" "a" {
  triggers_replace = var.trigger
}
output "id" { value = terraform_data.a.id }
`

func replace(b *bench) {
	b.module("m", TriggeredModule)
	req, before := b.planAndApply(b.request("m", values{"trigger": cty.StringVal("one")}))
	req.Inputs = values{"trigger": cty.StringVal("two")}
	plan := b.plan(req)
	b.wantChanges(plan, "terraform_data.a replace")
	b.wantUnknown(plan.Outputs, "id", cty.String)
	after := b.apply(applyRequest(req, plan, req.Inputs))
	if after.Outputs["id"].RawEquals(before.Outputs["id"]) {
		b.Errorf("id: got %#v again, want another one", after.Outputs["id"])
	}
}

func replaceOnDemand(b *bench) {
	b.module("m", TriggeredModule)
	req, _ := b.planAndApply(b.request("m", values{"trigger": cty.StringVal("one")}))
	req.Replace = []string{"terraform_data.a"}
	b.wantChanges(b.plan(req), "terraform_data.a replace")
}

func removeOne(b *bench) {
	b.module("m", SimpleModule)
	req, _ := b.planAndApply(b.request("m", simpleInputs("x")))
	b.module("m", `
variable "v" { type = string }
resource "terraform_data" "b" { input = "<${var.v}>" }
`)
	b.reopen()
	plan := b.plan(req)
	b.wantChanges(plan, "terraform_data.a delete", "terraform_data.b no-op")
	req.PriorState = b.apply(applyRequest(req, plan, req.Inputs)).State
	b.wantChanges(b.plan(req), "terraform_data.b no-op")
}

func destroy(b *bench) {
	b.module("m", SimpleModule)
	req, _ := b.planAndApply(b.request("m", simpleInputs("x")))
	req.Mode = engine.Destroy
	plan := b.plan(req)
	b.wantChanges(plan, "terraform_data.a delete", "terraform_data.b delete")
	if !plan.Applyable {
		b.Error("plan is not applyable")
	}
	result := b.apply(applyRequest(req, plan, req.Inputs))
	req.PriorState, req.Mode = result.State, engine.Normal
	b.wantChanges(b.plan(req), "terraform_data.a create", "terraform_data.b create")
}

func refreshOnly(b *bench) {
	b.module("m", SimpleModule)
	req, before := b.planAndApply(b.request("m", simpleInputs("x")))
	req.Mode = engine.RefreshOnly
	plan := b.plan(req)
	for _, change := range plan.Changes {
		if change.Action != engine.ActionNoOp {
			b.Errorf("%s: got %v, want nothing done", change.Address(), change.Action)
		}
	}
	if len(plan.Drift) != 0 {
		b.Errorf("drift: got %d changes, want none", len(plan.Drift))
	}
	b.wantOutput(plan.Outputs, "id", before.Outputs["id"])
	if len(plan.RefreshedState) == 0 {
		b.Error("there is no refreshed state")
	}
}

func otherState(b *bench) {
	b.module("m", SimpleModule)
	req, _ := b.planAndApply(b.request("m", simpleInputs("x")))
	req.Inputs = simpleInputs("y")
	plan := b.plan(req)
	other, _ := b.planAndApply(req)
	apply := applyRequest(req, plan, req.Inputs)
	apply.PriorState = other.PriorState
	result, diags := b.tryApply(apply)
	b.wantErrors("Apply", diags)
	if !slices.ContainsFunc(diags, func(diag *hcl.Diagnostic) bool { return engine.FaultOf(diag) == fault.StalePlan }) {
		b.Errorf("Apply: none of these names the fault %s: %s", fault.StalePlan, diags)
	}
	if result != nil {
		b.Errorf("Apply: got %+v, want nothing done", result)
	}
}

func instances(b *bench) {
	b.module("m", `
variable "names" { type = map(string) }
variable "copies" { type = number }
resource "terraform_data" "named" {
  for_each = var.names
  input    = "${each.key}=${each.value}"
}
resource "terraform_data" "counted" {
  count = var.copies
  input = count.index
}
output "named" { value = { for k, r in terraform_data.named : k => r.output } }
output "counted" { value = terraform_data.counted[*].output }
`)
	inputs := func(copies int64, names values) values {
		return values{"copies": cty.NumberIntVal(copies), "names": cty.MapVal(names)}
	}
	req, result := b.planAndApply(b.request("m", inputs(2, values{"k": cty.StringVal("v")})))
	b.wantOutput(result.Outputs, "named", cty.ObjectVal(values{"k": cty.StringVal("k=v")}))
	b.wantOutput(result.Outputs, "counted", cty.TupleVal([]cty.Value{cty.NumberIntVal(0), cty.NumberIntVal(1)}))

	req.Inputs = inputs(1, values{"k": cty.StringVal("w"), "l": cty.StringVal("v")})
	b.wantChanges(b.plan(req),
		"terraform_data.counted[0] no-op", "terraform_data.counted[1] delete",
		`terraform_data.named["k"] update`, `terraform_data.named["l"] create`)
}

func childModule(b *bench) {
	b.module("m/child", `
variable "in" { type = string }
resource "terraform_data" "a" { input = var.in }
output "out" { value = terraform_data.a.output }
`)
	b.module("m", `
variable "v" { type = string }
module "one" {
  source = "./child"
  in     = "one ${var.v}"
}
module "two" {
  source = "./child"
  in     = "two ${module.one.out}"
}
output "out" { value = module.two.out }
`)
	req := b.request("m", simpleInputs("x"))
	plan := b.plan(req)
	b.wantChanges(plan, "module.one.terraform_data.a create", "module.two.terraform_data.a create")
	result := b.apply(applyRequest(req, plan, req.Inputs))
	b.wantOutput(result.Outputs, "out", cty.StringVal("two one x"))
}
