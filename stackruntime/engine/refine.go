// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package engine

import "github.com/zclconf/go-cty/cty"

// CheckRefines checks that a final value is a refinement of a planned one, with values in place of
// unknown ones (rule E2). The messages show no values, and marks don't matter.
//
// Errors: [cty.PathError], whose path may have keys of maps.
func CheckRefines(planned, final cty.Value) error {
	planned, _ = planned.UnmarkDeep()
	final, _ = final.UnmarkDeep()
	return checkRefines(planned, final, nil)
}

func checkRefines(planned, final cty.Value, path cty.Path) error {
	if !planned.IsKnown() {
		if known := planned.Range().Includes(final); known.IsKnown() && known.False() {
			return path.NewErrorf("the value contradicts the knowledge of the plan about it")
		}
		return nil
	}
	if planned.IsWhollyKnown() {
		if !planned.RawEquals(final) {
			return path.NewErrorf("the value is not the planned one")
		}
		return nil
	}
	if !final.IsKnown() || final.IsNull() {
		return path.NewErrorf("the value is not the planned one")
	}
	if planned.Type().IsSetType() && final.Type().IsSetType() {
		return checkSet(planned, final, path)
	}
	if !final.CanIterateElements() || final.LengthInt() != planned.LengthInt() {
		return path.NewErrorf("the value doesn't have the planned elements")
	}
	for it := planned.ElementIterator(); it.Next(); {
		key, part := it.Element()
		finalPart, step, err := element(final, key, path)
		if err != nil {
			return err
		}
		if err := checkRefines(part, finalPart, append(path, step)); err != nil {
			return err
		}
	}
	return nil
}

// checkSet is checkRefines for sets with something unknown in them. Which elements stand for the
// unknown ones can't be told, and two of them may turn out to be one.
func checkSet(planned, final cty.Value, path cty.Path) error {
	if final.LengthInt() > planned.LengthInt() {
		return path.NewErrorf("the value doesn't have the planned elements")
	}
	for it := planned.ElementIterator(); it.Next(); {
		_, part := it.Element()
		if has := final.HasElement(part); part.IsWhollyKnown() && has.IsKnown() && has.False() {
			return path.NewErrorf("the value doesn't have the planned elements")
		}
	}
	return nil
}

// element returns the element of a final value that has the key of a planned one, and the step that
// leads there.
func element(value, key cty.Value, path cty.Path) (cty.Value, cty.PathStep, error) {
	ty := value.Type()
	if ty.IsObjectType() {
		name := key.AsString()
		if !ty.HasAttribute(name) {
			return cty.NilVal, nil, path.NewErrorf("the value has no attribute %q any more", name)
		}
		return value.GetAttr(name), cty.GetAttrStep{Name: name}, nil
	}
	if ty.IsSetType() || value.HasIndex(key).False() {
		return cty.NilVal, nil, path.NewErrorf("the value doesn't have the planned elements")
	}
	return value.Index(key), cty.IndexStep{Key: key}, nil
}
