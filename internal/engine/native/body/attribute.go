// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package body

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/bounds"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// decode returns the value of an attribute, which may have been written as blocks.
func (a *attribute) decode(content *hcl.BodyContent, written map[string]*blocks, in setting) (cty.Value, hcl.Diagnostics) {
	attr := content.Attributes[a.Name]
	switch {
	case attr != nil && in.unknown:
		return cty.UnknownVal(a.ty).WithMarks(in.marks), nil
	case attr != nil && len(in.marks) > 0:
		value, diags := a.evaluate(attr, in)
		return value.WithMarks(in.marks), diags
	case attr != nil:
		return a.evaluate(attr, in)
	}
	if blocks := written[a.Name]; blocks != nil && a.block != nil {
		return a.decodeBlocks(blocks, content.MissingItemRange)
	}
	if a.Required {
		return cty.UnknownVal(a.ty), hcl.Diagnostics{failure.At(content.MissingItemRange, "Missing required argument",
			"This block needs the argument %q.", a.Name)}
	}
	return cty.NullVal(a.ty), nil
}

// decodeBlocks returns the value of an attribute that was written as blocks. Dynamic blocks that
// make none leave it null.
func (a *attribute) decodeBlocks(blocks *blocks, missing hcl.Range) (cty.Value, hcl.Diagnostics) {
	if len(blocks.written) == 0 && !blocks.broken {
		return cty.NullVal(a.ty), nil
	}
	blocks.unknown = false // the placeholder is one of the elements
	return a.block.decode(blocks, missing)
}

func (a *attribute) evaluate(attr *hcl.Attribute, in setting) (cty.Value, hcl.Diagnostics) {
	value, diags := in.evaluate(attr.Expr, in.ctx)
	if diags.HasErrors() {
		return cty.UnknownVal(a.ty), diags
	}
	if a.config == cty.DynamicPseudoType || a.config.IsPrimitiveType() && value.Type() == a.config {
		return value, diags
	}
	converted, err := bounds.Convert(value, a.config)
	if err == nil {
		return converted, diags
	}
	return cty.UnknownVal(a.ty), append(diags, &hcl.Diagnostic{
		Severity:    hcl.DiagError,
		Summary:     "Invalid argument type",
		Detail:      fmt.Sprintf("The argument %q cannot have this value: %s.", a.Name, marks.DescribeError(value, err)),
		Subject:     attr.Expr.Range().Ptr(),
		Context:     hcl.RangeBetween(attr.NameRange, attr.Expr.Range()).Ptr(),
		Expression:  attr.Expr,
		EvalContext: in.ctx,
	})
}
