// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"errors"
	"slices"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/internal/bounds"
)

// setOperation makes a function on sets from one of the library, which sorts every set again and
// again: to look for marks, to copy it, to combine it. The elements of a list are not sorted at all
// here, and those of a set only to get at them. Values that are marked, unknown or of types that
// only package convert can unite are left to the function of the library.
func setOperation(f function.Function, combine func(all cty.ValueSet, first, next []cty.Value)) function.Function {
	others := linearly(settled(f, true))
	anything := func(function.Parameter) bool { return true }
	return delegateTaking(f, anything, func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		sets, ty, ok := elementsOfOneType(args)
		if !ok {
			return others.Call(args)
		}
		all := cty.NewValueSet(ty)
		unite(all, nil, sets[0])
		for _, next := range sets[1:] {
			combine(all, sets[0], next)
		}
		return cty.SetValFromValueSet(all), nil
	})
}

// elementsOfOneType returns the elements of sets, lists and tuples, converted to one type, if all
// are known and without marks.
func elementsOfOneType(collections []cty.Value) (elements [][]cty.Value, common cty.Type, ok bool) {
	// The results must be those of the library, which does more than combine elements: marks make the
	// result marked, unknown elements make its length unknown, and types are united by conversions
	// that may change elements. All that is left to it.
	var types []cty.Type
	for _, collection := range collections {
		if collection.IsMarked() || !collection.IsKnown() || collection.IsNull() {
			return nil, cty.NilType, false
		}
		var own cty.Type
		switch ty := collection.Type(); {
		case ty.IsListType() || ty.IsSetType():
			own = ty.ElementType()
		case ty.IsTupleType() && ty.Length() == 0:
			continue // is a set of any type
		case ty.IsTupleType():
			own = commonType(slices.Values(ty.TupleElementTypes()))
		default:
			return nil, cty.NilType, false
		}
		types = append(types, own)
	}
	common = commonType(slices.Values(types))
	if common.HasDynamicTypes() {
		return nil, cty.NilType, false
	}
	elements = make([][]cty.Value, len(collections))
	for i, collection := range collections {
		elements[i] = collection.AsValueSlice()
		for j, element := range elements[i] {
			if element.ContainsMarked() || !element.IsWhollyKnown() {
				return nil, cty.NilType, false
			}
			converted, err := bounds.Convert(element, common)
			if err != nil || !converted.Type().Equals(common) {
				return nil, cty.NilType, false
			}
			elements[i][j] = converted
		}
	}
	return elements, common, true
}

func unite(all cty.ValueSet, _, next []cty.Value) {
	for _, element := range next {
		all.Add(element)
	}
}

func subtract(all cty.ValueSet, _, next []cty.Value) {
	for _, element := range next {
		all.Remove(element)
	}
}

func intersect(all cty.ValueSet, first, next []cty.Value) {
	both := cty.NewValueSet(all.ElementType())
	unite(both, nil, next)
	for _, element := range first {
		if !both.Has(element) {
			all.Remove(element)
		}
	}
}

// settled makes a function on collections from one of the library that fails on collections of
// which some elements have no type yet, as null and wholly unknown values have none. With it, they
// are of the type of the other elements.
//
// join is set for functions that make one collection of all arguments, whose elements then are of
// one type.
func settled(f function.Function, join bool) function.Function {
	return delegate(f, func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		bare, own, unsettled := unsettledArguments(args)
		if !unsettled {
			return f.Call(args)
		}
		if join {
			if err := settle(bare); err != nil {
				return cty.NilVal, err
			}
		} else {
			for i := range bare {
				if err := settle(bare[i : i+1]); err != nil {
					return cty.NilVal, function.NewArgError(i, err)
				}
			}
		}
		result, err := f.Call(bare)
		if err != nil {
			return cty.NilVal, err
		}
		return result.WithMarks(own...), nil
	})
}

// unsettledArguments returns the arguments and their marks apart, if all of them can be gone
// through and any has an element without a type.
func unsettledArguments(args []cty.Value) (bare []cty.Value, own []cty.ValueMarks, unsettled bool) {
	for _, arg := range args {
		unsettled = unsettled || arg.Type().HasDynamicTypes()
	}
	if !unsettled {
		return nil, nil, false
	}
	bare = make([]cty.Value, len(args))
	own = make([]cty.ValueMarks, len(args))
	for i, arg := range args {
		bare[i], own[i] = arg.UnmarkDeep()
		if !bare[i].IsKnown() || bare[i].IsNull() || !bare[i].CanIterateElements() || bare[i].Type().IsObjectType() {
			return nil, nil, false // the function reports an error, or an unknown result
		}
	}
	return bare, own, true
}

var errNoOneType = errors.New("the elements must be of one type, or of types that convert to one")

// settle gives the elements of all collections one type, in place.
func settle(collections []cty.Value) error {
	var types, partly []cty.Type // the latter as of an empty list in an element
	add := func(ty cty.Type) {
		switch {
		case ty == cty.DynamicPseudoType:
		case ty.HasDynamicTypes():
			partly = append(partly, ty)
		case len(types) == 0 || !types[len(types)-1].Equals(ty):
			types = append(types, ty)
		}
	}
	for _, collection := range collections {
		if collection.Type().IsCollectionType() {
			add(collection.Type().ElementType())
		}
		for _, element := range collection.Elements() {
			add(element.Type())
		}
	}
	if len(types) == 0 {
		types = partly
	}
	if len(types) == 0 {
		return nil // nothing has a type
	}
	common, _ := convert.UnifyUnsafe(types)
	if common == cty.NilType {
		return errNoOneType
	}
	for i, collection := range collections {
		elements := make([]cty.Value, 0, collection.LengthInt())
		for _, element := range collection.Elements() {
			element, err := settleElement(element, common)
			if err != nil {
				return err
			}
			elements = append(elements, element)
		}
		collections[i] = collectionOf(elements, common, collection.Type().IsSetType())
	}
	return nil
}

func settleElement(element cty.Value, ty cty.Type) (cty.Value, error) {
	switch {
	case element.IsNull():
		return cty.NullVal(ty), nil
	case !element.IsKnown() && element.Type() == cty.DynamicPseudoType:
		return cty.UnknownVal(ty), nil
	case !element.Type().Equals(ty):
		converted, err := convert.Convert(element, ty)
		switch {
		case err != nil:
			return cty.NilVal, errNoOneType
		case converted.Type().Equals(ty):
			return converted, nil
		case ty.IsCollectionType() && converted.IsKnown() && converted.LengthInt() == 0: // may keep a type that is not known
			return emptyOf(ty), nil
		}
		return cty.NilVal, errNoOneType
	}
	return element, nil
}

func emptyOf(ty cty.Type) cty.Value {
	switch {
	case ty.IsListType():
		return cty.ListValEmpty(ty.ElementType())
	case ty.IsSetType():
		return cty.SetValEmpty(ty.ElementType())
	}
	return cty.MapValEmpty(ty.ElementType())
}

func collectionOf(elements []cty.Value, ty cty.Type, isSet bool) cty.Value {
	switch {
	case isSet && len(elements) > 0:
		return cty.SetVal(elements)
	case isSet:
		return cty.SetValEmpty(ty)
	case len(elements) > 0:
		return cty.ListVal(elements)
	}
	return cty.ListValEmpty(ty)
}

// settledLists is for concat of lists; of tuples, it makes a tuple.
func settledLists(f function.Function) function.Function {
	ofLists := settled(f, true)
	return delegate(f, func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		if slices.ContainsFunc(args, func(arg cty.Value) bool { return !arg.Type().IsListType() }) {
			return f.Call(args)
		}
		return ofLists.Call(args)
	})
}
