// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// anyValue is a parameter that takes every value as it is.
var anyValue = function.Parameter{
	Name:             "value",
	Type:             cty.DynamicPseudoType,
	AllowNull:        true,
	AllowUnknown:     true,
	AllowDynamicType: true,
	AllowMarked:      true,
}

func typeOfFirst(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil }

var sensitiveFunction = function.New(&function.Spec{
	Description: "Marks a value as sensitive.",
	Params:      []function.Parameter{anyValue},
	Type:        typeOfFirst,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		return args[0].Mark(marks.Sensitive), nil
	},
})

// Only the value itself loses its mark: parts that were sensitive on their own stay so.
var nonsensitiveFunction = function.New(&function.Spec{
	Description: "Takes the sensitive mark off a value.",
	Params:      []function.Parameter{anyValue},
	Type:        typeOfFirst,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		return marks.RemoveShallow(args[0], marks.Sensitive), nil
	},
})

var isSensitiveFunction = function.New(&function.Spec{
	Description: "Reports whether a value is marked as sensitive.",
	Params:      []function.Parameter{anyValue},
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

var ephemeralAsNullFunction = function.New(&function.Spec{
	Description: "Replaces the ephemeral parts of a value by null.",
	Params:      []function.Parameter{anyValue},
	Type:        typeOfFirst,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		if !marks.Contains(args[0], marks.Ephemeral) {
			return args[0], nil
		}
		return cty.Transform(args[0], func(_ cty.Path, part cty.Value) (cty.Value, error) {
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
	},
})
