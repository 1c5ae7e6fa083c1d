// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package body

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// decode returns the value of an attribute, which may have been written as blocks.
func (a *attribute) decode(content *hcl.BodyContent, written map[string]*blocks, in setting) (cty.Value, hcl.Diagnostics) {
	attr := content.Attributes[a.Name]
	switch {
	case attr != nil && in.unknown:
		return cty.UnknownVal(a.ty).WithMarks(in.marks), nil
	case attr != nil && len(in.marks) > 0:
		value, diags := a.evaluate(attr, in.ctx)
		return value.WithMarks(in.marks), diags
	case attr != nil:
		return a.evaluate(attr, in.ctx)
	}
	if blocks := written[a.Name]; blocks != nil && a.block != nil {
		return a.decodeBlocks(blocks, content.MissingItemRange)
	}
	if a.Required {
		return cty.UnknownVal(a.ty), hcl.Diagnostics{{
			Severity: hcl.DiagError,
			Summary:  "Missing required argument",
			Detail:   fmt.Sprintf("This block needs the argument %q.", a.Name),
			Subject:  content.MissingItemRange.Ptr(),
		}}
	}
	return cty.NullVal(a.ty), nil
}

// decodeBlocks returns the value of an attribute that was written as blocks. Dynamic blocks that make none leave it null.
func (a *attribute) decodeBlocks(blocks *blocks, missing hcl.Range) (cty.Value, hcl.Diagnostics) {
	if len(blocks.written) == 0 && !blocks.broken {
		return cty.NullVal(a.ty), nil
	}
	blocks.unknown = false // the placeholder is one of the elements
	return a.block.decode(blocks, missing)
}

func (a *attribute) evaluate(attr *hcl.Attribute, ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	value, diags := attr.Expr.Value(ctx)
	if diags.HasErrors() {
		return cty.UnknownVal(a.ty), diags
	}
	if a.config == cty.DynamicPseudoType || a.config.IsPrimitiveType() && value.Type() == a.config {
		return value, diags
	}
	converted, err := convert.Convert(value, a.config)
	if err == nil {
		return converted, diags
	}
	return cty.UnknownVal(a.ty), append(diags, &hcl.Diagnostic{
		Severity:    hcl.DiagError,
		Summary:     "Invalid argument type",
		Detail:      fmt.Sprintf("The argument %q cannot have this value: %s.", a.Name, describe(value, err)),
		Subject:     attr.Expr.Range().Ptr(),
		Context:     hcl.RangeBetween(attr.NameRange, attr.Expr.Range()).Ptr(),
		Expression:  attr.Expr,
		EvalContext: ctx,
	})
}

// describe returns the message of an error about a value after the path that it is about. Of marked values, it names neither keys nor attributes.
func describe(value cty.Value, err error) string {
	text := err.Error()
	if pathErr, ok := errors.AsType[cty.PathError](err); ok && len(pathErr.Path) > 0 {
		text = describePath(pathErr.Path) + ": " + text
	}
	if value.ContainsMarked() && strings.ContainsAny(text, "\"[.") {
		return "a part of it has the wrong type; which one is not shown, because the value is sensitive or ephemeral"
	}
	return text
}

// describePath writes a path inside of a value as its author would: tags[0].name.
func describePath(path cty.Path) string {
	var text strings.Builder
	for i, step := range path {
		switch step := step.(type) {
		case cty.GetAttrStep:
			if i > 0 {
				text.WriteByte('.')
			}
			text.WriteString(step.Name)
		case cty.IndexStep:
			text.WriteString("[" + describeKey(step.Key) + "]")
		}
	}
	return text.String()
}

func describeKey(key cty.Value) string {
	switch {
	case key.IsMarked() || !key.IsKnown() || key.IsNull():
		return "..."
	case key.Type() == cty.String:
		return strconv.Quote(key.AsString())
	case key.Type() == cty.Number:
		return key.AsBigFloat().Text('f', -1)
	default:
		return "..."
	}
}
