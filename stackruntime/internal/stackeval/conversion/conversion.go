// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package conversion converts values that leave the evaluator: to variables of modules and stacks,
// to outputs, to providers.
package conversion

import (
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
	return converted, bounds.CheckFinite(converted)
}
