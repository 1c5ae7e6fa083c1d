// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"errors"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/bounds"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// The input variables, local values and output values of a stack.

var variableSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{
		{Name: "type", Required: true},
		{Name: "default"},
		{Name: "description"},
		{Name: "sensitive"},
		{Name: "ephemeral"},
		{Name: "nullable"}, // to explain why there is none
	},
	Blocks: []hcl.BlockHeaderSchema{{Type: "validation"}},
}

// pendingVariable is a variable whose type is not known yet.
type pendingVariable struct {
	variable *InputVariable
	typeExpr hcl.Expression // nil when it is missing
	deflt    *hcl.Attribute // nil when there is none
}

func (d *decoder) variable(block *hcl.Block) {
	name := block.Labels[0]
	if !d.declare(block, "Input variable", stackaddrs.InputVariable{Name: name}, "Input variable declared twice") {
		return
	}
	content, _ := d.content(block, variableSchema)
	if attr, ok := content.Attributes["nullable"]; ok {
		d.errorf(attr.NameRange, "Unsupported argument", "The argument nullable is not available; null always selects the default.")
	}
	v := &InputVariable{
		Name:        name,
		Description: d.description(content),
		Type:        Type{Constraint: cty.DynamicPseudoType},
		Sensitive:   d.literalBool(content.Attributes["sensitive"], false),
		Ephemeral:   d.literalBool(content.Attributes["ephemeral"], false),
		Range:       d.header(block),
	}
	for _, rule := range content.Blocks {
		if decoded := d.checkRule(rule); decoded != nil {
			v.Validations = append(v.Validations, decoded)
		}
	}
	pending := &pendingVariable{variable: v, deflt: content.Attributes["default"]}
	if attr, ok := content.Attributes["type"]; ok {
		pending.typeExpr = attr.Expr
	}
	if pending.deflt != nil {
		v.DefaultRange = pending.deflt.Expr.Range()
	}
	d.variables = append(d.variables, pending)
	d.stack.Variables[name] = v
}

// finishVariable decodes a variable's type and converts its default to it.
func (d *decoder) finishVariable(p *pendingVariable) {
	v := p.variable
	typeOK := false
	v.Type, typeOK = d.constraint(p.typeExpr)
	if p.deflt == nil {
		return
	}
	v.Default = cty.UnknownVal(v.Type.WithoutOptional())
	written, diags := p.deflt.Expr.Value(nil)
	d.diags = append(d.diags, diags...)
	if diags.HasErrors() || !typeOK {
		return
	}
	converted, err := v.Type.Convert(written)
	if err != nil {
		d.errorf(v.DefaultRange, "Default does not fit the type", "The default of variable %q cannot be used: %s.", v.Name, conversionReason(err))
		return
	}
	v.Default = converted
}

// Convert fills in the defaults of optional attributes and converts the result
// to the type.
func (t Type) Convert(v cty.Value) (cty.Value, error) {
	if t.Defaults != nil {
		v = t.Defaults.Apply(v)
	}
	return bounds.Convert(v, t.Constraint)
}

// conversionReason says why a value could not be converted, and which part of it.
func conversionReason(err error) string {
	pathErr, ok := errors.AsType[cty.PathError](err)
	if !ok || len(pathErr.Path) == 0 {
		return err.Error()
	}
	return fmt.Sprintf("%s: %s", pathText(pathErr.Path), err)
}

var checkRuleSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{
		{Name: "condition", Required: true},
		{Name: "error_message", Required: true},
	},
}

// checkRule decodes a validation block. It returns nil if that is not complete.
func (d *decoder) checkRule(block *hcl.Block) *CheckRule {
	content, _ := d.content(block, checkRuleSchema)
	rule := &CheckRule{
		Condition:    d.expression(content.Attributes["condition"]),
		ErrorMessage: d.expression(content.Attributes["error_message"]),
		Range:        d.header(block),
	}
	if rule.Condition == nil {
		return nil
	}
	if written := content.Attributes["condition"].Expr; rule.Condition == written && len(written.Variables()) == 0 {
		d.errorf(written.Range(), "Validation condition tests nothing",
			"The condition refers to nothing, so it has the same result for each value. Refer to the variable that is validated.")
		return nil
	}
	if rule.ErrorMessage == nil {
		return nil
	}
	return rule
}

func (d *decoder) locals(block *hcl.Block) {
	for _, attr := range d.attributes(block.Body) {
		addr := stackaddrs.LocalValue{Name: attr.Name}
		if d.checkName(attr.Name, attr.NameRange, "Local value") && d.claim(addr, attr.NameRange, "Local value declared twice") {
			d.stack.Locals[attr.Name] = &LocalValue{attr.Name, d.expression(attr), attr.NameRange}
		}
	}
}

var outputSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{
		{Name: "type", Required: true},
		{Name: "value"},
		{Name: "description"},
		{Name: "sensitive"},
		{Name: "ephemeral"},
	},
	Blocks: []hcl.BlockHeaderSchema{{Type: "precondition"}}, // to explain why there is none
}

// pendingOutput is an output whose type is not known yet.
type pendingOutput struct {
	output   *OutputValue
	typeExpr hcl.Expression // nil when it is missing
}

func (d *decoder) output(block *hcl.Block) {
	name := block.Labels[0]
	if !d.declare(block, "Output value", stackaddrs.OutputValue{Name: name}, "Output value declared twice") {
		return
	}
	content, _ := d.content(block, outputSchema)
	out := &OutputValue{
		Name:        name,
		Description: d.description(content),
		Type:        Type{Constraint: cty.DynamicPseudoType},
		Value:       d.expression(content.Attributes["value"]),
		Sensitive:   d.literalBool(content.Attributes["sensitive"], false),
		Ephemeral:   d.literalBool(content.Attributes["ephemeral"], false),
		Range:       d.header(block),
	}
	if out.Value == nil {
		d.errorf(d.header(block), "Output without value", "Give output %q a value argument.", name)
		out.Value = unknownExpression(d.header(block))
	}
	for _, nested := range content.Blocks {
		d.errorf(d.header(nested), "Preconditions are not available for stack outputs",
			"Put the condition into a module, or into a validation block of a variable.")
	}
	pending := &pendingOutput{output: out}
	if attr, ok := content.Attributes["type"]; ok {
		pending.typeExpr = attr.Expr
	}
	d.outputs = append(d.outputs, pending)
	d.stack.Outputs[name] = out
}
