// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/safehcl"
)

// isNative reports whether an expression is in native syntax, where quotes make a string.
func isNative(expr hcl.Expression) bool {
	_, ok := expr.(hclsyntax.Expression)
	return ok
}

// quoted returns a string in native syntax that has no parts to be filled in.
func quoted(expr hcl.Expression) (text string, ok bool) {
	if key, isKey := expr.(*hclsyntax.ObjectConsKeyExpr); isKey {
		expr = key.Wrapped
	}
	template, ok := expr.(*hclsyntax.TemplateExpr)
	if !ok || !template.IsStringLiteral() {
		return "", false
	}
	value, diags := template.Value(nil)
	if diags.HasErrors() || value.Type() != cty.String {
		return "", false
	}
	return value.AsString(), true
}

// constantText returns the value of an expression that is a string and refers to nothing, or an
// empty one.
func constantText(expr hcl.Expression) string {
	value, diags := expr.Value(nil)
	if diags.HasErrors() || value.Type() != cty.String || value.IsNull() || !value.IsKnown() {
		return ""
	}
	return value.AsString()
}

// inside returns the place after the opening quote.
func inside(at hcl.Range) hcl.Pos {
	start := at.Start
	start.Byte++
	start.Column++
	return start
}

// unquoted returns the expression that a string in JSON syntax holds, which is no template. Others
// are as they are.
func unquoted(expr hcl.Expression) (hcl.Expression, hcl.Diagnostics) {
	if isNative(expr) {
		return expr, nil
	}
	value, diags := expr.Value(nil)
	if diags.HasErrors() || value.Type() != cty.String || value.IsNull() {
		return expr, nil
	}
	return safehcl.ParseExpression([]byte(value.AsString()), expr.Range().Filename, inside(expr.Range()))
}
