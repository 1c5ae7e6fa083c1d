// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/internal/bounds"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// conversionFunction makes the function that converts its argument to the type, or to any type that
// conforms to it if it has dynamic parts. Null becomes the null of the type.
func conversionFunction(want cty.Type) function.Function {
	return function.New(&function.Spec{
		Description: "Converts a value to " + want.FriendlyName() + ".",
		Params:      []function.Parameter{anyValue("v")},
		Type: func(args []cty.Value) (cty.Type, error) {
			got := args[0].Type()
			if got.Equals(want) {
				return want, nil
			}
			if convert.GetConversionUnsafe(got, elementwise(got, want)) == nil {
				return cty.NilType, conversionError(args[0], want)
			}
			return want, nil
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if bare, own := args[0].Unmark(); !bare.IsKnown() {
				return cty.UnknownVal(want).WithMarks(own), nil // no more is known of it in terraform
			}
			want := elementwise(args[0].Type(), want)
			converted, err := bounds.Convert(args[0], want)
			if err != nil {
				return cty.NilVal, conversionError(args[0], want)
			}
			return converted, nil
		},
	})
}

// elementwise returns the type that converting to a collection of anything leads to, if all
// elements of a tuple or object have one type. Package convert compares each two of them to find
// that, which takes minutes where a for expression has made a hundred thousand. Otherwise it
// returns the type as it is.
func elementwise(got, want cty.Type) cty.Type {
	if !want.IsCollectionType() || want.ElementType() != cty.DynamicPseudoType {
		return want
	}
	element := cty.DynamicPseudoType
	switch {
	case got.IsTupleType() && !want.IsMapType():
		element = commonType(slices.Values(got.TupleElementTypes()))
	case got.IsObjectType() && want.IsMapType():
		element = commonType(maps.Values(got.AttributeTypes()))
	}
	switch {
	case element.HasDynamicTypes():
		return want
	case want.IsListType():
		return cty.List(element)
	case want.IsSetType():
		return cty.Set(element)
	default:
		return cty.Map(element)
	}
}

// linearly makes a function of the libraries convert its arguments in linear time, which HCL does
// by package convert for others.
func linearly(f function.Function) function.Function {
	collects := func(param function.Parameter) bool {
		return param.Type.IsListType() || param.Type.IsMapType() || param.Type.IsSetType()
	}
	params := parametersOf(f)
	if !params.any(collects) {
		return f
	}
	return delegateTaking(f, collects, func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		args = slices.Clone(args)
		for i := range args {
			converted, err := bounds.Convert(args[i], elementwise(args[i].Type(), params.at(i).Type))
			if err != nil {
				return cty.NilVal, function.NewArgError(i, err)
			}
			args[i] = converted
		}
		return f.Call(args)
	})
}

// commonType returns the type that all of some types are or that strings, numbers and booleans
// become together. The dynamic one stands for none, and for those that package convert is to find.
func commonType(types iter.Seq[cty.Type]) cty.Type {
	var kinds []cty.Type // in the order in which package convert tries them
	for ty := range types {
		if len(kinds) > 0 && !ty.IsPrimitiveType() && !ty.Equals(kinds[0]) {
			return cty.DynamicPseudoType
		}
		if !slices.ContainsFunc(kinds, ty.Equals) {
			kinds = append(kinds, ty)
		}
	}
	switch {
	case len(kinds) == 0:
		return cty.DynamicPseudoType
	case len(kinds) == 1:
		return kinds[0]
	case !kinds[0].IsPrimitiveType():
		return cty.DynamicPseudoType
	}
	common, _ := convert.UnifyUnsafe(kinds)
	if common == cty.NilType {
		return cty.DynamicPseudoType
	}
	return common
}

func conversionError(value cty.Value, want cty.Type) error {
	from, to := value.Type(), want.FriendlyNameForConstraint()
	bare, _ := value.Unmark()
	switch {
	case marks.Hidden(value):
		return function.NewArgErrorf(0, "cannot convert this %s to %s; the value is hidden because it is sensitive or ephemeral",
			from.FriendlyName(), to)
	case want.HasDynamicTypes() && (from.IsObjectType() || from.IsTupleType()):
		return function.NewArgErrorf(0, "cannot convert %s to %s: there is no one type for all its parts", from.FriendlyName(), to)
	case from == cty.String && bare.IsKnown() && !bare.IsNull():
		text := quoted(bare.AsString(), nil)
		switch {
		case want == cty.Number:
			return function.NewArgErrorf(0, "cannot convert %s to number: only a decimal number in a string can be converted", text)
		case want == cty.Bool && strings.EqualFold(bare.AsString(), "true"), want == cty.Bool && strings.EqualFold(bare.AsString(), "false"):
			return function.NewArgErrorf(0, "cannot convert %s to bool: write it in lower case", text)
		case want == cty.Bool:
			return function.NewArgErrorf(0, `cannot convert %s to bool: only "true" and "false" can be converted`, text)
		}
	}
	return function.NewArgErrorf(0, "cannot convert %s to %s", from.FriendlyName(), to)
}
