// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// What a value may have in it. A few lines that double a value each would take all memory of the machine, or make it
// small in memory, where parts are shared, and endless for whoever goes through it.
const (
	maxText  = 128 << 20 // bytes of all strings, keys and numbers
	maxParts = 4 << 20   // elements and attributes, at all depths
)

// maxExponent is that of a number, as a power of 2, either way. Written out, such a number has some 20 000 digits.
const maxExponent = 1 << 16

var (
	errTooMuchText  = fmt.Errorf("the result would have more than %d MiB of text, the most that a value may have", maxText>>20)
	errTooManyParts = fmt.Errorf("the result would have more than %d elements, the most that a value may have", maxParts)
)

// Bounded reports an expression whose value is larger than values may be. Ask it of whatever gives a value a name, by which
// the next expression can multiply it; within one expression, a value grows no more than its text does.
func Bounded(value cty.Value, expr hcl.Expression) hcl.Diagnostics {
	if cannotGrow(expr) {
		return nil
	}
	left := remaining{text: maxText, parts: maxParts}
	if left.take(value) {
		return nil
	}
	detail := fmt.Sprintf("The value has more than %d elements at all depths, the most that a value may have.", maxParts)
	if left.text < 0 {
		detail = fmt.Sprintf("The value has more than %d MiB of text, the most that a value may have.", maxText>>20)
	}
	return hcl.Diagnostics{{
		Severity: hcl.DiagError,
		Summary:  "Value too large",
		Detail:   detail + " Keep large content in files, and pass their names.",
		Subject:  expr.Range().Ptr(),
	}}
}

// cannotGrow reports whether the value of an expression is what stands there, or is a part of another value.
func cannotGrow(expr hcl.Expression) bool {
	switch expr.(type) {
	case *hclsyntax.ScopeTraversalExpr, *hclsyntax.LiteralValueExpr:
		return true
	}
	return false
}

// remaining is what a value may yet have.
type remaining struct{ text, parts int64 }

// take goes through a value until there is nothing left to take, and reports whether it came to the end.
func (r *remaining) take(value cty.Value) bool {
	value, _ = value.Unmark()
	ty := value.Type()
	switch {
	case !value.IsKnown() || value.IsNull():
	case ty == cty.String:
		r.text -= int64(len(value.AsString()))
	case ty == cty.Number:
		r.text -= int64(digits(value.AsBigFloat()))
	case value.CanIterateElements():
		// The types of tuples and objects may be small in memory and large as trees, as values may be.
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
func digits(number *big.Float) int {
	exponent := number.MantExp(nil)
	return max(exponent, -exponent) * 3 / 10
}

// product multiplies what is not negative, and stays above every limit once it is.
func product(a, b int) int {
	if a > 0 && b > maxText/a {
		return maxText + 1
	}
	return a * b
}

func boundNumbers(args []cty.Value) error {
	for i, arg := range args {
		if arg.Type() == cty.String && len(arg.AsString()) < 1000 {
			number, err := cty.ParseNumberVal(arg.AsString())
			if err != nil {
				continue
			}
			arg = number
		}
		if arg.Type() != cty.Number {
			continue
		}
		if number := arg.AsBigFloat(); !number.IsInf() && number.Sign() != 0 && digits(number) > maxExponent*3/10 {
			return function.NewArgErrorf(i, "the number has too many digits when it is written out")
		}
	}
	return nil
}

var formatWidths = regexp.MustCompile(`%[^%a-zA-Z]*?(\d+)?(?:\.(\d+))?(?:\[\d+\])?[a-zA-Z]`)

// boundFormat adds the widths and the precisions in a format, for each result that there is going to be.
func boundFormat(args []cty.Value) error {
	if len(args) == 0 || args[0].Type() != cty.String {
		return nil
	}
	if err := boundNumbers(args[1:]); err != nil {
		return errors.New("a number has too many digits when it is written out")
	}
	results, total := 1, len(args[0].AsString())
	for _, arg := range args[1:] {
		if ty := arg.Type(); ty.IsListType() || ty.IsSetType() || ty.IsTupleType() {
			results = max(results, lengthOf(arg))
		}
	}
	for _, widths := range formatWidths.FindAllStringSubmatch(args[0].AsString(), -1) {
		for _, width := range widths[1:] {
			if width == "" {
				continue
			}
			count, err := strconv.Atoi(width)
			if err != nil || count > maxText {
				return function.NewArgErrorf(0, "%w", errTooMuchText)
			}
			total += count
			if product(results, total) > maxText {
				return function.NewArgErrorf(0, "%w", errTooMuchText)
			}
		}
	}
	return nil
}

func lengthOf(value cty.Value) int {
	if length := value.Length(); !length.IsKnown() {
		return 0
	}
	return value.LengthInt()
}

func boundIndent(args []cty.Value) error {
	spaces, accuracy := args[0].AsBigFloat().Int64()
	if spaces < 0 {
		return function.NewArgErrorf(0, "need a number of spaces, which cannot be negative")
	}
	lines := strings.Count(args[1].AsString(), "\n")
	if accuracy == big.Exact && (spaces > maxText || product(int(spaces), lines) > maxText) {
		return function.NewArgErrorf(0, "%w", errTooMuchText)
	}
	return nil
}

func boundReplace(args []cty.Value) error {
	text, search, replacement := args[0].AsString(), args[1].AsString(), args[2].AsString()
	if !isPattern(search) && product(strings.Count(text, search), len(replacement)) > maxText {
		return function.NewArgErrorf(2, "%w", errTooMuchText)
	}
	return nil
}

func boundJoin(args []cty.Value) error {
	separator, total, count := len(args[0].AsString()), 0, 0
	for _, list := range args[1:] {
		if !list.Type().IsListType() {
			continue
		}
		for _, element := range list.Elements() {
			element, _ = element.Unmark()
			count++
			if element.Type() == cty.String && element.IsKnown() && !element.IsNull() {
				total += len(element.AsString())
			}
			if total > maxText || product(count, separator) > maxText {
				return errTooMuchText
			}
		}
	}
	return nil
}

func boundSplit(args []cty.Value) error {
	if strings.Count(args[1].AsString(), args[0].AsString()) > maxParts {
		return errTooManyParts
	}
	return nil
}

func boundProduct(args []cty.Value) error {
	tuples := 1
	for _, arg := range args {
		if !arg.CanIterateElements() {
			return nil // a mistake that the function reports
		}
		tuples = product(tuples, lengthOf(arg))
	}
	if product(tuples, len(args)+1) > maxParts {
		return errTooManyParts
	}
	return nil
}

func boundConcat(args []cty.Value) error {
	total := 0
	for _, arg := range args {
		if arg.CanIterateElements() {
			total += lengthOf(arg)
		}
	}
	if total > maxParts {
		return errTooManyParts
	}
	return nil
}
