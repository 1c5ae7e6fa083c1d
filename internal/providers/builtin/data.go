// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package builtin

import (
	"github.com/google/uuid"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/provider"
)

// dataType is the only type of managed resources: objects that keep values.
const dataType = "terraform_data"

var (
	dataObject  = dataSchema().Block.Type() // of these objects
	storeObject = dataObject.AttributeType("store")
)

var (
	unknownID = cty.UnknownVal(cty.String).RefineNotNull()
	noData    = cty.NullVal(cty.DynamicPseudoType)
	noStore   = cty.NullVal(storeObject)

	triggersPath = cty.GetAttrPath("triggers_replace")
	storePath    = cty.GetAttrPath("store").GetAttr("input")
)

// planData plans the change of an object.
//
// The output stays for as long as the input does. Where there is no input, a new object has no
// output, and the plan says so. Values differ when their types do, even if both are null: terraform
// then plans another id without a replacement.
func planData(req provider.PlanRequest) provider.PlanResponse {
	prior, proposed := req.Prior, req.Proposed
	if proposed.IsNull() {
		return provider.PlanResponse{Planned: proposed}
	}
	input, triggers := proposed.GetAttr("input"), proposed.GetAttr("triggers_replace")
	created, storeBefore := prior.IsNull(), noStore
	if !created {
		storeBefore = prior.GetAttr("store")
	}
	store, diags := planStore(storeBefore, req.Config.GetAttr("store"))
	if diags.HasErrors() {
		return provider.PlanResponse{Diagnostics: diags}
	}
	var replace []cty.Path
	if !created && !triggers.RawEquals(prior.GetAttr("triggers_replace")) {
		replace = append(replace, triggersPath)
	}
	if store.replace {
		replace = append(replace, storePath)
	}
	id, output := proposed.GetAttr("id"), proposed.GetAttr("output")
	switch {
	case created || len(replace) > 0:
		id, output = unknownID, newOutput(input)
	case !input.RawEquals(prior.GetAttr("input")):
		output = unknownOutput(input)
	}
	return provider.PlanResponse{Planned: newData(id, input, output, triggers, store.planned), RequiresReplace: replace}
}

func newOutput(input cty.Value) cty.Value {
	if input.IsNull() {
		return input
	}
	return unknownOutput(input)
}

// unknownOutput drops the refinements of an unknown input, as terraform does: only the type is
// promised.
func unknownOutput(input cty.Value) cty.Value { return cty.UnknownVal(input.Type()) }

func newData(id, input, output, triggers, store cty.Value) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{
		"id": id, "input": input, "output": output, "triggers_replace": triggers, "store": store,
	})
}

// applyData returns the object that was planned for a configuration, with all that was unknown.
func applyData(planned, config cty.Value) cty.Value {
	if planned.IsNull() || planned.IsWhollyKnown() {
		return planned
	}
	id, output := planned.GetAttr("id"), planned.GetAttr("output")
	if !id.IsKnown() {
		id = cty.StringVal(uuid.NewString())
	}
	input := planned.GetAttr("input")
	if !output.IsKnown() {
		output = input
	}
	store := applyStore(planned.GetAttr("store"), config.GetAttr("store"))
	return newData(id, input, output, planned.GetAttr("triggers_replace"), store)
}

// importData returns an object with nothing but an id.
func importData(id string) cty.Value {
	return newData(cty.StringVal(id), noData, noData, noData, noStore)
}
