// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package marks

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/ctymarks"
)

// A Mark is one annotation, usable as the argument of [cty.Value.Mark].
type Mark string

const (
	// Sensitive values are hidden from people: in rendered plans, in messages, in logs.
	Sensitive Mark = "sensitive"

	// Ephemeral values exist only while one operation runs and are never stored.
	Ephemeral Mark = "ephemeral"
)

// String returns the word for the mark that messages use.
func (m Mark) String() string { return string(m) }

// GoString returns the Go expression for the mark.
func (m Mark) GoString() string {
	switch m {
	case Sensitive:
		return "marks.Sensitive"
	case Ephemeral:
		return "marks.Ephemeral"
	}
	return "marks.Mark(" + string(m) + ")"
}

// Has reports whether v itself carries the mark. Marks on parts of v do not count.
func Has(v cty.Value, mark Mark) bool { return v.HasMark(mark) }

// Contains reports whether v or anything inside it carries the mark.
func Contains(v cty.Value, mark Mark) bool {
	if v == cty.NilVal {
		return false
	}
	return v.HasMarkDeep(mark)
}

// Hidden reports whether v or anything inside it is kept from people: it is sensitive or ephemeral.
// Other marks hide nothing.
func Hidden(v cty.Value) bool { return Contains(v, Sensitive) || Contains(v, Ephemeral) }

// Declared returns v with the marks that the declaration of a variable or an output asks for.
func Declared(v cty.Value, sensitive, ephemeral bool) cty.Value {
	if sensitive {
		v = v.Mark(Sensitive)
	}
	if ephemeral {
		v = v.Mark(Ephemeral)
	}
	return v
}

// Remove returns v with the mark taken off it and everything inside it. Other marks stay.
func Remove(v cty.Value, mark Mark) cty.Value {
	if !Contains(v, mark) {
		return v
	}
	return infallible(v.WrangleMarksDeep(func(found any, _ cty.Path) (ctymarks.WrangleAction, error) {
		if found == mark {
			return ctymarks.WrangleDrop, nil
		}
		return nil, nil
	}))
}

// infallible takes the results of a walk whose callback never fails.
func infallible(v cty.Value, err error) cty.Value {
	if err != nil {
		panic("marks: a walk that cannot fail has failed: " + err.Error())
	}
	return v
}

// RemoveShallow returns v with the mark taken off v itself. Marks inside v stay.
func RemoveShallow(v cty.Value, mark Mark) cty.Value {
	if !v.HasMark(mark) {
		return v
	}
	bare, others := v.Unmark()
	delete(others, mark)
	return bare.WithMarks(others)
}

// PushDown moves the marks of v itself onto its attributes or elements, so that v can be taken
// apart while rule M1 still holds for the parts.
//
// A value that has no parts to carry the marks keeps them: a primitive, a null, an unknown, a set,
// an empty collection.
func PushDown(v cty.Value) cty.Value {
	bare, own := v.Unmark()
	if len(own) == 0 || bare.IsNull() || !bare.IsKnown() || !bare.CanIterateElements() || bare.LengthInt() == 0 {
		return v
	}
	ty := bare.Type()
	switch {
	case ty.IsObjectType(), ty.IsMapType():
		parts := bare.AsValueMap()
		for name, part := range parts {
			parts[name] = part.WithMarks(own)
		}
		if ty.IsMapType() {
			return cty.MapVal(parts)
		}
		return cty.ObjectVal(parts)
	case ty.IsTupleType(), ty.IsListType():
		parts := bare.AsValueSlice()
		for i, part := range parts {
			parts[i] = part.WithMarks(own)
		}
		if ty.IsListType() {
			return cty.ListVal(parts)
		}
		return cty.TupleVal(parts)
	}
	return v
}
