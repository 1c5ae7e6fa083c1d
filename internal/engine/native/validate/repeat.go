// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package validate

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// repeat checks count and for_each.
func (m *moduleChecker) repeat(repeat module.Repeat, at place) {
	if repeat.Count != nil {
		if value, ok := m.eval(repeat.Count, at); ok {
			m.count(value, repeat.Count.Range())
		}
	}
	if repeat.ForEach != nil {
		if value, ok := m.eval(repeat.ForEach, at); ok {
			m.forEach(value, repeat.ForEach.Range())
		}
	}
}

func (m *moduleChecker) count(value cty.Value, at hcl.Range) {
	if marks.Has(value, marks.Ephemeral) {
		m.problem(at, "Invalid count argument", "The number of instances cannot depend on an ephemeral value.")
		return
	}
	value, _ = value.Unmark()
	number, err := convert.Convert(value, cty.Number)
	switch {
	case err != nil || number.IsNull():
		m.problem(at, "Invalid count argument", "The number of instances must be a number.")
	case !number.IsKnown():
	case !number.AsBigFloat().IsInt() || number.AsBigFloat().Sign() < 0:
		m.problem(at, "Invalid count argument", "The number of instances must be a whole number, zero or more.")
	}
}

func (m *moduleChecker) forEach(value cty.Value, at hcl.Range) {
	value, found := value.Unmark()
	for _, mark := range []any{marks.Sensitive, marks.Ephemeral} {
		if _, marked := found[mark]; marked {
			m.problem(at, "Invalid for_each argument", fmt.Sprintf("The keys of instances are shown to everybody, and cannot come from a collection that is %s.", mark))
			return
		}
	}
	ty := value.Type()
	switch {
	case value.IsNull():
		m.problem(at, "Invalid for_each argument", "The for_each argument is null. A map, or a set of strings, is required.")
	case ty == cty.DynamicPseudoType || ty.IsMapType() || ty.IsObjectType():
	case !ty.IsSetType():
		m.problem(at, "Invalid for_each argument", fmt.Sprintf("The for_each argument must be a map, or a set of strings. A %s is neither.", ty.FriendlyName()))
	case ty.ElementType() != cty.String && ty.ElementType() != cty.DynamicPseudoType && (!value.IsKnown() || value.LengthInt() > 0):
		m.problem(at, "Invalid for_each argument", fmt.Sprintf("The for_each argument is a set of %s. Sets must be of strings.", ty.ElementType().FriendlyName()))
	case hasNull(value):
		m.problem(at, "Invalid for_each argument", "The set has a null element. All elements must be strings.")
	}
}

func hasNull(set cty.Value) bool {
	if !set.IsKnown() {
		return false
	}
	for it := set.ElementIterator(); it.Next(); {
		if _, element := it.Element(); element.IsNull() {
			return true
		}
	}
	return false
}
