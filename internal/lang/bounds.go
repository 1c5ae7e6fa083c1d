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

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/internal/bounds"
)

var (
	errTooMuchText  = fmt.Errorf("the result would have more than %d MiB of text, the most that a value may have", bounds.MaxText>>20)
	errTooManyParts = fmt.Errorf("the result would have more than %d elements, the most that a value may have", bounds.MaxParts)
)

// product multiplies numbers that are not negative, and stays above every limit once it is.
func product(a, b int) int {
	if a > 0 && b > bounds.MaxText/a {
		return bounds.MaxText + 1
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
		if bounds.Huge(arg) {
			return function.NewArgError(i, bounds.ErrHuge)
		}
	}
	return nil
}

// boundResult makes a function that is like another but has no result with numbers that are too
// large.
func boundResult(f function.Function) function.Function {
	return delegate(f, func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		result, err := f.Call(args)
		if err == nil {
			err = bounds.CheckNumbers(result)
		}
		return result, err
	})
}

var formatWidths = regexp.MustCompile(`%[^%a-zA-Z]*?(\d+)?(?:\.(\d+))?(?:\[\d+\])?[a-zA-Z]`)

// boundFormat adds the widths and the precisions in a format, for each result that there is going
// to be.
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
			if err != nil || count > bounds.MaxText {
				return function.NewArgErrorf(0, "%w", errTooMuchText)
			}
			total += count
			if product(results, total) > bounds.MaxText {
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
	if accuracy == big.Exact && (spaces > bounds.MaxText || product(int(spaces), lines) > bounds.MaxText) {
		return function.NewArgErrorf(0, "%w", errTooMuchText)
	}
	return nil
}

func boundReplace(args []cty.Value) error {
	text, search, replacement := args[0].AsString(), args[1].AsString(), args[2].AsString()
	if !isPattern(search) && product(strings.Count(text, search), len(replacement)) > bounds.MaxText {
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
			if total > bounds.MaxText || product(count, separator) > bounds.MaxText {
				return errTooMuchText
			}
		}
	}
	return nil
}

func boundSplit(args []cty.Value) error {
	if strings.Count(args[1].AsString(), args[0].AsString()) > bounds.MaxParts {
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
	if product(tuples, len(args)+1) > bounds.MaxParts {
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
	if total > bounds.MaxParts {
		return errTooManyParts
	}
	return nil
}
