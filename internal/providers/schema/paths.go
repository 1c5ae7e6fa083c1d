// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package schema

import (
	"cmp"
	"fmt"

	"github.com/zclconf/go-cty/cty"
)

// SensitivePaths returns where in an object of the block's type the schema has sensitive
// attributes, in no particular order. Attributes that are null count, too. The path of an attribute
// inside of a set is that of the set. The object must not be marked.
func (b *Block) SensitivePaths(object cty.Value) []cty.Path {
	if !b.known().sensitive {
		return nil
	}
	f := finder{
		is:      func(attr *Attribute) bool { return attr.Sensitive },
		inBlock: func(facts *blockFacts) bool { return facts.sensitive },
		inAttr:  (*Attribute).hasSensitive,
	}
	f.block(b, object, make(cty.Path, 0, 4))
	return f.paths()
}

// WriteOnlyPaths returns where in an object of the block's type the schema has write-only
// attributes, as SensitivePaths does.
func (b *Block) WriteOnlyPaths(object cty.Value) []cty.Path {
	if !b.known().writeOnly {
		return nil
	}
	f := finder{
		is:      func(attr *Attribute) bool { return attr.WriteOnly },
		inBlock: func(facts *blockFacts) bool { return facts.writeOnly },
		inAttr:  (*Attribute).hasWriteOnly,
	}
	f.block(b, object, make(cty.Path, 0, 4))
	return f.paths()
}

// Deprecation is a part of an object that its provider will drop. The message is never empty.
type Deprecation struct {
	Path    cty.Path
	Message string
}

// Deprecations returns where in an object of the block's type the schema has deprecated attributes
// and blocks, as SensitivePaths does, but for those inside of deprecated ones.
func (b *Block) Deprecations(object cty.Value) []Deprecation {
	if b.Deprecated {
		return []Deprecation{{cty.Path{}, cmp.Or(b.Deprecation, "The provider will drop objects of this type.")}}
	}
	if !b.known().deprecated {
		return nil
	}
	f := finder{
		is:      func(attr *Attribute) bool { return attr.Deprecated },
		isBlock: func(block *Block) bool { return block.Deprecated },
		inBlock: func(facts *blockFacts) bool { return facts.deprecated },
		inAttr:  (*Attribute).hasDeprecated,
	}
	f.block(b, object, make(cty.Path, 0, 4))
	found := make([]Deprecation, len(f.found))
	for i, part := range f.found {
		found[i] = Deprecation{part.path, cmp.Or(part.deprecation, fmt.Sprintf("The provider will drop %q.", part.name))}
	}
	return found
}

// HasDeprecated reports whether the block is deprecated, or an attribute or a block inside.
func (b *Block) HasDeprecated() bool { return b.Deprecated || b.known().deprecated }

// HasWriteOnly reports whether an attribute of the block, or of one inside, is write-only.
func (b *Block) HasWriteOnly() bool { return b.known().writeOnly }

// finder collects attributes and blocks.
type finder struct {
	is      func(*Attribute) bool
	isBlock func(*Block) bool // nil if no blocks are looked for
	inBlock func(*blockFacts) bool
	inAttr  func(*Attribute) bool
	found   []part
}

// part is an attribute or a block of an object, with the provider's words about its deprecation.
type part struct {
	path              cty.Path
	name, deprecation string
}

func (f *finder) paths() []cty.Path {
	paths := make([]cty.Path, len(f.found))
	for i, part := range f.found {
		paths[i] = part.path
	}
	return paths
}

func (f *finder) block(b *Block, object cty.Value, path cty.Path) {
	if object.IsNull() || !object.IsKnown() || !f.inBlock(b.known()) {
		return
	}
	f.attributes(b.Attributes, object, path)
	for _, nested := range b.Blocks {
		switch {
		case f.isBlock != nil && f.isBlock(nested.Block):
			f.found = append(f.found, part{path.GetAttr(nested.Name), nested.Name, nested.Block.Deprecation})
		case f.inBlock(nested.Block.known()):
			f.each(nested.Nesting, object, path, nested.Name, func(element cty.Value, path cty.Path) {
				f.block(nested.Block, element, path)
			})
		}
	}
}

func (f *finder) attributes(attributes []*Attribute, object cty.Value, path cty.Path) {
	if object.IsNull() || !object.IsKnown() {
		return
	}
	for _, attr := range attributes {
		switch {
		case f.is(attr):
			f.found = append(f.found, part{path.GetAttr(attr.Name), attr.Name, attr.Deprecation})
		case f.inAttr(attr):
			f.each(attr.Nested.Nesting, object, path, attr.Name, func(element cty.Value, path cty.Path) {
				f.attributes(attr.Nested.Attributes, element, path)
			})
		}
	}
}

// each calls do for the objects of an attribute, which often is null. A set is found as a whole if
// something is found in one of its elements.
func (f *finder) each(nesting Nesting, object cty.Value, path cty.Path, name string, do func(element cty.Value, path cty.Path)) {
	value := object.GetAttr(name)
	if value.IsNull() || !value.IsKnown() {
		return
	}
	path = path.GetAttr(name)
	before := len(f.found)
	switch nesting {
	case Single, Group:
		do(value, path)
	case List, Map:
		for key, element := range value.Elements() {
			do(element, Step(path, value.Type(), key))
		}
	case Set:
		for _, element := range value.Elements() {
			do(element, path)
		}
		if len(f.found) > before {
			f.found[before].path = path
			f.found = f.found[:before+1]
		}
	}
}

// Step returns the path of an element of a value, by its key. Maps of blocks of different types are
// objects, which have attributes.
func Step(path cty.Path, ty cty.Type, key cty.Value) cty.Path {
	if ty.IsObjectType() {
		return path.GetAttr(key.AsString())
	}
	return path.Index(key)
}
