// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package enginetest

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

const repeated = `
variable "n" { type = number }
variable "names" { type = set(string) }
variable "v" { type = string }
locals { ids = terraform_data.counted[*].id }
resource "terraform_data" "counted" {
  count = var.n
  input = "${var.v}${count.index}"
}
resource "terraform_data" "named" {
  for_each = var.names
  input    = each.key
}
resource "terraform_data" "refers" { input = length(local.ids) }
resource "terraform_data" "waits" {
  depends_on = [terraform_data.named]
}
resource "terraform_data" "free" { input = var.v }
resource "terraform_data" "chained" { input = terraform_data.free.output }
module "inner" {
  source = "./inner"
  n      = var.n
  v      = var.v
}
output "counted" { value = length(local.ids) }
output "named" { value = keys(terraform_data.named) }
output "free" { value = terraform_data.chained.output }
output "constant" { value = "c" }
output "inner_free" { value = module.inner.free }
output "inner_ids" { value = module.inner.ids }
`

const repeatedInner = `
variable "n" { type = number }
variable "v" { type = string }
resource "terraform_data" "free" { input = var.v }
resource "terraform_data" "counted" { count = var.n }
resource "terraform_data" "refers" { input = terraform_data.counted[*].id }
output "free" { value = terraform_data.free.output }
output "ids" { value = terraform_data.refers.output }
`

var deferredOfRepeated = []string{
	"module.inner.terraform_data.counted[*] instance_count_unknown",
	"module.inner.terraform_data.refers deferred_prereq",
	"terraform_data.counted[*] instance_count_unknown",
	"terraform_data.named[*] instance_count_unknown",
	"terraform_data.refers deferred_prereq",
	"terraform_data.waits deferred_prereq",
}

func writeRepeated(b *bench) {
	b.module("m", repeated)
	b.module("m/inner", repeatedInner)
}

func repeatedUnknown(v string) values {
	return values{"n": cty.UnknownVal(cty.Number), "names": cty.UnknownVal(cty.Set(cty.String)), "v": cty.StringVal(v)}
}

func repeatedKnown(v string, n int64, names ...string) values {
	return values{"n": cty.NumberIntVal(n), "names": cty.SetVal(strings(names...).AsValueSlice()), "v": cty.StringVal(v)}
}

// wantDeferred compares addresses and reasons, in their order.
func (b *bench) wantDeferred(plan *engine.PlanResult, want ...string) {
	b.Helper()
	var got []string
	for _, deferred := range plan.Deferred {
		got = append(got, deferred.Change.Address()+" "+deferred.Reason)
	}
	if !slices.Equal(got, want) {
		b.Errorf("deferred: got %q, want %q", got, want)
	}
	if plan.Complete != (len(want) == 0) {
		b.Errorf("plan is complete: %v, with %d changes deferred", plan.Complete, len(want))
	}
}

// wantNothingToApply checks a plan of which only the refreshed state can be kept.
func (b *bench) wantNothingToApply(plan *engine.PlanResult) {
	b.Helper()
	if plan.Applyable || plan.Plan != nil {
		b.Errorf("plan: applyable %v, %d bytes, want nothing to apply", plan.Applyable, len(plan.Plan))
	}
}

// deferredInstances goes through the rounds: the changes that can be planned are applied, then the
// rest.
func deferredInstances(b *bench) {
	writeRepeated(b)
	req := b.request("m", repeatedUnknown("x"))
	plan := b.plan(req)
	b.wantDeferred(plan, deferredOfRepeated...)
	b.wantChanges(plan, "module.inner.terraform_data.free create", "terraform_data.chained create", "terraform_data.free create")
	if !plan.Applyable {
		b.Error("plan is not applyable")
	}
	for _, name := range []string{"counted", "named", "inner_ids"} {
		b.wantOutput(plan.Outputs, name, cty.DynamicVal)
	}
	b.wantUnknown(plan.Outputs, "free", cty.String)
	b.wantOutput(plan.Outputs, "constant", cty.StringVal("c"))

	result := b.apply(applyRequest(req, plan, repeatedKnown("x", 2, "a")))
	for _, name := range []string{"counted", "named", "inner_ids"} {
		b.wantOutput(result.Outputs, name, cty.DynamicVal)
	}
	b.wantOutput(result.Outputs, "free", cty.StringVal("x"))
	b.wantOutput(result.Outputs, "constant", cty.StringVal("c"))
	b.wantOutput(result.Outputs, "inner_free", cty.StringVal("x"))

	req.Inputs, req.PriorState = repeatedKnown("x", 2, "a"), result.State
	second := b.plan(req)
	b.wantDeferred(second)
	b.wantChanges(second,
		"module.inner.terraform_data.counted[0] create", "module.inner.terraform_data.counted[1] create",
		"module.inner.terraform_data.free no-op", "module.inner.terraform_data.refers create",
		"terraform_data.chained no-op", "terraform_data.counted[0] create", "terraform_data.counted[1] create",
		"terraform_data.free no-op", `terraform_data.named["a"] create`, "terraform_data.refers create", "terraform_data.waits create")
	result = b.apply(applyRequest(req, second, req.Inputs))
	b.wantOutput(result.Outputs, "counted", cty.NumberIntVal(2))
	if ids := result.Outputs["inner_ids"]; !ids.IsWhollyKnown() || ids.LengthInt() != 2 {
		b.Errorf("output inner_ids: got %#v, want two of them", ids)
	}
}

// deferredAgain is about instances that exist when their number is unknown once more: they stay.
func deferredAgain(b *bench) {
	writeRepeated(b)
	req, _ := b.planAndApply(b.request("m", repeatedKnown("x", 2, "a")))
	req.Inputs = repeatedUnknown("x")
	plan := b.plan(req)
	b.wantDeferred(plan, deferredOfRepeated...)
	b.wantChanges(plan, "module.inner.terraform_data.free no-op", "terraform_data.chained no-op", "terraform_data.free no-op")
	b.wantNothingToApply(plan)

	req.Inputs = repeatedUnknown("y")
	plan = b.plan(req)
	b.wantChanges(plan, "module.inner.terraform_data.free update", "terraform_data.chained update", "terraform_data.free update")
	result := b.apply(applyRequest(req, plan, repeatedKnown("y", 2, "a")))
	b.wantOutput(result.Outputs, "counted", cty.DynamicVal)

	req.Inputs, req.PriorState = repeatedKnown("y", 1, "a"), result.State
	second := b.plan(req)
	b.wantDeferred(second)
	b.wantChanges(second,
		"module.inner.terraform_data.counted[0] no-op", "module.inner.terraform_data.counted[1] delete",
		"module.inner.terraform_data.free no-op", "module.inner.terraform_data.refers update",
		"terraform_data.chained no-op", "terraform_data.counted[0] update", "terraform_data.counted[1] delete",
		"terraform_data.free no-op", `terraform_data.named["a"] no-op`, "terraform_data.refers update", "terraform_data.waits no-op")
}

const onlyRepeated = `
variable "n" { type = number }
resource "terraform_data" "a" { count = var.n }
resource "terraform_data" "b" { input = terraform_data.a }
output "n" { value = length(terraform_data.a) }
output "constant" { value = "c" }
`

// deferredWhole has nothing that can be planned.
func deferredWhole(b *bench) {
	b.module("m", onlyRepeated)
	plan := b.plan(b.request("m", values{"n": cty.UnknownVal(cty.Number)}))
	b.wantDeferred(plan, "terraform_data.a[*] instance_count_unknown", "terraform_data.b deferred_prereq")
	b.wantChanges(plan)
	b.wantNothingToApply(plan)
	b.wantOutput(plan.Outputs, "n", cty.DynamicVal)
	b.wantOutput(plan.Outputs, "constant", cty.StringVal("c"))
}

// deferredModes doesn't need the number of instances to destroy or to refresh.
func deferredModes(b *bench) {
	b.module("m", onlyRepeated)
	req, _ := b.planAndApply(b.request("m", values{"n": cty.NumberIntVal(1)}))
	req.Inputs = values{"n": cty.UnknownVal(cty.Number)}

	req.Mode = engine.RefreshOnly
	plan := b.plan(req)
	b.wantDeferred(plan, "terraform_data.a[*] instance_count_unknown", "terraform_data.b deferred_prereq")
	b.wantNothingToApply(plan)

	kept := *req
	kept.PriorState, kept.Mode, kept.Inputs = plan.RefreshedState, engine.Normal, values{"n": cty.NumberIntVal(1)}
	b.wantChanges(b.plan(&kept), "terraform_data.a[0] no-op", "terraform_data.b no-op")

	req.Mode = engine.Destroy
	plan = b.plan(req)
	b.wantDeferred(plan)
	b.wantChanges(plan, "terraform_data.a[0] delete", "terraform_data.b delete")
	b.apply(applyRequest(req, plan, req.Inputs))
}

// deferredByOthers is about a component that waits for another one: all of it is deferred.
func deferredByOthers(b *bench) {
	b.module("m", "variable \"n\" { type = number }\nresource \"terraform_data\" \"a\" { count = var.n }\nresource \"terraform_data\" \"b\" "+
		"{}\n")
	req := b.request("m", values{"n": cty.UnknownVal(cty.Number)})
	req.DeferAll = true
	plan := b.plan(req)
	b.wantDeferred(plan, "terraform_data.a[*] instance_count_unknown", "terraform_data.b deferred_prereq")
	b.wantChanges(plan)
	b.wantNothingToApply(plan)
	b.module("empty", "variable \"n\" { type = number }\noutput \"n\" { value = var.n }\n")
	req = b.request("empty", values{"n": cty.UnknownVal(cty.Number)})
	req.DeferAll = true
	if plan = b.plan(req); plan.Complete {
		b.Error("the plan of a module without resources is complete, although what it depends on is deferred")
	}
}
