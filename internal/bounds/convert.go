// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package bounds

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// Convert is [convert.Convert] in time that is linear in the elements. A text does not become a
// number that breaks rule 3.
func Convert(value cty.Value, ty cty.Type) (cty.Value, error) {
	converted, ok := eachConverted(value, ty)
	if !ok {
		var err error
		if converted, err = convert.Convert(value, ty); err != nil {
			return converted, err
		}
	}
	if !converted.Type().Equals(value.Type()) {
		return converted, CheckNumbers(converted)
	}
	return converted, nil
}

// fewElements are converted by package convert: comparing each two of them takes no time.
const fewElements = 32

// eachConverted converts the elements of the result of a for expression, if they become a list or a
// map. Package convert compares the types of each two of them in the end. Without ok it cannot, or
// there is an error, which package convert is to find.
func eachConverted(value cty.Value, ty cty.Type) (converted cty.Value, ok bool) {
	bare, own := value.Unmark()
	if !bare.IsKnown() || bare.IsNull() || ty.HasDynamicTypes() {
		return cty.NilVal, false
	}
	from := bare.Type()
	switch {
	case ty.IsListType() && from.IsTupleType() && from.Length() > fewElements:
		elements := bare.AsValueSlice()
		for i := range elements {
			var err error
			if elements[i], err = Convert(elements[i], ty.ElementType()); err != nil {
				return cty.NilVal, false
			}
		}
		// cty.ListVal panics where elements have different types; package convert returns an error.
		if !cty.CanListVal(elements) {
			return cty.NilVal, false
		}
		return cty.ListVal(elements).WithMarks(own), true
	case ty.IsMapType() && from.IsObjectType() && len(from.AttributeTypes()) > fewElements:
		elements := bare.AsValueMap()
		for name := range elements {
			var err error
			if elements[name], err = Convert(elements[name], ty.ElementType()); err != nil {
				return cty.NilVal, false
			}
		}
		if !cty.CanMapVal(elements) {
			return cty.NilVal, false
		}
		return cty.MapVal(elements).WithMarks(own), true
	}
	return cty.NilVal, false
}
