// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"slices"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

func isSequence(ty cty.Type) bool { return ty.IsListType() || ty.IsTupleType() }

// Strings count in characters as people see them. Of a value with unknown parts the length may
// still be known; the marks of the parts say nothing about it.
var lengthFunction = function.New(&function.Spec{
	Description: "Returns the number of elements, attributes or characters.",
	Params: []function.Parameter{{
		Name:             "value",
		Type:             cty.DynamicPseudoType,
		AllowDynamicType: true,
		AllowUnknown:     true,
		AllowMarked:      true,
	}},
	Type: func(args []cty.Value) (cty.Type, error) {
		ty := args[0].Type()
		switch {
		case ty == cty.String, ty == cty.DynamicPseudoType, ty.IsTupleType(), ty.IsObjectType(), ty.IsCollectionType():
			return cty.Number, nil
		}
		return cty.NilType, function.NewArgErrorf(0, "need a string, a collection, an object or a tuple")
	},
	RefineResult: refineNotNull,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		value, own := args[0].Unmark()
		ty := value.Type()
		var length cty.Value
		switch {
		case ty == cty.DynamicPseudoType:
			length = cty.UnknownVal(cty.Number)
		case ty == cty.String:
			counted, err := stdlib.Strlen(value)
			if err != nil {
				return cty.NilVal, err
			}
			length = counted
		case ty.IsTupleType():
			length = cty.NumberIntVal(int64(ty.Length()))
		case ty.IsObjectType():
			length = cty.NumberIntVal(int64(len(ty.AttributeTypes())))
		default:
			length = value.Length()
		}
		return length.WithMarks(own), nil
	},
})

var containsFunction = functionOf(cty.Bool, "Reports whether a list, set or tuple has an element.",
	[]function.Parameter{{Name: "list", Type: cty.DynamicPseudoType}, {Name: "value", Type: cty.DynamicPseudoType}},
	stdlib.ContainsFunc.Call)

// findsNull is for contains, which looks for null as newer versions of terraform do; 1.11 refuses
// to.
func findsNull(f function.Function) function.Function {
	return delegate(f, func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		list, listMarks := args[0].UnmarkDeep()
		wanted, wantedMarks := args[1].Unmark()
		ty := list.Type()
		if !wanted.IsNull() || list.IsNull() || !ty.IsListType() && !ty.IsSetType() && !ty.IsTupleType() {
			return f.Call(args)
		}
		return hasNull(list).WithMarks(listMarks, wantedMarks), nil
	})
}

func hasNull(list cty.Value) cty.Value {
	result := cty.False
	if !list.IsKnown() {
		return cty.UnknownVal(cty.Bool).RefineNotNull()
	}
	for _, element := range list.Elements() {
		switch {
		case element.IsNull():
			return cty.True
		case !element.Range().DefinitelyNotNull():
			result = cty.UnknownVal(cty.Bool).RefineNotNull()
		}
	}
	return result
}

var allTrueFunction = boolsFunction("Reports whether all elements are true.", cty.True)

var anyTrueFunction = boolsFunction("Reports whether any element is true.", cty.False)

// boolsFunction makes alltrue and anytrue. The result is the start value unless an element decides
// otherwise; null counts as false, and an unknown element matters only if nothing else decides.
func boolsFunction(description string, start cty.Value) function.Function {
	return functionOf(cty.Bool, description, []function.Parameter{{Name: "list", Type: cty.List(cty.Bool)}},
		func(args []cty.Value) (cty.Value, error) {
			result := start
			for _, element := range args[0].Elements() {
				switch {
				case !element.IsKnown():
					result = cty.UnknownVal(cty.Bool)
				case (!element.IsNull() && element.True()) != start.True():
					return start.Not(), nil
				}
			}
			return result, nil
		})
}

var coalesceFunction = function.New(&function.Spec{
	Description: "Returns the first argument that is neither null nor an empty string.",
	VarParam: &function.Parameter{
		Name:             "vals",
		Type:             cty.DynamicPseudoType,
		AllowUnknown:     true,
		AllowDynamicType: true,
		AllowNull:        true,
	},
	Type: func(args []cty.Value) (cty.Type, error) {
		types := make([]cty.Type, len(args))
		for i, arg := range args {
			types[i] = arg.Type()
		}
		unified, _ := convert.UnifyUnsafe(types)
		if unified == cty.NilType {
			return cty.NilType, function.NewArgErrorf(0, "the arguments must be of one type, or of types that convert to one")
		}
		return unified, nil
	},
	RefineResult: refineNotNull,
	Impl: func(args []cty.Value, retType cty.Type) (cty.Value, error) {
		for i, arg := range args {
			converted, err := convert.Convert(arg, retType)
			if err != nil {
				return cty.NilVal, function.NewArgError(i, err)
			}
			switch {
			case !converted.IsKnown():
				return cty.UnknownVal(retType), nil // whether it counts shows later
			case converted.IsNull(), converted.RawEquals(cty.StringVal("")):
				continue
			}
			return converted, nil
		}
		return cty.NilVal, function.NewArgErrorf(max(len(args)-1, 0), "every argument is null or an empty string")
	},
})

var indexFunction = functionOf(cty.Number, "Returns the position of a value in a list or tuple.",
	[]function.Parameter{{Name: "list", Type: cty.DynamicPseudoType}, {Name: "value", Type: cty.DynamicPseudoType}},
	func(args []cty.Value) (cty.Value, error) {
		list, wanted := args[0], args[1]
		if !isSequence(list.Type()) {
			return cty.NilVal, function.NewArgErrorf(0, "need a list or a tuple")
		}
		for position, element := range list.Elements() {
			equal, err := stdlib.Equal(element, wanted)
			if err != nil {
				return cty.NilVal, err
			}
			if !equal.IsKnown() {
				return cty.UnknownVal(cty.Number), nil
			}
			if equal.True() {
				return position, nil
			}
		}
		return cty.NilVal, function.NewArgErrorf(1, "the list has no such element")
	})

var matchKeysFunction = function.New(&function.Spec{
	Description: "Returns the values whose keys are in a list.",
	Params: []function.Parameter{
		{Name: "values", Type: cty.List(cty.DynamicPseudoType)},
		{Name: "keys", Type: cty.List(cty.DynamicPseudoType)},
		{Name: "searchset", Type: cty.List(cty.DynamicPseudoType)},
	},
	Type: func(args []cty.Value) (cty.Type, error) {
		if unified, _ := convert.UnifyUnsafe([]cty.Type{args[1].Type(), args[2].Type()}); unified == cty.NilType {
			return cty.NilType, function.NewArgErrorf(1, "the keys must be of the type of the values searched for")
		}
		return args[0].Type(), nil
	},
	RefineResult: refineNotNull,
	Impl: func(args []cty.Value, retType cty.Type) (cty.Value, error) {
		values, keys, wanted := args[0], args[1], args[2]
		if values.LengthInt() != keys.LengthInt() {
			return cty.NilVal, function.NewArgErrorf(1, "need as many keys as values, so %d and not %d", values.LengthInt(), keys.LengthInt())
		}
		if !values.IsWhollyKnown() || !keys.IsWhollyKnown() || !wanted.IsWhollyKnown() {
			return cty.UnknownVal(retType), nil
		}
		var matching []cty.Value
		for position, key := range keys.Elements() {
			found, err := containsConverted(wanted, key)
			if err != nil {
				return cty.NilVal, err
			}
			if found {
				matching = append(matching, values.Index(position))
			}
		}
		if len(matching) == 0 {
			return cty.ListValEmpty(retType.ElementType()), nil
		}
		return cty.ListVal(matching), nil
	},
})

// containsConverted compares after conversion to a common type, as "1" and 1 as keys are the same.
func containsConverted(list, value cty.Value) (bool, error) {
	for _, element := range list.Elements() {
		unified, conversions := convert.UnifyUnsafe([]cty.Type{element.Type(), value.Type()})
		if unified == cty.NilType {
			continue
		}
		pair := [2]cty.Value{element, value}
		for i, conversion := range conversions {
			if conversion == nil {
				continue
			}
			converted, err := conversion(pair[i])
			if err != nil {
				return false, err
			}
			pair[i] = converted
		}
		if pair[0].Equals(pair[1]).True() {
			return true, nil
		}
	}
	return false, nil
}

var oneFunction = function.New(&function.Spec{
	Description: "Turns a list, set or tuple of at most one element into the element or null.",
	Params:      []function.Parameter{{Name: "list", Type: cty.DynamicPseudoType}},
	Type: func(args []cty.Value) (cty.Type, error) {
		ty := args[0].Type()
		switch {
		case ty.IsListType(), ty.IsSetType():
			return ty.ElementType(), nil
		case ty.IsTupleType() && ty.Length() == 0:
			return cty.DynamicPseudoType, nil
		case ty.IsTupleType() && ty.Length() == 1:
			return ty.TupleElementType(0), nil
		}
		return cty.NilType, tooManyError()
	},
	Impl: func(args []cty.Value, retType cty.Type) (cty.Value, error) {
		list := args[0]
		length := list.Length() // of a set with unknown elements, unknown
		if !length.IsKnown() {
			return cty.UnknownVal(retType), nil
		}
		if length.RawEquals(cty.Zero) {
			return cty.NullVal(retType), nil
		}
		if !length.RawEquals(cty.NumberIntVal(1)) {
			return cty.NilVal, tooManyError()
		}
		for _, element := range list.Elements() {
			return element, nil
		}
		return cty.NilVal, tooManyError()
	},
})

func tooManyError() error {
	return function.NewArgErrorf(0, "need a list, set or tuple with one element or none")
}

var transposeFunction = functionOf(cty.Map(cty.List(cty.String)), "Swaps keys and values of a map of lists of strings.",
	[]function.Parameter{{Name: "values", Type: cty.Map(cty.List(cty.String))}},
	func(args []cty.Value) (cty.Value, error) {
		if !args[0].IsWhollyKnown() {
			return cty.UnknownVal(cty.Map(cty.List(cty.String))), nil
		}
		keysByValue := map[string][]cty.Value{}
		for key, list := range args[0].Elements() { // in the order of keys, so the results are sorted
			if list.IsNull() {
				return cty.NilVal, function.NewArgErrorf(0, "the list at %s is null", quoted(key.AsString(), nil))
			}
			for _, element := range list.Elements() {
				if element.IsNull() {
					return cty.NilVal, function.NewArgErrorf(0, "the list at %s has a null element", quoted(key.AsString(), nil))
				}
				value := element.AsString()
				keysByValue[value] = append(keysByValue[value], key)
			}
		}
		if len(keysByValue) == 0 {
			return cty.MapValEmpty(cty.List(cty.String)), nil
		}
		transposed := make(map[string]cty.Value, len(keysByValue))
		for value, keys := range keysByValue {
			transposed[value] = cty.ListVal(keys)
		}
		return cty.MapVal(transposed), nil
	})

// distinctFunction is that of the library without looking at all elements for each one.
var distinctFunction = function.New(&function.Spec{
	Description:  "Leaves out the elements of a list that are equal to an earlier one.",
	Params:       []function.Parameter{{Name: "list", Type: cty.List(cty.DynamicPseudoType)}},
	Type:         func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil },
	RefineResult: refineNotNull,
	Impl: func(args []cty.Value, want cty.Type) (cty.Value, error) {
		if !args[0].IsWhollyKnown() {
			return cty.UnknownVal(want), nil
		}
		var distinct []cty.Value
		seen := map[int][]cty.Value{} // by hash
		for _, element := range args[0].AsValueSlice() {
			hash := element.Hash()
			if !slices.ContainsFunc(seen[hash], element.RawEquals) {
				seen[hash] = append(seen[hash], element)
				distinct = append(distinct, element)
			}
		}
		if len(distinct) == 0 {
			return cty.ListValEmpty(want.ElementType()), nil
		}
		return cty.ListVal(distinct), nil
	},
})
