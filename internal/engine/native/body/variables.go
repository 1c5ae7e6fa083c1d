// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package body

import "github.com/hashicorp/hcl/v2"

// Variables returns all references in a body, without those to iterators of dynamic blocks. Errors
// in the body are reported by Decode.
func (d *Decoder) Variables(body hcl.Body) []hcl.Traversal {
	var found references
	found.body(d, body, nil)
	return found
}

// iterators are the names that only the content of a dynamic block can refer to.
type iterators struct {
	outer *iterators
	name  string
}

func (i *iterators) has(name string) bool {
	for ; i != nil; i = i.outer {
		if i.name == name {
			return true
		}
	}
	return false
}

type references []hcl.Traversal

func (r *references) expression(expr hcl.Expression, hidden *iterators) {
	for _, traversal := range expr.Variables() {
		if !hidden.has(traversal.RootName()) {
			*r = append(*r, traversal)
		}
	}
}

func (r *references) body(d *Decoder, body hcl.Body, hidden *iterators) {
	content, _ := d.read(body) //nolint:errcheck // reported when it is decoded
	for _, attr := range d.attributes {
		if attr := content.Attributes[attr.Name]; attr != nil {
			r.expression(attr.Expr, hidden)
		}
	}
	for _, block := range content.Blocks {
		if block.Type == dynamicBlock.Type {
			r.dynamic(d.blockType(content, block.Labels[0]), block, hidden)
		} else if ty := d.blockType(content, block.Type); ty != nil {
			r.body(ty.content, block.Body, hidden)
		}
	}
}

// dynamic finds the references in a dynamic block, even in one that is wrong.
func (r *references) dynamic(ty *blockType, block *hcl.Block, hidden *iterators) {
	content, _ := block.Body.Content(&generatorSchema) //nolint:errcheck // reported when it is decoded
	inner := &iterators{outer: hidden, name: block.Labels[0]}
	if attr := content.Attributes["iterator"]; attr != nil {
		inner.name = hcl.ExprAsKeyword(attr.Expr)
	}
	if attr := content.Attributes["for_each"]; attr != nil {
		r.expression(attr.Expr, hidden)
	}
	if attr := content.Attributes["labels"]; attr != nil {
		r.expression(attr.Expr, inner)
	}
	if ty == nil {
		return
	}
	for _, content := range content.Blocks {
		r.body(ty.content, content.Body, inner)
	}
}
