// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package bounds

import "github.com/zclconf/go-cty/cty"

// CheckFinite fails for a value with an infinite number in it, as a division by zero gives. Such
// values have no place in plans and states.
//
// Errors: [cty.PathError].
func CheckFinite(value cty.Value) error {
	if !hasInfinite(value) {
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

// hasInfinite reports whether there is such a number. Each value is looked through, and hardly any
// has one: a walk with paths, of a copy without marks, is for those alone.
func hasInfinite(value cty.Value) bool {
	if value.IsMarked() {
		value, _ = value.Unmark()
	}
	typ := value.Type()
	switch {
	case !hasNumbers(typ) || value.IsNull() || !value.IsKnown():
		return false
	case typ == cty.Number:
		return value.AsBigFloat().IsInf()
	case typ.IsObjectType():
		for name := range typ.AttributeTypes() {
			if hasInfinite(value.GetAttr(name)) {
				return true
			}
		}
		return false
	}
	for it := value.ElementIterator(); it.Next(); {
		if _, element := it.Element(); hasInfinite(element) {
			return true
		}
	}
	return false
}
