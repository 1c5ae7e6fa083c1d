// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package conversion converts values that leave the evaluator: to variables of modules and stacks,
// to outputs, to providers.
package conversion

import (
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/bounds"
)

// Convert converts a value to a type. Infinite numbers, which division by zero
// gives, have no place in engines, plans and states.
func Convert(value cty.Value, ty cty.Type) (cty.Value, error) {
	converted, err := bounds.Convert(value, ty)
	if err != nil {
		return cty.NilVal, err
	}
	return converted, CheckFinite(converted)
}

// CheckFinite fails for a value with an infinite number in it.
//
// Errors: [cty.PathError].
func CheckFinite(value cty.Value) error {
	if !holdsNumbers(value.Type()) {
		return nil
	}
	bare, _ := value.UnmarkDeep()
	return cty.Walk(bare, func(path cty.Path, part cty.Value) (bool, error) {
		if part.Type() == cty.Number && part.IsKnown() && !part.IsNull() && part.AsBigFloat().IsInf() {
			return false, path.NewErrorf("the number is infinite, maybe from a division by zero")
		}
		return true, nil
	})
}

func holdsNumbers(ty cty.Type) bool {
	switch {
	case ty == cty.Number:
		return true
	case ty.IsCollectionType():
		return holdsNumbers(ty.ElementType())
	case ty.IsTupleType():
		return slices.ContainsFunc(ty.TupleElementTypes(), holdsNumbers)
	case ty.IsObjectType():
		return slices.ContainsFunc(slices.Collect(maps.Values(ty.AttributeTypes())), holdsNumbers)
	default:
		return false
	}
}
