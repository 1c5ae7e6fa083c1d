// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

var (
	variableSchema = &hcl.BodySchema{
		Attributes: schemaOf("type", "default", "description", "sensitive", "ephemeral", "nullable", "const", "deprecated").Attributes,
		Blocks:     []hcl.BlockHeaderSchema{{Type: "validation"}},
	}
	outputSchema = &hcl.BodySchema{
		Attributes: schemaOf("value", "type", "description", "sensitive", "ephemeral", "depends_on", "deprecated").Attributes,
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

func (d *decoder) variable(block *hcl.Block) {
	name := block.Labels[0]
	d.identifier(name, block.LabelRanges[0])
	if !d.declare("variable", name, block.DefRange) {
		return
	}
	if reservedVariables[name] {
		d.problem(block.LabelRanges[0], "Reserved variable name", fmt.Sprintf("%q has a meaning in module blocks, where a variable of this "+
			"name could not be set.", name))
	}
	v := d.dir.Variables[name]
	if v == nil {
		v = &Variable{Variable: &engine.Variable{Name: name, Type: cty.DynamicPseudoType, Nullable: true, Range: block.DefRange}}
		d.dir.Variables[name] = v
	}
	content := d.content(block.Body, variableSchema)
	d.fixed(content, "description", &v.Description)
	d.report(decodeBool(content, "nullable", &v.Nullable))
	d.report(decodeBool(content, "sensitive", &v.Sensitive))
	d.report(decodeBool(content, "ephemeral", &v.Ephemeral))
	if attr := content.Attributes["deprecated"]; attr != nil {
		if message := d.deprecated(attr, "variables"); !d.override { // terraform ignores it in override files
			v.Deprecated = message
		}
	}
	d.constantVariable(content, v)
	if attr := content.Attributes["type"]; attr != nil {
		d.report(decodeType(v.Variable, attr.Expr))
		d.quotedType(attr.Expr)
	}
	if attr := content.Attributes["default"]; attr != nil {
		d.report(decodeDefault(v.Variable, attr.Expr))
		if !v.Nullable && v.Default.IsNull() {
			d.problem(attr.Expr.Range(), "Null as a default", "With nullable = false, the value of a variable is never null, and its default "+
				"cannot be.")
		}
	} else if d.override && v.Default != cty.NilVal {
		v.Default = convertDefault(v.Variable, v.Default, &d.common, block.DefRange)
	}
	for _, nested := range content.Blocks {
		if d.override {
			d.notOverridable(nested)
			continue
		}
		v.Validations = append(v.Validations, d.condition(nested))
	}
}

// deprecated decodes a message about a deprecation, which can be empty.
func (d *decoder) deprecated(attr *hcl.Attribute, blocks string) *string {
	d.since("1.15", "deprecated "+blocks, attr.NameRange)
	value, diags := attr.Expr.Value(nil)
	d.add(diags)
	switch {
	case diags.HasErrors():
		return nil
	case value.Type() != cty.String || value.IsNull():
		d.problem(attr.Expr.Range(), "Invalid argument value", fmt.Sprintf("The argument %q must be a string: the message about the "+
			"deprecation.", attr.Name))
		return nil
	}
	return new(value.AsString())
}

// quotedType reports types that are written as strings, as a language of long ago had them.
func (d *decoder) quotedType(expr hcl.Expression) {
	value, diags := expr.Value(nil)
	if diags.HasErrors() || value.Type() != cty.String || value.IsNull() || !isNative(expr) {
		return
	}
	d.problem(expr.Range(), "Quoted type constraint", fmt.Sprintf("Types are not written in quotes: string, list(string). Replace %q.",
		value.AsString()))
}

// fixed decodes an argument that is a constant string or truth value.
func (d *decoder) fixed(content *hcl.BodyContent, name string, target any) {
	if attr := content.Attributes[name]; attr != nil {
		d.constant(attr.Expr, target)
	}
}

// decodeBool sets *target if the argument is present.
func decodeBool(content *hcl.BodyContent, name string, target *bool) hcl.Diagnostics {
	attr := content.Attributes[name]
	if attr == nil {
		return nil
	}
	value, diags := attr.Expr.Value(nil)
	if diags.HasErrors() {
		return diags
	}
	if value.IsNull() || gohcl.DecodeExpression(attr.Expr, nil, target).HasErrors() {
		return hcl.Diagnostics{failure.At(attr.Expr.Range(), "Invalid argument value", "The argument %q must be true or false.", name)}
	}
	return nil
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
			d.problem(nested.TypeRange, "Unsupported block type", "Local values are arguments. To make one an object, write an equals sign after "+
				"its name.")
		}
	}
	d.add(diags)
	for _, attr := range inOrder(attrs) {
		d.identifier(attr.Name, attr.NameRange)
		if d.declare("local value", attr.Name, attr.NameRange) {
			d.dir.Locals[attr.Name] = &Local{Name: attr.Name, Value: d.expr(attr.Expr), Range: attr.Range}
		}
	}
}

func (d *decoder) output(block *hcl.Block) {
	name := block.Labels[0]
	d.identifier(name, block.LabelRanges[0])
	if !d.declare("output", name, block.DefRange) {
		return
	}
	out := d.dir.Outputs[name]
	if out == nil {
		out = &Output{Output: &engine.Output{Name: name, Range: block.DefRange}}
		d.dir.Outputs[name] = out
	}
	content := d.content(block.Body, outputSchema)
	d.report(decodeBool(content, "sensitive", &out.Sensitive))
	d.report(decodeBool(content, "ephemeral", &out.Ephemeral))
	d.fixed(content, "description", &out.Description)
	if attr := content.Attributes["deprecated"]; attr != nil {
		if message := d.deprecated(attr, "outputs"); !d.override { // as in variables
			out.Deprecated, out.DeprecatedRange = message, attr.Range
		}
	}
	if attr := content.Attributes["type"]; attr != nil {
		// Of the ways to write a type that are older than type expressions, outputs have none.
		ty, defaults, diags := typeexpr.TypeConstraintWithDefaults(attr.Expr)
		d.add(diags)
		d.since("1.15", "types of outputs", attr.NameRange)
		if !diags.HasErrors() {
			out.Type = &lang.Constraint{Type: ty, Defaults: defaults}
		}
	}
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
			d.problem(nested.TypeRange, "Postcondition of an output", "Outputs have preconditions only. Write the condition in a block of type "+
				"precondition.")
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
	d.problem(attr.NameRange, "Override not possible",
		fmt.Sprintf("The argument %q cannot be in an override file. Write it where the block is declared.", attr.Name))
	return nil
}

func (d *decoder) notOverridable(block *hcl.Block) {
	d.problem(block.DefRange, "Override not possible",
		fmt.Sprintf("A block of type %q cannot be in an override file. Write it in another file.", block.Type))
}
