// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package schematest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/schema"
)

// Random makes schemas, and objects of them.
type Random struct {
	*rand.Rand
	Dynamic   bool // with dynamically typed attributes
	Unchanged int  // of how many parts of a value one is changed by Mutate
}

// NewRandom returns a source that makes the same things for the same seed.
func NewRandom(seed uint64) *Random {
	return &Random{Rand: rand.New(rand.NewPCG(seed, seed)), Unchanged: 6} //nolint:gosec // not for secrets
}

func (r *Random) one(in int) bool { return r.IntN(in) == 0 }

// Block returns a schema with blocks nested so deep.
func (r *Random) Block(depth int) *schema.Block {
	block := &schema.Block{Attributes: r.attributes(depth, r.Dynamic)}
	if depth == 0 {
		return block
	}
	for i := range r.IntN(3) {
		nesting := []schema.Nesting{schema.Single, schema.List, schema.List, schema.Set, schema.Set, schema.Map, schema.Group}[r.IntN(7)]
		inner := *r
		inner.Dynamic = r.Dynamic && nesting != schema.Set
		block.Blocks = append(block.Blocks, &schema.NestedBlock{Name: fmt.Sprintf("block%d", i), Nesting: nesting, Block: inner.Block(depth - 1)})
	}
	return block
}

func (r *Random) attributes(depth int, dynamic bool) []*schema.Attribute {
	attributes := make([]*schema.Attribute, 1+r.IntN(4))
	for i := range attributes {
		attr := &schema.Attribute{Name: string(rune('a' + i))}
		switch r.IntN(4) {
		case 0:
			attr.Computed = true
		case 1:
			attr.Computed, attr.Optional = true, true
		default:
			attr.Optional = true
		}
		if depth > 0 && r.one(3) {
			nesting := []schema.Nesting{schema.Single, schema.List, schema.Set, schema.Map}[r.IntN(4)]
			attr.Nested = &schema.Object{Nesting: nesting, Attributes: r.attributes(depth-1, false)}
		} else {
			attr.Type = r.ty(2)
			if dynamic && r.one(4) {
				attr.Type = cty.DynamicPseudoType
			}
		}
		attributes[i] = attr
	}
	return attributes
}

func (r *Random) ty(depth int) cty.Type {
	if depth > 0 {
		switch r.IntN(10) {
		case 0:
			return cty.List(r.ty(depth - 1))
		case 1:
			return cty.Set(r.ty(depth - 1))
		case 2:
			return cty.Map(r.ty(depth - 1))
		case 3:
			return cty.Object(map[string]cty.Type{"x": r.ty(depth - 1), "y": r.ty(depth - 1)})
		case 4:
			return cty.Tuple([]cty.Type{r.ty(depth - 1)})
		}
	}
	return []cty.Type{cty.String, cty.String, cty.Number, cty.Bool}[r.IntN(4)]
}

// What is a kind of objects that Object makes.
type What int

// Config has null for values that are only computed, and unknown parts; Known has neither.
const (
	Config What = iota
	Known
)

// Object returns an object of a block.
func (r *Random) Object(block *schema.Block, what What) cty.Value {
	values := r.members(block.Attributes, what)
	for _, nested := range block.Blocks {
		element := func() cty.Value { return r.Object(nested.Block, what) }
		switch {
		case nested.Nesting == schema.Group:
			values[nested.Name] = element()
		case nested.Nesting == schema.Single && r.one(3):
			values[nested.Name] = nested.Absent()
		case what == Config && r.one(12) && nested.Nesting != schema.Single:
			values[nested.Name] = cty.UnknownVal(nested.ValueType())
		default:
			values[nested.Name] = r.several(nested.Nesting, nested.Absent(), element)
		}
	}
	return cty.ObjectVal(values)
}

// several returns some elements; the empty value says of which type they are together.
func (r *Random) several(nesting schema.Nesting, empty cty.Value, element func() cty.Value) cty.Value {
	if nesting == schema.Single {
		return element()
	}
	var list []cty.Value
	keyed := map[string]cty.Value{}
	for range r.IntN(4) {
		list = append(list, element())
		keyed[[]string{"k", "l", "m"}[r.IntN(3)]] = element()
	}
	return together(empty, list, keyed)
}

func together(like cty.Value, list []cty.Value, keyed map[string]cty.Value) cty.Value {
	switch ty := like.Type(); {
	case len(list) == 0 && len(keyed) == 0 && ty.IsObjectType():
		return cty.EmptyObjectVal
	case ty.IsTupleType():
		return cty.TupleVal(list)
	case ty.IsObjectType():
		return cty.ObjectVal(keyed)
	case len(list) == 0 && ty.IsListType():
		return cty.ListValEmpty(ty.ElementType())
	case ty.IsListType():
		return cty.ListVal(list)
	case len(list) == 0 && ty.IsSetType():
		return cty.SetValEmpty(ty.ElementType())
	case ty.IsSetType():
		return cty.SetVal(list)
	case len(keyed) == 0:
		return cty.MapValEmpty(ty.ElementType())
	default:
		return cty.MapVal(keyed)
	}
}

func (r *Random) members(attributes []*schema.Attribute, what What) map[string]cty.Value {
	values := map[string]cty.Value{}
	for _, attr := range attributes {
		switch {
		case what == Config && !attr.Optional, r.one(3):
			values[attr.Name] = cty.NullVal(attr.ValueType())
		case what == Config && r.one(10):
			values[attr.Name] = cty.UnknownVal(attr.ValueType())
		case attr.Nested != nil && attr.Nested.Nesting == schema.Single:
			values[attr.Name] = cty.ObjectVal(r.members(attr.Nested.Attributes, what))
		case attr.Nested != nil:
			values[attr.Name] = r.several(attr.Nested.Nesting, cty.UnknownVal(attr.ValueType()), func() cty.Value {
				switch {
				case r.one(8):
					return cty.NullVal(attr.Nested.ElementType())
				case what == Config && r.one(12):
					return cty.UnknownVal(attr.Nested.ElementType())
				}
				return cty.ObjectVal(r.members(attr.Nested.Attributes, what))
			})
		default:
			values[attr.Name] = r.Value(attr.Type, what)
		}
	}
	return values
}

// Value returns a value of a type.
func (r *Random) Value(ty cty.Type, what What) cty.Value {
	if ty == cty.DynamicPseudoType {
		ty = r.ty(2)
	}
	element := func() cty.Value {
		inner := ty.ElementType()
		if what == Config && r.one(12) {
			return cty.UnknownVal(inner)
		}
		return r.Value(inner, what)
	}
	switch {
	case ty == cty.String:
		return cty.StringVal([]string{"p", "q", "r"}[r.IntN(3)])
	case ty == cty.Number:
		return cty.NumberIntVal(int64(r.IntN(3)))
	case ty == cty.Bool:
		return cty.BoolVal(r.one(2))
	case ty.IsObjectType():
		values := map[string]cty.Value{}
		for _, name := range slices.Sorted(maps.Keys(ty.AttributeTypes())) {
			values[name] = r.Value(ty.AttributeType(name), what)
		}
		return cty.ObjectVal(values)
	case ty.IsTupleType():
		var values []cty.Value
		for _, inner := range ty.TupleElementTypes() {
			values = append(values, r.Value(inner, what))
		}
		return cty.TupleVal(values)
	default:
		return r.several("", cty.UnknownVal(ty), element)
	}
}

// Mutate returns a value of the same type in which some parts are others, fewer or more.
func (r *Random) Mutate(value cty.Value, what What) cty.Value {
	ty := value.Type()
	// The type stays: a provider's schema fixes the attributes of objects and the length of tuples,
	// so that only maps, lists and sets can lose elements. Parts of a dynamic type keep theirs, too,
	// as a null or an unknown value would have none. Unknown values occur in configurations alone.
	switch {
	case r.one(r.Unchanged) && ty != cty.DynamicPseudoType && !ty.HasDynamicTypes() && !r.one(3):
		if r.one(3) && !ty.IsObjectType() && what == Config {
			return cty.UnknownVal(ty)
		}
		if r.one(2) {
			return cty.NullVal(ty)
		}
		if ty.IsPrimitiveType() {
			return r.Value(ty, what)
		}
	case value.IsNull() || !value.IsKnown() || ty.IsPrimitiveType():
		return value
	}
	if value.IsNull() || !value.IsKnown() || ty.IsPrimitiveType() {
		return value
	}
	if ty.IsObjectType() || ty.IsMapType() {
		keyed := value.AsValueMap()
		for _, key := range slices.Sorted(maps.Keys(keyed)) {
			if ty.IsMapType() && r.one(2*r.Unchanged) {
				delete(keyed, key)
				continue
			}
			keyed[key] = r.Mutate(keyed[key], what)
		}
		return together(value, nil, keyed)
	}
	list := value.AsValueSlice()
	for i := range list {
		list[i] = r.Mutate(list[i], what)
	}
	if !ty.IsTupleType() && len(list) > 0 && r.one(r.Unchanged) {
		list = append(list, list[0])
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		list = list[r.IntN(2):]
	}
	return together(value, list, nil)
}

// Fill returns an object in which attributes that are computed and null have values: unknown ones
// for Config.
func (r *Random) Fill(block *schema.Block, object cty.Value, what What) cty.Value {
	return fillObject(object, func(values map[string]cty.Value) {
		r.fill(block.Attributes, values, what)
		for _, nested := range block.Blocks {
			values[nested.Name] = fillEach(nested.Nesting,
				values[nested.Name], func(element cty.Value) cty.Value { return r.Fill(nested.Block, element, what) })
		}
	})
}

func (r *Random) fill(attributes []*schema.Attribute, values map[string]cty.Value, what What) {
	for _, attr := range attributes {
		value := values[attr.Name]
		switch {
		case attr.Computed && value.IsNull() && !r.one(3):
			if what == Config && r.one(2) {
				values[attr.Name] = cty.UnknownVal(attr.ValueType())
			} else {
				values[attr.Name] = r.members([]*schema.Attribute{{Name: "v", Type: attr.Type, Nested: attr.Nested, Optional: true}}, Known)["v"]
			}
		case attr.Nested != nil:
			values[attr.Name] = fillEach(attr.Nested.Nesting, value, func(element cty.Value) cty.Value {
				return fillObject(element, func(values map[string]cty.Value) { r.fill(attr.Nested.Attributes, values, what) })
			})
		}
	}
}

func fillObject(object cty.Value, change func(map[string]cty.Value)) cty.Value {
	if object.IsNull() || !object.IsKnown() {
		return object
	}
	values := object.AsValueMap()
	change(values)
	return cty.ObjectVal(values)
}

func fillEach(nesting schema.Nesting, value cty.Value, change func(cty.Value) cty.Value) cty.Value {
	if nesting == schema.Single || nesting == schema.Group {
		return change(value)
	}
	if value.IsNull() || !value.IsKnown() || value.LengthInt() == 0 {
		return value
	}
	if ty := value.Type(); ty.IsMapType() || ty.IsObjectType() {
		keyed := value.AsValueMap()
		for _, key := range slices.Sorted(maps.Keys(keyed)) {
			keyed[key] = change(keyed[key])
		}
		return together(value, nil, keyed)
	}
	list := value.AsValueSlice()
	for i := range list {
		list[i] = change(list[i])
	}
	return together(value, list, nil)
}

// Settle returns an object whose blocks are neither unknown nor null, as they are in a state.
func Settle(block *schema.Block, object cty.Value) cty.Value {
	return fillObject(object, func(values map[string]cty.Value) {
		for _, nested := range block.Blocks {
			values[nested.Name] = settleBlocks(nested, values[nested.Name])
		}
	})
}

func settleBlocks(nested *schema.NestedBlock, value cty.Value) cty.Value {
	if value.IsNull() || !value.IsKnown() {
		return nested.Absent()
	}
	return fillEach(nested.Nesting, value, func(element cty.Value) cty.Value {
		if element.IsNull() || !element.IsKnown() {
			element = nested.Block.Empty()
		}
		return Settle(nested.Block, element)
	})
}

// Differences describes where two values differ.
func Differences(got, want cty.Value) string {
	var text strings.Builder
	differences(&text, nil, got, want)
	return text.String()
}

func differences(text *strings.Builder, path cty.Path, got, want cty.Value) {
	ty := want.Type()
	switch {
	case got.RawEquals(want):
		return
	case ty.IsSetType(), !got.Type().Equals(ty), got.IsNull(), want.IsNull(), !got.IsKnown(), !want.IsKnown(), ty.IsPrimitiveType(),
		got.LengthInt() != want.LengthInt():
		fmt.Fprintf(text, "%#v\n   got %#v\n  want %#v\n", path, got, want)
		return
	}
	for key, element := range want.Elements() {
		at := schema.Step(path, ty, key)
		other, err := at[len(path)].Apply(got)
		if err != nil {
			fmt.Fprintf(text, "%#v missing\n", at)
			continue
		}
		differences(text, at, other, element)
	}
}
