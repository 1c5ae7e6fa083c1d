// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

var (
	variableSchema = &hcl.BodySchema{
		Attributes: schemaOf("type", "default", "description", "sensitive", "ephemeral", "nullable", "const").Attributes,
		Blocks:     []hcl.BlockHeaderSchema{{Type: "validation"}},
	}
	outputSchema = &hcl.BodySchema{
		Attributes: schemaOf("value", "description", "sensitive", "ephemeral", "depends_on").Attributes,
		Blocks:     []hcl.BlockHeaderSchema{{Type: "precondition"}, {Type: "postcondition"}},
	}
	conditionSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{
		{Name: "condition", Required: true},
		{Name: "error_message", Required: true},
	}}
)

// reservedVariables are arguments of module blocks, so that no variable can have their names.
var reservedVariables = map[string]bool{
	"source": true, "version": true, "providers": true, "count": true, "for_each": true, "lifecycle": true, "depends_on": true, "locals": true,
}

// variable decodes a variable block as far as reading the directory has not.
func (d *decoder) variable(block *hcl.Block) {
	name := block.Labels[0]
	d.identifier(name, block.LabelRanges[0])
	if !d.declare("variable", name, block.DefRange) {
		return
	}
	if reservedVariables[name] {
		d.problem(block.LabelRanges[0], "Reserved variable name", fmt.Sprintf("%q has a meaning in module blocks, where a variable of this name could not be set.", name))
	}
	v := d.m.Variables[name]
	content, diags := block.Body.Content(variableSchema)
	d.add(diags)
	d.text(content, "description", &v.Description)
	if attr := content.Attributes["type"]; attr != nil {
		d.quotedType(attr.Expr)
	}
	if attr := content.Attributes["default"]; attr != nil && !v.Nullable && v.Default != cty.NilVal && v.Default.IsNull() {
		d.problem(attr.Expr.Range(), "Null as a default", "With nullable = false, the value of a variable is never null, and its default cannot be.")
	}
	for _, nested := range content.Blocks {
		if d.override {
			d.notOverridable(nested)
			continue
		}
		rule := d.condition(nested)
		v.Validations = append(v.Validations, rule)
	}
}

// quotedType reports types that are written as strings, as a language of long ago had them.
func (d *decoder) quotedType(expr hcl.Expression) {
	value, diags := expr.Value(nil)
	if diags.HasErrors() || value.Type() != cty.String || value.IsNull() || !isNative(expr) {
		return
	}
	d.problem(expr.Range(), "Quoted type constraint", fmt.Sprintf("Types are not written in quotes: string, list(string). Replace %q.", value.AsString()))
}

// text decodes an argument that is a constant string.
func (d *decoder) text(content *hcl.BodyContent, name string, target *string) {
	if attr := content.Attributes[name]; attr != nil {
		d.constant(attr.Expr, target)
	}
}

// flag decodes an argument that is a constant truth value.
func (d *decoder) flag(content *hcl.BodyContent, name string, target *bool) {
	if attr := content.Attributes[name]; attr != nil {
		d.constant(attr.Expr, target)
	}
}

// constant decodes an expression that refers to nothing.
func (d *decoder) constant(expr hcl.Expression, target any) {
	if _, diags := expr.Value(nil); diags.HasErrors() {
		d.add(diags)
		return
	}
	d.add(gohcl.DecodeExpression(expr, nil, target))
}

// condition decodes a block with a condition and a message.
func (d *decoder) condition(block *hcl.Block) *Condition {
	content, diags := block.Body.Content(conditionSchema)
	d.add(diags)
	return &Condition{
		Condition:    d.argumentOrUnknown(content, "condition"),
		ErrorMessage: d.argumentOrUnknown(content, "error_message"),
		Range:        block.DefRange,
	}
}

// argumentOrUnknown returns an argument, or in the place of one that is missing an unknown value.
func (d *decoder) argumentOrUnknown(content *hcl.BodyContent, name string) *Expr {
	if found := d.argument(content, name); found != nil {
		return found
	}
	return &Expr{Expression: hcl.StaticExpr(cty.DynamicVal, content.MissingItemRange)}
}

func (d *decoder) locals(block *hcl.Block) {
	attrs, diags := block.Body.JustAttributes()
	if native, ok := block.Body.(*hclsyntax.Body); ok {
		diags = nil
		for _, nested := range native.Blocks {
			d.problem(nested.TypeRange, "Unsupported block type", "Local values are arguments. To make one an object, write an equals sign after its name.")
		}
	}
	d.add(diags)
	for _, attr := range inOrder(attrs) {
		d.identifier(attr.Name, attr.NameRange)
		if d.declare("local value", attr.Name, attr.NameRange) {
			d.m.Locals[attr.Name] = &Local{Name: attr.Name, Value: d.expr(attr.Expr), Range: attr.Range}
		}
	}
}

func (d *decoder) output(block *hcl.Block) {
	name := block.Labels[0]
	d.identifier(name, block.LabelRanges[0])
	if !d.declare("output", name, block.DefRange) {
		return
	}
	out := d.m.Outputs[name]
	content, diags := block.Body.Content(outputSchema)
	d.add(diags)
	d.text(content, "description", &out.Description)
	if value := d.argument(content, "value"); value != nil {
		out.Value = value
	} else if !d.override {
		d.missing(content, "value")
		out.Value = d.argumentOrUnknown(content, "value")
	}
	if attr := d.notInOverride(content.Attributes["depends_on"]); attr != nil {
		out.DependsOn = d.dependsOn(attr)
	}
	for _, nested := range content.Blocks {
		switch {
		case d.override:
			d.notOverridable(nested)
		case nested.Type == "postcondition":
			d.problem(nested.TypeRange, "Postcondition of an output", "Outputs have preconditions only. Write the condition in a block of type precondition.")
		default:
			out.Preconditions = append(out.Preconditions, d.condition(nested))
		}
	}
}

func (d *decoder) missing(content *hcl.BodyContent, name string) {
	d.problem(content.MissingItemRange, "Missing required argument", fmt.Sprintf("This block needs the argument %q.", name))
}

// notInOverride returns the argument unless it is in an override file, where it is an error.
func (d *decoder) notInOverride(attr *hcl.Attribute) *hcl.Attribute {
	if attr == nil || !d.override {
		return attr
	}
	d.problem(attr.NameRange, "Override not possible", fmt.Sprintf("The argument %q cannot be in an override file. Write it where the block is declared.", attr.Name))
	return nil
}

func (d *decoder) notOverridable(block *hcl.Block) {
	d.problem(block.DefRange, "Override not possible", fmt.Sprintf("A block of type %q cannot be in an override file. Write it in another file.", block.Type))
}
