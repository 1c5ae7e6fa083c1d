// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package schema

import (
	"slices"
	"strings"
	"sync"

	"github.com/zclconf/go-cty/cty"
)

// blockFacts are facts that follow from the content of a block. The zero value has none of them
// yet.
type blockFacts struct {
	once                 sync.Once
	ty                   cty.Type
	empty                cty.Value
	sensitive, writeOnly bool // somewhere inside
	deprecated           bool // an attribute or a block somewhere inside
}

func (b *Block) known() *blockFacts {
	b.facts.once.Do(b.learn)
	return &b.facts
}

func (b *Block) learn() {
	types := make(map[string]cty.Type, len(b.Attributes)+len(b.Blocks))
	empty := make(map[string]cty.Value, len(types))
	facts := &b.facts
	for _, attr := range b.Attributes {
		ty := attr.ValueType()
		types[attr.Name] = ty
		empty[attr.Name] = cty.NullVal(ty)
		facts.sensitive = facts.sensitive || attr.hasSensitive()
		facts.writeOnly = facts.writeOnly || attr.hasWriteOnly()
		facts.deprecated = facts.deprecated || attr.hasDeprecated()
	}
	for _, nested := range b.Blocks {
		types[nested.Name] = nested.ValueType()
		empty[nested.Name] = nested.Absent()
		facts.sensitive = facts.sensitive || nested.Block.known().sensitive
		facts.writeOnly = facts.writeOnly || nested.Block.known().writeOnly
		facts.deprecated = facts.deprecated || nested.Block.Deprecated || nested.Block.known().deprecated
	}
	facts.ty = cty.Object(types)
	facts.empty = cty.ObjectVal(empty)
}

// Type returns the type of the object that a block of configuration becomes. Where the number of
// nested blocks decides about the type, which is so for lists and maps with dynamically typed
// attributes inside, the type of these is dynamic.
//
// This and all other methods compute their results once; the block must not change any more after
// the first. Safe for concurrent use.
func (b *Block) Type() cty.Type { return b.known().ty }

// Empty returns the object that an empty block becomes: attributes are null, and there are no
// nested blocks but empty groups.
func (b *Block) Empty() cty.Value { return b.known().empty }

// ValueType returns the type of the value that the blocks of one name become.
func (n *NestedBlock) ValueType() cty.Type {
	ty := n.Block.Type()
	switch n.Nesting {
	case List:
		if n.Varies() {
			return cty.DynamicPseudoType
		}
		return cty.List(ty)
	case Map:
		if n.Varies() {
			return cty.DynamicPseudoType
		}
		return cty.Map(ty)
	case Set:
		return cty.Set(ty)
	default:
		return ty
	}
}

// Varies reports whether the blocks become a tuple or an object because they may be of different
// types.
func (n *NestedBlock) Varies() bool {
	return (n.Nesting == List || n.Nesting == Map) && n.Block.Type().HasDynamicTypes()
}

// Absent returns the value for no blocks of the name in a configuration. It is null for single
// ones, and for those that the provider chooses then.
func (n *NestedBlock) Absent() cty.Value {
	switch {
	case n.Block.Computed && n.Nesting != Group:
		return cty.NullVal(n.ValueType())
	case n.Nesting == Group:
		return n.Block.Empty()
	case n.Nesting == List && n.Varies():
		return cty.EmptyTupleVal
	case n.Nesting == List:
		return cty.ListValEmpty(n.Block.Type())
	case n.Nesting == Map && n.Varies():
		return cty.EmptyObjectVal
	case n.Nesting == Map:
		return cty.MapValEmpty(n.Block.Type())
	case n.Nesting == Set:
		return cty.SetValEmpty(n.Block.Type())
	default:
		return cty.NullVal(n.Block.Type())
	}
}

// objectFacts are facts that follow from the attributes of an object. The zero value has none of
// them yet.
type objectFacts struct {
	once                 sync.Once
	element              cty.Type // of one object
	config               cty.Type // of one object, optional attributes being so
	sensitive, writeOnly bool     // somewhere inside
	deprecated           bool     // an attribute somewhere inside
}

func (o *Object) known() *objectFacts {
	o.facts.once.Do(o.learn)
	return &o.facts
}

func (o *Object) learn() {
	types := make(map[string]cty.Type, len(o.Attributes))
	configs := make(map[string]cty.Type, len(o.Attributes))
	var optional []string
	facts := &o.facts
	for _, attr := range o.Attributes {
		types[attr.Name] = attr.ValueType()
		configs[attr.Name] = attr.ConfigType()
		if !attr.Required {
			optional = append(optional, attr.Name)
		}
		facts.sensitive = facts.sensitive || attr.hasSensitive()
		facts.writeOnly = facts.writeOnly || attr.hasWriteOnly()
		facts.deprecated = facts.deprecated || attr.hasDeprecated()
	}
	facts.element = cty.Object(types)
	facts.config = cty.ObjectWithOptionalAttrs(configs, optional)
}

// ElementType returns the type of one object.
func (o *Object) ElementType() cty.Type { return o.known().element }

// Type returns the type of the attribute.
func (o *Object) Type() cty.Type { return o.Nesting.of(o.known().element) }

func (n Nesting) of(element cty.Type) cty.Type {
	switch n {
	case List:
		return cty.List(element)
	case Set:
		return cty.Set(element)
	case Map:
		return cty.Map(element)
	default:
		return element
	}
}

// ValueType returns the type of the attribute's value.
func (a *Attribute) ValueType() cty.Type {
	if a.Nested != nil {
		return a.Nested.Type()
	}
	return a.Type
}

// ConfigType returns the type that an expression for the attribute is converted to: its type, in
// which attributes of nested types that are not required are optional.
func (a *Attribute) ConfigType() cty.Type {
	if a.Nested != nil {
		return a.Nested.Nesting.of(a.Nested.known().config)
	}
	return a.Type
}

func (a *Attribute) hasSensitive() bool {
	return a.Sensitive || a.Nested != nil && a.Nested.known().sensitive
}

func (a *Attribute) hasWriteOnly() bool {
	return a.WriteOnly || a.Nested != nil && a.Nested.known().writeOnly
}

func (a *Attribute) hasDeprecated() bool {
	return a.Deprecated || a.Nested != nil && a.Nested.known().deprecated
}

// Attribute returns the attribute of a name, or nil.
func (b *Block) Attribute(name string) *Attribute { return find(b.Attributes, name) }

// Nested returns the type of nested blocks of a name, or nil.
func (b *Block) Nested(name string) *NestedBlock {
	i, ok := slices.BinarySearchFunc(b.Blocks, name, func(n *NestedBlock, name string) int { return strings.Compare(n.Name, name) })
	if !ok {
		return nil
	}
	return b.Blocks[i]
}

// Attribute returns the attribute of a name, or nil.
func (o *Object) Attribute(name string) *Attribute { return find(o.Attributes, name) }

func find(attributes []*Attribute, name string) *Attribute {
	i, ok := slices.BinarySearchFunc(attributes, name, func(a *Attribute, name string) int { return strings.Compare(a.Name, name) })
	if !ok {
		return nil
	}
	return attributes[i]
}
