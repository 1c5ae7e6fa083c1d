// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
)

// conversionFunction makes the function that converts its argument to the type, or to any type that
// conforms to it if it has dynamic parts. Null becomes the null of the type.
func conversionFunction(want cty.Type) function.Function {
	return function.New(&function.Spec{
		Description: "Converts a value to " + want.FriendlyName() + ".",
		Params: []function.Parameter{{
			Name:             "v",
			Type:             cty.DynamicPseudoType,
			AllowNull:        true,
			AllowUnknown:     true,
			AllowDynamicType: true,
			AllowMarked:      true,
		}},
		Type: func(args []cty.Value) (cty.Type, error) {
			got := args[0].Type()
			if got.Equals(want) {
				return want, nil
			}
			if convert.GetConversionUnsafe(got, want) == nil {
				return cty.NilType, conversionError(args[0], want)
			}
			return want, nil
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if bare, own := args[0].Unmark(); !bare.IsKnown() {
				return cty.UnknownVal(want).WithMarks(own), nil // no more is known of it in terraform
			}
			converted, err := convert.Convert(args[0], want)
			if err != nil {
				return cty.NilVal, conversionError(args[0], want)
			}
			return converted, nil
		},
	})
}

func conversionError(value cty.Value, want cty.Type) error {
	from, to := value.Type(), want.FriendlyNameForConstraint()
	switch {
	case value.ContainsMarked():
		return function.NewArgErrorf(0, "cannot convert this %s to %s; the value is hidden because it is sensitive or ephemeral", from.FriendlyName(), to)
	case want.HasDynamicTypes() && (from.IsObjectType() || from.IsTupleType()):
		return function.NewArgErrorf(0, "cannot convert %s to %s: there is no one type for all its parts", from.FriendlyName(), to)
	case from == cty.String && value.IsKnown() && !value.IsNull():
		text := quoted(value.AsString(), nil)
		switch {
		case want == cty.Number:
			return function.NewArgErrorf(0, "cannot convert %s to number: only a decimal number in a string can be converted", text)
		case want == cty.Bool && strings.EqualFold(value.AsString(), "true"), want == cty.Bool && strings.EqualFold(value.AsString(), "false"):
			return function.NewArgErrorf(0, "cannot convert %s to bool: write it in lower case", text)
		case want == cty.Bool:
			return function.NewArgErrorf(0, `cannot convert %s to bool: only "true" and "false" can be converted`, text)
		}
	}
	return function.NewArgErrorf(0, "cannot convert %s to %s", from.FriendlyName(), to)
}
