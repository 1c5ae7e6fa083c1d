// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package builtin

import (
	"github.com/google/uuid"
	"github.com/zclconf/go-cty/cty"
)

// dataType is the only type of managed resources: objects that keep values.
const dataType = "terraform_data"

// dataObject is the type of these objects.
var dataObject = cty.Object(map[string]cty.Type{
	"id":               cty.String,
	"input":            cty.DynamicPseudoType,
	"output":           cty.DynamicPseudoType,
	"triggers_replace": cty.DynamicPseudoType,
})

var (
	unknownID = cty.UnknownVal(cty.String).RefineNotNull()
	noData    = cty.NullVal(cty.DynamicPseudoType)

	replaceTriggers = []cty.Path{cty.GetAttrPath("triggers_replace")} // nobody changes it
)

// planData returns the planned object, and the attributes that require its replacement.
//
// The output stays for as long as the input does. Where there is no input, a new object has no
// output, and the plan says so. Values differ when their types do, even if both are null: terraform
// then plans another id without a replacement.
func planData(prior, proposed cty.Value) (planned cty.Value, replace []cty.Path) {
	if proposed.IsNull() {
		return proposed, nil
	}
	input, triggers := proposed.GetAttr("input"), proposed.GetAttr("triggers_replace")
	if prior.IsNull() {
		return newData(unknownID, input, newOutput(input), triggers), nil
	}
	if !triggers.RawEquals(prior.GetAttr("triggers_replace")) {
		return newData(unknownID, input, newOutput(input), triggers), replaceTriggers
	}
	if input.RawEquals(prior.GetAttr("input")) {
		return proposed, nil
	}
	return newData(prior.GetAttr("id"), input, unknownOutput(input), triggers), nil
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

func newData(id, input, output, triggers cty.Value) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{"id": id, "input": input, "output": output, "triggers_replace": triggers})
}

// applyData returns the object that was planned, with all that was unknown.
func applyData(planned cty.Value) cty.Value {
	if planned.IsNull() {
		return planned
	}
	id, output := planned.GetAttr("id"), planned.GetAttr("output")
	if id.IsKnown() && output.IsKnown() {
		return planned
	}
	if !id.IsKnown() {
		id = cty.StringVal(uuid.NewString())
	}
	input := planned.GetAttr("input")
	if !output.IsKnown() {
		output = input
	}
	return newData(id, input, output, planned.GetAttr("triggers_replace"))
}

// importData returns an object with nothing but an id.
func importData(id string) cty.Value { return newData(cty.StringVal(id), noData, noData, noData) }
