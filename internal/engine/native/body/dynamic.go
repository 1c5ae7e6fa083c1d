// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package body

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// blocks are all blocks of one name in a body, those of dynamic blocks in their places.
type blocks struct {
	written []writtenBlock
	unknown bool // there may be more or fewer
	broken  bool // a dynamic block has failed
}

// writtenBlock is one block, to be evaluated in a setting of its own.
type writtenBlock struct {
	*hcl.Block
	in setting
}

// expand returns the blocks of a body by name.
func (d *Decoder) expand(content *hcl.BodyContent, in setting) (map[string]*blocks, hcl.Diagnostics) {
	if len(content.Blocks) == 0 {
		return nil, nil
	}
	var diags hcl.Diagnostics
	byName := map[string]*blocks{}
	for _, block := range content.Blocks {
		name := block.Type
		if name == dynamicBlock.Type {
			name = block.Labels[0]
		}
		if byName[name] == nil {
			byName[name] = &blocks{}
		}
		if block.Type != dynamicBlock.Type {
			byName[name].add(block, setting{ctx: in.ctx, unknown: in.unknown, made: in.made, evaluate: in.evaluate})
			continue
		}
		ty := d.blockType(content, name)
		if ty == nil {
			diags = append(diags, d.notGenerated(block))
			continue
		}
		diags = append(diags, byName[name].generate(ty, block, in)...)
	}
	return byName, diags
}

// notGenerated returns the error about a dynamic block for a name that no blocks have.
func (d *Decoder) notGenerated(block *hcl.Block) *hcl.Diagnostic {
	name := block.Labels[0]
	detail := fmt.Sprintf("No blocks are named %q here.", name)
	for _, attr := range d.attributes {
		if attr.Name == name {
			detail = fmt.Sprintf("%q is an argument here, which has its value from an expression: %s = ...", name, name)
		}
	}
	return failure.At(block.LabelRanges[0], "Unsupported block type", "%s", detail)
}

// add adds a block. One in a body that is not known makes all of its name unknown.
func (b *blocks) add(block *hcl.Block, in setting) {
	b.unknown = b.unknown || in.unknown
	b.written = append(b.written, writtenBlock{block, in})
}

// maxMade is how many blocks the dynamic blocks in a body make at most, at all depths.
const maxMade = 100_000

// generator is the content of a dynamic block.
type generator struct {
	block    *hcl.Block
	forEach  *hcl.Attribute
	iterator string
	labels   []hcl.Expression
	body     hcl.Body
}

// generatorSchema is the schema of a dynamic block. Labels are for blocks that have some.
var generatorSchema = hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "for_each"}, {Name: "iterator"}, {Name: "labels"}},
	Blocks:     []hcl.BlockHeaderSchema{{Type: "content"}},
}

// generate adds the blocks that a dynamic block makes.
func (b *blocks) generate(ty *blockType, block *hcl.Block, in setting) hcl.Diagnostics {
	g, diags := readGenerator(ty, block)
	if diags.HasErrors() {
		b.broken = true
		return diags
	}
	collection, moreDiags := g.collection(in)
	diags = append(diags, moreDiags...)
	if moreDiags.HasErrors() {
		b.broken = true
		return diags
	}
	collection, in.marks = collection.Unmark()
	if !collection.IsKnown() {
		in.unknown = true
		return append(diags, g.add(b, cty.DynamicVal, cty.DynamicVal, in)...)
	}
	for key, value := range collection.Elements() {
		moreDiags := g.add(b, key, value, in)
		diags = append(diags, moreDiags...)
		if b.broken {
			break // it would be the same for the others
		}
	}
	return diags
}

func readGenerator(ty *blockType, block *hcl.Block) (*generator, hcl.Diagnostics) {
	content, diags := block.Body.Content(&generatorSchema)
	if diags.HasErrors() {
		return nil, diags
	}
	g := &generator{block: block, forEach: content.Attributes["for_each"], iterator: block.Labels[0]}
	if g.forEach == nil {
		diags = append(diags, wrong("Missing required argument", "A dynamic block needs the argument \"for_each\".", content.MissingItemRange))
	}
	switch len(content.Blocks) {
	case 0:
		diags = append(diags, wrong("Missing content block", "A dynamic block needs a content block, which has the arguments of each block.",
			content.MissingItemRange))
	case 1:
		g.body = content.Blocks[0].Body
	default:
		diags = append(diags, wrong("Repeated content block", "A dynamic block has one content block only.", content.Blocks[1].DefRange))
	}
	if attr := content.Attributes["iterator"]; attr != nil {
		g.iterator = hcl.ExprAsKeyword(attr.Expr)
		if g.iterator == "" {
			diags = append(diags, wrong("Invalid name of iterator", "The iterator of a dynamic block is a single name.", attr.Expr.Range()))
		}
	}
	moreDiags := g.readLabels(ty, content.Attributes["labels"], content.MissingItemRange)
	return g, append(diags, moreDiags...)
}

func (g *generator) readLabels(ty *blockType, attr *hcl.Attribute, missing hcl.Range) hcl.Diagnostics {
	switch labelled := ty.labelled(); {
	case attr == nil && !labelled:
		return nil
	case attr == nil:
		return hcl.Diagnostics{wrong("Missing label",
			fmt.Sprintf("Blocks of type %q have a label, for which this block needs the argument \"labels\".", ty.Name), missing)}
	case !labelled:
		return hcl.Diagnostics{wrong("Unsupported argument", fmt.Sprintf("Blocks of type %q have no labels.", ty.Name), attr.NameRange)}
	}
	var diags hcl.Diagnostics
	g.labels, diags = hcl.ExprList(attr.Expr)
	if !diags.HasErrors() && len(g.labels) != 1 {
		diags = append(diags, wrong("Invalid number of labels", fmt.Sprintf("Blocks of type %q have one label.", ty.Name), attr.Expr.Range()))
	}
	return diags
}

func wrong(summary, detail string, at hcl.Range) *hcl.Diagnostic {
	return failure.At(at, summary, "%s", detail)
}

// collection returns the collection that blocks are made for: not null, and iterable if it is
// known. It may be marked.
func (g *generator) collection(in setting) (cty.Value, hcl.Diagnostics) {
	value, diags := in.evaluate(g.forEach.Expr, in.ctx)
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	ty := value.Type()
	var detail string
	switch {
	case value.IsNull():
		detail = "A dynamic block is made for each element of a collection, and there is none: the value is null."
	case ty != cty.DynamicPseudoType && !ty.IsCollectionType() && !ty.IsTupleType() && !ty.IsObjectType():
		detail = fmt.Sprintf("A dynamic block is made for each element of a collection, and this is a %s.", ty.FriendlyName())
	default:
		return value, diags
	}
	return cty.DynamicVal, append(diags, g.wrongValue("Invalid for_each of dynamic block", detail, g.forEach.Expr, in.ctx))
}

func (g *generator) wrongValue(summary, detail string, expr hcl.Expression, ctx *hcl.EvalContext) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: summary, Detail: detail,
		Subject: expr.Range().Ptr(), Context: g.block.DefRange.Ptr(), Expression: expr, EvalContext: ctx,
	}
}

// add adds the block for one element.
func (g *generator) add(b *blocks, key, value cty.Value, in setting) hcl.Diagnostics {
	if *in.made++; *in.made > maxMade {
		b.broken = true
		if *in.made > maxMade+1 {
			return nil // reported
		}
		return hcl.Diagnostics{wrong("Too many blocks", fmt.Sprintf("The dynamic blocks in this block make more than %d blocks, the most "+
			"that there may be. "+
			"Make lists of fewer elements, or nest fewer dynamic blocks.", maxMade), g.forEach.Expr.Range())}
	}
	in.ctx = in.ctx.NewChild()
	in.ctx.Variables = map[string]cty.Value{g.iterator: cty.ObjectVal(map[string]cty.Value{"key": key, "value": value})}
	block := &hcl.Block{Type: g.block.Labels[0], TypeRange: g.block.LabelRanges[0], DefRange: g.block.DefRange, Body: g.body}
	for _, expr := range g.labels {
		label, diags := g.label(expr, in)
		if diags.HasErrors() {
			b.broken = true
			return diags
		}
		block.Labels = append(block.Labels, label)
		block.LabelRanges = append(block.LabelRanges, expr.Range())
	}
	b.add(block, in)
	return nil
}

// label returns the label of a block.
func (g *generator) label(expr hcl.Expression, in setting) (string, hcl.Diagnostics) {
	value, diags := in.evaluate(expr, in.ctx)
	if diags.HasErrors() {
		return "", diags
	}
	text, err := convert.Convert(value, cty.String)
	bare, _ := text.Unmark()
	var detail string
	switch {
	case err != nil:
		detail = fmt.Sprintf("The label of a block is a string, and this is a %s.", value.Type().FriendlyName())
	case marks.Hidden(text):
		detail = "The label of a block must not be sensitive or ephemeral."
	case !bare.IsKnown():
		detail = "The label of a block must be known before anything is applied, and this value is not known yet."
	case bare.IsNull():
		detail = "The label of a block must not be null."
	default:
		return bare.AsString(), diags
	}
	return "", append(diags, g.wrongValue("Invalid label of dynamic block", detail, expr, in.ctx))
}
