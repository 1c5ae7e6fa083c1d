// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/ctymarks"

	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// convertFinite converts a value that leaves the evaluator. Infinite numbers, which division by zero
// gives, have no place in engines, plans and states.
func convertFinite(value cty.Value, ty cty.Type) (cty.Value, error) {
	converted, err := convert.Convert(value, ty)
	if err != nil {
		return cty.NilVal, err
	}
	return converted, checkFinite(converted)
}

// checkFinite fails for a value with an infinite number in it.
//
// Errors: [cty.PathError].
func checkFinite(value cty.Value) error {
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

// describeError returns the message of a conversion error with the path it is
// about, as in "attribute tags[0]: string required".
func describeError(err error) string {
	pathErr, ok := errors.AsType[cty.PathError](err)
	if !ok || len(pathErr.Path) == 0 {
		return err.Error()
	}
	return describePath(pathErr.Path) + ": " + err.Error()
}

// describeErrorOf is like describeError for the conversion of a value, of which it tells no keys if they may be secret.
func describeErrorOf(value cty.Value, err error) string {
	text := describeError(err)
	secret := marks.Contains(value, marks.Sensitive) || marks.Contains(value, marks.Ephemeral)
	if secret && strings.Contains(text, `"`) {
		return "a part of it has the wrong type; which one is not shown, because the value is sensitive or ephemeral"
	}
	return text
}

// describePath writes a path as users would: attr.list[0]["key"].
func describePath(path cty.Path) string {
	var b strings.Builder
	for i, step := range path {
		switch step := step.(type) {
		case cty.GetAttrStep:
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(step.Name)
		case cty.IndexStep:
			key, _ := step.Key.Unmark()
			switch {
			case !key.IsKnown() || key.IsNull():
				b.WriteString("[...]")
			case key.Type() == cty.String:
				b.WriteString("[" + strconv.Quote(key.AsString()) + "]")
			case key.Type() == cty.Number:
				b.WriteString("[" + key.AsBigFloat().Text('f', -1) + "]")
			default:
				b.WriteString("[...]")
			}
		}
	}
	return b.String()
}

// withoutFailed takes the mark of placeholders off, for values that leave the evaluator.
func withoutFailed(v cty.Value) cty.Value {
	if !expr.IsFailed(v) {
		return v
	}
	bare, err := v.WrangleMarksDeep(func(mark any, _ cty.Path) (ctymarks.WrangleAction, error) {
		if mark == expr.Failed {
			return ctymarks.WrangleDrop, nil
		}
		return nil, nil
	})
	if err != nil {
		panic(err) // the function above never returns one
	}
	return bare
}
