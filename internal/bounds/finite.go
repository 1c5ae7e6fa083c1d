// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package bounds

import "github.com/zclconf/go-cty/cty"

// CheckFinite fails for a value with an infinite number in it, as a division by zero gives. Such
// values have no place in plans and states.
//
// Errors: [cty.PathError].
func CheckFinite(value cty.Value) error {
	if !hasNumbers(value.Type()) {
		return nil
	}
	bare, _ := value.UnmarkDeep()
	return cty.Walk(bare, func(path cty.Path, part cty.Value) (bool, error) {
		if part.Type() == cty.Number && part.IsKnown() && !part.IsNull() && part.AsBigFloat().IsInf() {
			return false, path.NewErrorf("the number is infinite, maybe from a division by zero")
		}
		return hasNumbers(part.Type()), nil
	})
}
