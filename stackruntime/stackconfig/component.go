// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackaddrs"
)

var componentSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{
		{Name: "source", Required: true},
		{Name: "version"},
		{Name: "for_each"},
		{Name: "inputs"},
		{Name: "providers"},
		{Name: "depends_on"},
	},
}

func (d *decoder) component(block *hcl.Block) {
	name := block.Labels[0]
	if !d.declare(block, "Component", stackaddrs.Component{Name: name}, "Component declared twice") {
		return
	}
	content, ok := d.content(block, componentSchema)
	c := &Component{
		Name:      name,
		Source:    d.source(content, "module"),
		ForEach:   d.expression(content.Attributes["for_each"]),
		Inputs:    d.inputs(content, ok),
		Providers: d.providerAssignments(content.Attributes["providers"]),
		DependsOn: d.dependencies(content),
		Range:     d.header(block),
	}
	d.stack.Components[name] = c
}

var stackCallSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{
		{Name: "source", Required: true},
		{Name: "version"},
		{Name: "for_each"},
		{Name: "inputs"},
		{Name: "depends_on"},
	},
}

func (d *decoder) stackCall(block *hcl.Block) {
	name := block.Labels[0]
	if !d.declare(block, "Embedded stack", stackaddrs.StackCall{Name: name}, "Embedded stack declared twice") {
		return
	}
	content, ok := d.content(block, stackCallSchema)
	call := &StackCall{
		Name:      name,
		Source:    d.source(content, "stack"),
		ForEach:   d.expression(content.Attributes["for_each"]),
		Inputs:    d.inputs(content, ok),
		DependsOn: d.dependencies(content),
		Range:     d.header(block),
	}
	d.stack.Calls[name] = call
}

// inputs returns the inputs argument. In a block with mistakes a missing one may
// only be misspelt, and is unknown.
func (d *decoder) inputs(content *hcl.BodyContent, blockOK bool) hcl.Expression {
	attr := content.Attributes["inputs"]
	if attr == nil && !blockOK {
		return unknownExpression(content.MissingItemRange)
	}
	return d.expression(attr)
}

// dependencies decodes a depends_on argument. Whether the targets are declared,
// and are of a kind that can be depended on, is left to the evaluator.
func (d *decoder) dependencies(content *hcl.BodyContent) []hcl.Traversal {
	const summary = "depends_on target unusable"
	attr, ok := content.Attributes["depends_on"]
	if !ok {
		return nil
	}
	elems, diags := hcl.ExprList(attr.Expr)
	if diags.HasErrors() {
		d.errorf(attr.Expr.Range(), summary, "The targets are written as a list, like [component.network].")
		return nil
	}
	targets := make([]hcl.Traversal, 0, len(elems))
	for _, elem := range elems {
		target := StaticTraversal(elem)
		if target == nil {
			d.errorf(elem.Range(), summary, "Name a component or an embedded stack declared in this stack, like component.network.")
			continue
		}
		targets = append(targets, target)
	}
	return targets
}
