// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
)

// Positions of the arguments of lookup.
const (
	lookupMap = iota
	lookupKey
	lookupDefault
)

// The result carries the marks of the map, of the key, and of the element or the default; those of
// other elements do not matter.
var lookupFunction = function.New(&function.Spec{
	Description: "Returns the element of a map at a key, or a default.",
	Params: []function.Parameter{
		{Name: "inputMap", Type: cty.DynamicPseudoType, AllowMarked: true},
		{Name: "key", Type: cty.String, AllowMarked: true},
	},
	VarParam: &function.Parameter{
		Name:             "default",
		Type:             cty.DynamicPseudoType,
		AllowUnknown:     true,
		AllowDynamicType: true,
		AllowNull:        true,
		AllowMarked:      true,
	},
	Type: lookupType,
	Impl: func(args []cty.Value, retType cty.Type) (cty.Value, error) {
		from, mapMarks := args[lookupMap].Unmark()
		keyValue, keyMarks := args[lookupKey].Unmark()
		key := keyValue.AsString()

		if from.Type().IsObjectType() {
			if from.Type().HasAttribute(key) {
				return from.GetAttr(key).WithMarks(mapMarks, keyMarks), nil
			}
		} else if from.HasIndex(keyValue).True() {
			return from.Index(keyValue).WithMarks(mapMarks, keyMarks), nil
		}
		if len(args) > lookupDefault {
			fallback, err := convert.Convert(args[lookupDefault], retType)
			if err != nil {
				return cty.NilVal, function.NewArgError(lookupDefault, err)
			}
			return fallback.WithMarks(mapMarks, keyMarks), nil
		}
		return cty.NilVal, function.NewArgErrorf(lookupKey, "the map has no element %s, and no default is given", quoted(key, keyMarks))
	},
})

func lookupType(args []cty.Value) (cty.Type, error) {
	if len(args) > lookupDefault+1 {
		return cty.NilType, function.NewArgErrorf(lookupDefault+1, "need two or three arguments, not %d", len(args))
	}
	ty := args[lookupMap].Type()
	switch {
	case ty.IsObjectType():
		return lookupAttributeType(ty, args)
	case ty.IsMapType():
		if len(args) > lookupDefault {
			if _, err := convert.Convert(args[lookupDefault], ty.ElementType()); err != nil {
				return cty.NilType, function.NewArgErrorf(lookupDefault, "the default must be of the type of the elements: %w", err)
			}
		}
		return ty.ElementType(), nil
	}
	return cty.NilType, function.NewArgErrorf(lookupMap, "need a map or an object")
}

func lookupAttributeType(object cty.Type, args []cty.Value) (cty.Type, error) {
	key, keyMarks := args[lookupKey].Unmark()
	if !key.IsKnown() {
		return cty.DynamicPseudoType, nil
	}
	name := key.AsString()
	switch {
	case object.HasAttribute(name):
		return object.AttributeType(name), nil
	case len(args) > lookupDefault:
		return args[lookupDefault].Type(), nil
	}
	return cty.NilType, function.NewArgErrorf(lookupMap, "the object has no attribute %s, and no default is given", quoted(name, keyMarks))
}
