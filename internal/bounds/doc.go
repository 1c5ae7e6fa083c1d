// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package bounds limits the time and the memory that evaluating an expression takes.
//
// HCL evaluates any text: loops within loops, numbers of a billion digits, and values that each
// line doubles. There is an error instead, by these rules:
//
//  1. The value of an expression has at most [MaxText] bytes of text and [MaxParts] elements at all
//     depths. See [Evaluate].
//  2. All loops of one evaluation together go round at most 4 194 304 times, and the values they
//     make on the way have together at most twice the size of one value. They also end with the
//     context of the evaluation.
//  3. A number is not larger than 2 to the power of [MaxExponent], and none but zero is smaller
//     than its inverse.
//
// Loops and operators ask for that where they stand in the syntax tree: package safehcl calls
// [Prepare] for all that it parses. Package lang bounds the results of functions.
package bounds

import (
	"fmt"
	"math/big"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/failure"
)

// The limits of one value. A few lines that double a value each would take all memory of the
// machine, or make it small in memory, where parts are shared, and endless for code that walks it.
const (
	MaxText  = 128 << 20 // bytes of all strings, keys and numbers
	MaxParts = 4 << 20   // elements and attributes, at all depths
)

// MaxExponent is that of a number, as a power of 2, either way. Written out, such a number has some
// 20 000 digits.
const MaxExponent = 1 << 16

// remaining is the size that may yet be made.
type remaining struct{ text, parts int64 }

// take goes through a value until there is nothing left to take, and reports whether it came to the
// end.
func (r *remaining) take(value cty.Value) bool {
	value, _ = value.Unmark()
	ty := value.Type()
	switch {
	case !value.IsKnown() || value.IsNull():
	case ty == cty.String:
		r.text -= int64(len(value.AsString()))
	case ty == cty.Number:
		r.text -= digits(value.AsBigFloat())
	case value.CanIterateElements():
		// The types of tuples and objects may be small in memory and large as trees, as values may
		// be.
		r.parts -= int64(value.LengthInt())
		keyed := ty.IsMapType() || ty.IsObjectType()
		for elements := value.ElementIterator(); r.text >= 0 && r.parts >= 0 && elements.Next(); {
			key, element := elements.Element()
			if keyed {
				r.text -= int64(len(key.AsString()))
			}
			r.take(element)
		}
	}
	return r.text >= 0 && r.parts >= 0
}

// digits returns about how many digits a number has when it is written out.
func digits(number *big.Float) int64 {
	exponent := int64(number.MantExp(nil))
	return max(exponent, -exponent) * 3 / 10
}

// Huge reports whether a value is a number that breaks rule 3. Written out as a text, or added to
// another, it would take any memory.
func Huge(value cty.Value) bool {
	value, _ = value.Unmark()
	if value.Type() != cty.Number || !value.IsKnown() || value.IsNull() {
		return false
	}
	number := value.AsBigFloat()
	exponent := number.MantExp(nil)
	return !number.IsInf() && (exponent > MaxExponent || exponent < -MaxExponent)
}

// CheckNumbers returns an error if a value has a number in it that breaks rule 3.
func CheckNumbers(value cty.Value) error {
	if !hasNumbers(value.Type()) {
		return nil
	}
	value, _ = value.Unmark()
	if Huge(value) {
		return ErrHuge
	}
	if !value.IsKnown() || value.IsNull() || !value.CanIterateElements() {
		return nil
	}
	for elements := value.ElementIterator(); elements.Next(); {
		if _, element := elements.Element(); CheckNumbers(element) != nil {
			return ErrHuge
		}
	}
	return nil
}

// hasNumbers reports whether values of a type may have numbers in them.
func hasNumbers(ty cty.Type) bool {
	switch {
	case ty.IsPrimitiveType():
		return ty == cty.Number
	case ty.IsCollectionType():
		return hasNumbers(ty.ElementType())
	case ty.IsCapsuleType():
		// A reference to a provider configuration is one.
		return false
	}
	return true
}

// cannotGrow reports whether an expression is a literal, or stands for a part of another value.
func cannotGrow(expr hcl.Expression) bool {
	switch expr.(type) {
	case *hclsyntax.ScopeTraversalExpr, *hclsyntax.LiteralValueExpr:
		return true
	}
	return false
}

// Check reports a value that breaks rule 1, at a place.
func Check(value cty.Value, at hcl.Range) hcl.Diagnostics {
	limits := (*Allowance)(nil).limits().value
	if left := limits; !left.take(value) {
		return hcl.Diagnostics{tooLarge(left, limits, at)}
	}
	return nil
}

func tooLarge(left, limits remaining, at hcl.Range) *hcl.Diagnostic {
	detail := fmt.Sprintf("The value has more than %d elements at all depths, the most that a value may have.", limits.parts)
	if left.text < 0 {
		detail = fmt.Sprintf("The value has more than %d MiB of text, the most that a value may have.", limits.text>>20)
	}
	return failure.At(at, "Value too large", "%s Keep large content in files, and pass their names.", detail)
}
