// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"math"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// A requirement is one on the arguments of a function that the function itself does not check: it
// would panic, or make a result that is far larger than its arguments. The arguments are known, not
// null and without marks; of other calls, nothing is required.
type requirement func(args []cty.Value) error

var requirements = map[string]requirement{
	"concat":     boundConcat,
	"format":     boundFormat,
	"formatlist": boundFormat,
	"indent":     boundIndent,
	"join":       boundJoin,
	"log":        requireLogarithm,
	"pow":        requirePower,
	"replace":    boundReplace,
	"setproduct": boundProduct,
	"split":      boundSplit,
	"tonumber":   boundNumbers,
	"tostring":   boundNumbers,
	"zipmap":     requireKeys,
}

// requireAll puts the requirements before their functions.
func requireAll(table map[string]function.Function) map[string]function.Function {
	for name, f := range table {
		check := requirements[name]
		switch {
		case check == nil && takesNumbers(f):
			check = boundNumbers
		case check == nil:
			continue
		}
		table[name] = delegate(f, func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if bare, ok := bareArguments(args); ok {
				if err := check(bare); err != nil {
					return cty.NilVal, err
				}
			}
			return f.Call(args)
		})
	}
	return table
}

// takesNumbers reports whether texts among the arguments become numbers. Literals and operators
// have bounds of their own.
func takesNumbers(f function.Function) bool {
	return parametersOf(f).any(func(param function.Parameter) bool { return param.Type == cty.Number })
}

func bareArguments(args []cty.Value) ([]cty.Value, bool) {
	bare := make([]cty.Value, len(args))
	for i, arg := range args {
		bare[i], _ = arg.Unmark()
		if !bare[i].IsKnown() || bare[i].IsNull() {
			return nil, false
		}
	}
	return bare, true
}

// requirePower keeps numbers away that have no real power; the library would make a number of NaN.
func requirePower(args []cty.Value) error {
	base, _ := args[0].AsBigFloat().Float64()
	exponent, _ := args[1].AsBigFloat().Float64()
	if math.IsNaN(math.Pow(base, exponent)) {
		return function.NewArgErrorf(1, "a negative number has a power only with a whole exponent")
	}
	return nil
}

func requireLogarithm(args []cty.Value) error {
	number, _ := args[0].AsBigFloat().Float64()
	base, _ := args[1].AsBigFloat().Float64()
	switch {
	case number < 0:
		return function.NewArgErrorf(0, "a negative number has no logarithm")
	case base < 0:
		return function.NewArgErrorf(1, "the base of a logarithm cannot be negative")
	case math.IsNaN(math.Log(number) / math.Log(base)):
		return function.NewArgErrorf(1, "the number has no logarithm of this base")
	}
	return nil
}

func requireKeys(args []cty.Value) error {
	for _, key := range args[0].Elements() {
		if key, _ = key.Unmark(); key.IsNull() {
			return function.NewArgErrorf(0, "a key is null, but every key must be a string")
		}
	}
	return nil
}

// onlyMaps is for merge of the library, which takes the type of null for one that it is going to
// know, and then goes through all its other arguments.
func onlyMaps(f function.Function) function.Function {
	return delegate(f, func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		for i, arg := range args {
			if ty := arg.Type(); ty != cty.DynamicPseudoType && !ty.IsMapType() && !ty.IsObjectType() {
				return cty.NilVal, function.NewArgErrorf(i, "need maps or objects, not %s", ty.FriendlyName())
			}
		}
		return f.Call(args)
	})
}
