// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"github.com/cairnstacks/cairn/internal/bounds"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
)

var sumFunction = functionOf(cty.Number, "Adds the numbers of a list, set or tuple.",
	[]function.Parameter{{Name: "list", Type: cty.DynamicPseudoType}},
	func(args []cty.Value) (cty.Value, error) {
		list := args[0]
		if ty := list.Type(); !ty.IsListType() && !ty.IsSetType() && !ty.IsTupleType() {
			return cty.NilVal, function.NewArgErrorf(0, "need a list, set or tuple of numbers")
		}
		if !list.IsWhollyKnown() {
			return cty.UnknownVal(cty.Number), nil
		}
		if list.LengthInt() == 0 {
			return cty.NilVal, function.NewArgErrorf(0, "an empty list has no sum")
		}
		sum := cty.Zero
		for _, element := range list.Elements() {
			number, err := convert.Convert(element, cty.Number)
			if err != nil || number.IsNull() {
				return cty.NilVal, function.NewArgErrorf(0, "every element must be a number")
			}
			if bounds.Huge(number) {
				return cty.NilVal, function.NewArgError(0, bounds.ErrHuge)
			}
			if opposedInfinities(sum, number) {
				return cty.NilVal, function.NewArgErrorf(0, "infinity and minus infinity have no sum")
			}
			if sum = sum.Add(number); bounds.Huge(sum) {
				return cty.NilVal, function.NewArgError(0, bounds.ErrHuge)
			}
		}
		return sum, nil
	})

func opposedInfinities(a, b cty.Value) bool {
	x, y := a.AsBigFloat(), b.AsBigFloat()
	return x.IsInf() && y.IsInf() && x.Signbit() != y.Signbit()
}
