// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// anyValue is a parameter that takes every value as it is.
func anyValue(name string) function.Parameter {
	return function.Parameter{
		Name: name, Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true, AllowDynamicType: true, AllowMarked: true,
	}
}

// markFunction makes a function that has a value of any type as its result, with other marks or
// without parts of it.
func markFunction(description string, change func(cty.Value) (cty.Value, error)) function.Function {
	return function.New(&function.Spec{
		Description: description,
		Params:      []function.Parameter{anyValue("value")},
		Type:        func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil },
		Impl:        func(args []cty.Value, _ cty.Type) (cty.Value, error) { return change(args[0]) },
	})
}

var sensitiveFunction = markFunction("Marks a value as sensitive.", func(value cty.Value) (cty.Value, error) {
	return value.Mark(marks.Sensitive), nil
})

// Only the value itself loses its mark: parts that were sensitive on their own stay so.
var nonsensitiveFunction = markFunction("Takes the sensitive mark off a value.", func(value cty.Value) (cty.Value, error) {
	return marks.RemoveShallow(value, marks.Sensitive), nil
})

var isSensitiveFunction = function.New(&function.Spec{
	Description: "Reports whether a value is marked as sensitive.",
	Params:      []function.Parameter{anyValue("value")},
	Type:        function.StaticReturnType(cty.Bool),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		switch value := args[0]; {
		case marks.Has(value, marks.Sensitive):
			return cty.True, nil
		case !value.IsKnown():
			return cty.UnknownVal(cty.Bool), nil // the final value may arrive with the mark
		}
		return cty.False, nil
	},
})

var ephemeralAsNullFunction = markFunction("Replaces the ephemeral parts of a value by null.", func(value cty.Value) (cty.Value, error) {
	if !marks.Contains(value, marks.Ephemeral) {
		return value, nil
	}
	return cty.Transform(value, func(_ cty.Path, part cty.Value) (cty.Value, error) {
		if !marks.Has(part, marks.Ephemeral) {
			return part, nil
		}
		bare, own := part.Unmark()
		delete(own, marks.Ephemeral)
		if !bare.IsKnown() {
			// The final value will be null, but its type may not be known yet.
			return cty.UnknownVal(bare.Type()).WithMarks(own), nil
		}
		return cty.NullVal(bare.Type()).WithMarks(own), nil
	})
})
