// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package engine

import (
	"errors"
	"fmt"

	"github.com/zclconf/go-cty/cty"
)

// CheckRefines checks that a final value is what a planned one can become by filling in what was
// unknown (rule E2). The messages show no values, and marks don't matter.
func CheckRefines(planned, final cty.Value) error {
	planned, _ = planned.UnmarkDeep()
	final, _ = final.UnmarkDeep()
	return checkRefines(planned, final)
}

func checkRefines(planned, final cty.Value) error {
	if !planned.IsKnown() {
		if known := planned.Range().Includes(final); known.IsKnown() && known.False() {
			return errors.New("the value contradicts what the plan knows of it")
		}
		return nil
	}
	if planned.IsWhollyKnown() {
		if !planned.RawEquals(final) {
			return errors.New("the value is not the planned one")
		}
		return nil
	}
	ty := planned.Type()
	if !final.IsKnown() || final.IsNull() {
		return errors.New("the value is not the planned one")
	}
	if ty.IsSetType() {
		return nil // which elements stand for the unknown ones can't be told
	}
	if !final.CanIterateElements() || final.LengthInt() != planned.LengthInt() {
		return errors.New("the value doesn't have the planned elements")
	}
	for it := planned.ElementIterator(); it.Next(); {
		key, part := it.Element()
		finalPart, err := element(final, key)
		if err != nil {
			return err
		}
		if err := checkRefines(part, finalPart); err != nil {
			return err
		}
	}
	return nil
}

func element(value, key cty.Value) (cty.Value, error) {
	ty := value.Type()
	if ty.IsObjectType() {
		if name := key.AsString(); ty.HasAttribute(name) {
			return value.GetAttr(name), nil
		}
		return cty.NilVal, fmt.Errorf("the value has no attribute %q any more", key.AsString())
	}
	if ty.IsSetType() || value.HasIndex(key).False() {
		return cty.NilVal, errors.New("the value doesn't have the planned elements")
	}
	return value.Index(key), nil
}
