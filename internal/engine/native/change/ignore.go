// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package change

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/schema"
)

// IgnoreChanges returns a configuration in which the attributes named by the lifecycle argument
// ignore_changes, or all, are as in the prior object. Both objects may be marked, and marks are
// ignored together with the values that they are on.
//
// A path that leads nowhere in one of the objects is ignored itself, but for keys of maps, which
// are removed if they were not there before.
func IgnoreChanges(block *schema.Block, prior, config cty.Value, paths []cty.Path, all bool) cty.Value {
	bare, _ := prior.Unmark()
	switch {
	case bare.IsNull():
		return config
	case all:
		return withoutComputed(block, prior)
	}
	for _, path := range paths {
		config = ignore(prior, config, path)
	}
	return config
}

// withoutComputed returns an object in which attributes are null that no configuration can have.
func withoutComputed(block *schema.Block, object cty.Value) cty.Value {
	return inside(object, func(values map[string]cty.Value) {
		attributesWithoutComputed(block.Attributes, values)
		for _, nested := range block.Blocks {
			if nested.Block.Computed {
				values[nested.Name] = nested.Absent() // so that they stay as the provider has chosen them
				continue
			}
			values[nested.Name] = eachInside(nested.Nesting, values[nested.Name], func(element cty.Value) cty.Value {
				return withoutComputed(nested.Block, element)
			})
		}
	})
}

func attributesWithoutComputed(attributes []*schema.Attribute, values map[string]cty.Value) {
	for _, attr := range attributes {
		switch {
		case attr.Computed && !attr.Optional:
			bare, marks := values[attr.Name].Unmark()
			values[attr.Name] = cty.NullVal(bare.Type()).WithMarks(marks)
		case attr.Nested != nil:
			values[attr.Name] = eachInside(attr.Nested.Nesting, values[attr.Name], func(element cty.Value) cty.Value {
				return inside(element, func(values map[string]cty.Value) { attributesWithoutComputed(attr.Nested.Attributes, values) })
			})
		}
	}
}

// inside changes the attributes of an object that may be marked, null or unknown.
func inside(object cty.Value, change func(values map[string]cty.Value)) cty.Value {
	bare, marks := object.Unmark()
	if !descends(bare) {
		return object
	}
	values := bare.AsValueMap()
	if len(values) == 0 {
		return object
	}
	change(values)
	return cty.ObjectVal(values).WithMarks(marks)
}

// eachInside changes the objects of a value that may be marked, null or unknown.
func eachInside(nesting schema.Nesting, value cty.Value, change func(element cty.Value) cty.Value) cty.Value {
	if nesting == schema.Single || nesting == schema.Group {
		return change(value)
	}
	bare, marks := value.Unmark()
	if !descends(bare) || bare.LengthInt() == 0 {
		return value
	}
	if ty := bare.Type(); ty.IsMapType() || ty.IsObjectType() {
		values := bare.AsValueMap()
		for key, element := range values {
			values[key] = change(element)
		}
		return ofType(ty, nil, values).WithMarks(marks)
	}
	values := bare.AsValueSlice()
	for i, element := range values {
		values[i] = change(element)
	}
	return ofType(bare.Type(), values, nil).WithMarks(marks)
}

// ofType makes a value with parts that are like the one of a type.
func ofType(ty cty.Type, list []cty.Value, keyed map[string]cty.Value) cty.Value {
	switch {
	case ty.IsObjectType():
		return cty.ObjectVal(keyed)
	case ty.IsMapType() && len(keyed) == 0:
		return cty.MapValEmpty(ty.ElementType())
	case ty.IsMapType():
		return cty.MapVal(keyed)
	case ty.IsTupleType():
		return cty.TupleVal(list)
	case ty.IsSetType():
		return cty.SetVal(list)
	default:
		return cty.ListVal(list)
	}
}

// ignore returns a configuration with the prior object's value at a path.
func ignore(prior, config cty.Value, path cty.Path) cty.Value {
	if key, ok := keyOfMap(config, path); ok {
		return ignoreKey(prior, config, path[:len(path)-1], key)
	}
	if endsWithKey(path) {
		path = path[:len(path)-1] // of an object that is written like a map: terraform ignores all of it
	}
	before, err := path.Apply(prior)
	if err != nil {
		return config
	}
	return update(config, path, func(cty.Value) (cty.Value, bool) { return before, true })
}

// endsWithKey reports whether the last step of a path is the key of a map, or of an object that is
// written like one.
func endsWithKey(path cty.Path) bool {
	if len(path) == 0 {
		return false
	}
	last, ok := path[len(path)-1].(cty.IndexStep)
	return ok && last.Key.Type() == cty.String && last.Key.IsKnown() && !last.Key.IsNull()
}

// keyOfMap returns the key if a path ends with one of a map.
func keyOfMap(config cty.Value, path cty.Path) (string, bool) {
	if !endsWithKey(path) {
		return "", false
	}
	whole, err := path[:len(path)-1].Apply(config)
	return path[len(path)-1].(cty.IndexStep).Key.AsString(), err == nil && whole.Type().IsMapType()
}

// ignoreKey returns a configuration in which the map at a path has the element of the prior one, or
// none if that has none.
func ignoreKey(prior, config cty.Value, path cty.Path, key string) cty.Value {
	before, err := path.Apply(prior)
	if err != nil {
		return config
	}
	before, beforeMarks := before.Unmark()
	if !before.IsKnown() || !keyed(before) {
		return config
	}
	return update(config, path, func(old cty.Value) (cty.Value, bool) {
		bare, marks := old.Unmark()
		if !bare.IsKnown() {
			return old, false
		}
		elements := map[string]cty.Value{}
		if !bare.IsNull() && bare.LengthInt() > 0 {
			elements = bare.AsValueMap()
		}
		kept, ok := lookup(before, cty.StringVal(key))
		if ok {
			elements[key] = kept.WithMarks(beforeMarks)
		} else {
			delete(elements, key)
		}
		if bare.IsNull() && len(elements) == 0 || !cty.CanMapVal(elements) {
			return old, false
		}
		return ofType(bare.Type(), nil, elements).WithMarks(marks), true
	})
}

// update returns a value with another part at a path. It is the same value if there is nothing at
// the path, or a set on the way to it.
func update(value cty.Value, path cty.Path, change func(old cty.Value) (cty.Value, bool)) cty.Value {
	changed, ok := updated(value, path, change)
	if !ok {
		return value
	}
	return changed
}

func updated(value cty.Value, path cty.Path, change func(old cty.Value) (cty.Value, bool)) (cty.Value, bool) {
	if len(path) == 0 {
		return change(value)
	}
	bare, marks := value.Unmark()
	ty := bare.Type()
	if !descends(bare) || !ty.IsObjectType() && !ty.IsMapType() && !ty.IsListType() && !ty.IsTupleType() {
		return value, false
	}
	part, err := path[0].Apply(bare)
	if err != nil {
		return value, false
	}
	part, ok := updated(part, path[1:], change)
	if !ok {
		return value, false
	}
	switch step := path[0].(type) {
	case cty.GetAttrStep:
		return withKey(bare, step.Name, part).WithMarks(marks), true
	case cty.IndexStep:
		if step.Key.Type() == cty.String {
			return withKey(bare, step.Key.AsString(), part).WithMarks(marks), true
		}
		index, _ := step.Key.AsBigFloat().Int64()
		values := bare.AsValueSlice()
		values[index] = part
		return ofType(ty, values, nil).WithMarks(marks), true
	default:
		return value, false
	}
}

func withKey(value cty.Value, key string, part cty.Value) cty.Value {
	values := value.AsValueMap()
	values[key] = part
	return ofType(value.Type(), nil, values)
}
