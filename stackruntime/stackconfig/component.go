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
		Range:     d.header(block),
	}
	d.deferDependencies(content, &c.DependsOn)
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
		Name:    name,
		Source:  d.source(content, "stack"),
		ForEach: d.expression(content.Attributes["for_each"]),
		Inputs:  d.inputs(content, ok),
		Range:   d.header(block),
	}
	d.deferDependencies(content, &call.DependsOn)
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

// pendingDependencies is a depends_on argument whose targets may be declared later.
type pendingDependencies struct {
	expr   hcl.Expression
	result *[]hcl.Traversal
}

func (d *decoder) deferDependencies(content *hcl.BodyContent, result *[]hcl.Traversal) {
	if attr, ok := content.Attributes["depends_on"]; ok {
		d.dependsOn = append(d.dependsOn, &pendingDependencies{attr.Expr, result})
	}
}

// dependencies decodes a depends_on argument. Each traversal of the result has
// two steps and names a component or a stack call that is declared.
func (d *decoder) dependencies(expr hcl.Expression) []hcl.Traversal {
	elems, diags := hcl.ExprList(expr)
	if diags.HasErrors() {
		d.errorf(expr.Range(), "depends_on target unusable", "The targets are written as a list, like [component.network].")
		return nil
	}
	targets := make([]hcl.Traversal, 0, len(elems))
	for _, elem := range elems {
		if target := d.dependency(elem); target != nil {
			targets = append(targets, target)
		}
	}
	return targets
}

// dependency returns the target of one element, nil if it has a mistake.
func (d *decoder) dependency(elem hcl.Expression) hcl.Traversal {
	const summary = "depends_on target unusable"
	traversal := staticTraversal(elem)
	if traversal == nil {
		d.errorf(elem.Range(), summary, "Name a component or an embedded stack declared in this stack, like component.network.")
		return nil
	}
	ref, rest, diags := stackaddrs.ParseReference(traversal)
	if diags.HasErrors() {
		d.diags = append(d.diags, d.keepInside(diags, elem.Range())...)
		return nil
	}
	declared := false
	switch target := ref.Target.(type) {
	case stackaddrs.Component:
		_, declared = d.stack.Components[target.Name]
	case stackaddrs.StackCall:
		_, declared = d.stack.Calls[target.Name]
	default:
		d.errorf(elem.Range(), summary, "%s is neither a component nor an embedded stack. Name a component or an embedded stack declared in this stack.", ref.Target)
		return nil
	}
	switch {
	case !declared && d.stack.Incomplete:
		return nil
	case !declared:
		d.errorf(elem.Range(), summary, "%s is not declared. Name a component or an embedded stack declared in this stack.", ref.Target)
		return nil
	case len(rest) > 0:
		d.diags = append(d.diags, &hcl.Diagnostic{
			Severity: hcl.DiagWarning,
			Summary:  "depends_on target too specific",
			Detail:   "Only the whole object " + ref.Target.String() + " is considered.",
			Subject:  elem.Range().Ptr(),
		})
	}
	return traversal[:len(traversal)-len(rest)]
}
