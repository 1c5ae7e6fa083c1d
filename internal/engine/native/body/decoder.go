// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package body decodes blocks of configuration to objects by the schemas of providers.
//
// A [Decoder] is made once for a schema. It finds the references in a body, evaluates it to an
// object, and finds the places in it that errors of providers are about. Meta-arguments, such as
// count and lifecycle, are none of its business: names that are not in the schema are errors.
//
// Rules:
//
//	B1. The object has the type of the schema whatever the errors in the body: parts that cannot be
//	    evaluated are unknown.
//	B2. Marks of values stay on them. In sets they are on the set.
//	B3. A dynamic block over a collection that is unknown makes all blocks of its name unknown, since
//	    nobody knows how many there are. Where one at most is possible, or where blocks stand for an
//	    attribute, it makes one block in which all that is written is unknown.
package body

import (
	"context"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/bounds"
	"github.com/cairnstacks/cairn/internal/providers/schema"
)

// Decoder decodes bodies by one schema. Safe for concurrent use.
type Decoder struct {
	attributes []*attribute
	blocks     []*blockType
	arguments  []*blockType // attributes that may be written as blocks

	declared hcl.BodySchema // attributes and blocks as they are in the schema
	asBlocks hcl.BodySchema // the same with all of arguments as blocks
	probe    hcl.BodySchema // arguments as attributes only
}

// attribute is an attribute of a schema.
type attribute struct {
	*schema.Attribute
	ty, config cty.Type // of values; and the one that expressions are converted to
	block      *blockType
}

// blockType is the type and the decoder of the blocks of one name.
type blockType struct {
	*schema.NestedBlock
	ty      cty.Type
	content *Decoder
}

// dynamicBlock is the header of blocks that make others.
var dynamicBlock = hcl.BlockHeaderSchema{Type: "dynamic", LabelNames: []string{"type"}}

// NewDecoder returns the decoder for a schema, which must not change any more.
func NewDecoder(block *schema.Block) *Decoder {
	return newDecoder(block, writtenAsBlocks(block))
}

// newDecoder returns the decoder for a block; in legacy ones, attributes may be written as blocks.
func newDecoder(block *schema.Block, legacy bool) *Decoder {
	d := &Decoder{}
	for _, attr := range block.Attributes {
		d.addAttribute(attr, legacy)
	}
	for _, nested := range block.Blocks {
		d.addBlock(nested, legacy)
	}
	d.declared.Blocks = append(d.declared.Blocks, dynamicBlock)
	d.asBlocks.Blocks = append(slices.Clip(d.declared.Blocks), d.asBlocks.Blocks...)
	return d
}

func (d *Decoder) addAttribute(attr *schema.Attribute, legacy bool) {
	added := &attribute{Attribute: attr, ty: attr.ValueType(), config: attr.ConfigType()}
	d.attributes = append(d.attributes, added)
	header := hcl.AttributeSchema{Name: attr.Name}
	d.declared.Attributes = append(d.declared.Attributes, header)
	if !legacy || !listsObjects(attr.Type) {
		d.asBlocks.Attributes = append(d.asBlocks.Attributes, header)
		return
	}
	added.block = &blockType{NestedBlock: argumentBlock(attr), ty: added.ty}
	added.block.content = newDecoder(added.block.Block, true)
	d.arguments = append(d.arguments, added.block)
	d.probe.Attributes = append(d.probe.Attributes, header)
	d.asBlocks.Blocks = append(d.asBlocks.Blocks, hcl.BlockHeaderSchema{Type: attr.Name})
}

func (d *Decoder) addBlock(nested *schema.NestedBlock, legacy bool) {
	d.blocks = append(d.blocks, &blockType{NestedBlock: nested, ty: nested.ValueType(), content: newDecoder(nested.Block, legacy)})
	header := hcl.BlockHeaderSchema{Type: nested.Name}
	if nested.Nesting == schema.Map {
		header.LabelNames = []string{"key"}
	}
	d.declared.Blocks = append(d.declared.Blocks, header)
}

// Decode evaluates a body.
//
// Shape: object of the type of the schema, marked where expressions are. Unknown: its parts, also
// after errors; never as a whole.
//
// Each expression, and all that dynamic blocks make, is within the limits of package bounds.
func (d *Decoder) Decode(ctx context.Context, body hcl.Body, scope *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	in := setting{ctx: scope, made: new(int), evaluate: func(expr hcl.Expression, scope *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
		return bounds.Evaluate(ctx, expr, scope, nil)
	}}
	value, diags := d.decode(body, in)
	if *in.made > 0 && !diags.HasErrors() {
		diags = append(diags, bounds.Check(value, body.MissingItemRange())...)
	}
	return value, diags
}

// setting is the context that the values of a body depend on.
type setting struct {
	ctx     *hcl.EvalContext
	unknown bool           // the body stands for an unknown number of blocks: its contents are unknown
	marks   cty.ValueMarks // of the collection that the body was made for

	made     *int // how many blocks dynamic blocks have made in the whole body
	evaluate func(hcl.Expression, *hcl.EvalContext) (cty.Value, hcl.Diagnostics)
}

func (d *Decoder) decode(body hcl.Body, in setting) (cty.Value, hcl.Diagnostics) {
	content, diags := d.read(body)
	written, moreDiags := d.expand(content, in)
	diags = append(diags, moreDiags...)
	values := make(map[string]cty.Value, len(d.attributes)+len(d.blocks))
	for _, attr := range d.attributes {
		value, moreDiags := attr.decode(content, written, in)
		values[attr.Name] = value
		diags = append(diags, moreDiags...)
	}
	for _, block := range d.blocks {
		value, moreDiags := block.decode(written[block.Name], content.MissingItemRange)
		values[block.Name] = value
		diags = append(diags, moreDiags...)
	}
	return cty.ObjectVal(values), diags
}

// read returns the contents of a body. Attributes that may be written as blocks are, unless there
// is an attribute of that name.
func (d *Decoder) read(body hcl.Body) (*hcl.BodyContent, hcl.Diagnostics) {
	if len(d.arguments) == 0 {
		return body.Content(&d.declared)
	}
	probed, _, _ := body.PartialContent(&d.probe) //nolint:errcheck // its errors are found again below
	if len(probed.Attributes) == 0 {
		return body.Content(&d.asBlocks)
	}
	mixed := hcl.BodySchema{Attributes: slices.Clip(d.asBlocks.Attributes), Blocks: slices.Clip(d.declared.Blocks)}
	for _, argument := range d.arguments {
		if probed.Attributes[argument.Name] != nil {
			mixed.Attributes = append(mixed.Attributes, hcl.AttributeSchema{Name: argument.Name})
		} else {
			mixed.Blocks = append(mixed.Blocks, hcl.BlockHeaderSchema{Type: argument.Name})
		}
	}
	return body.Content(&mixed)
}

// blockType returns the type of blocks of a name that are in a body, or nil.
func (d *Decoder) blockType(content *hcl.BodyContent, name string) *blockType {
	for _, block := range d.blocks {
		if block.Name == name {
			return block
		}
	}
	for _, argument := range d.arguments {
		if argument.Name == name && content.Attributes[name] == nil {
			return argument
		}
	}
	return nil
}
