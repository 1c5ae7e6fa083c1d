// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// staticExpression returns an expression that is analysed instead of evaluated,
// in native syntax: JSON files have it as a string.
//
// Ranges inside a JSON string are exact as long as it has no escapes. ok is
// false if there was a syntax error; expressions of JSON files that are no
// strings are returned as they are.
func (d *decoder) staticExpression(expr hcl.Expression) (native hcl.Expression, ok bool) {
	text, isString := jsonString(expr)
	if !isString {
		return expr, true
	}
	native, diags := hclsyntax.ParseExpression([]byte(text), expr.Range().Filename, insideQuotes(expr))
	d.diags = append(d.diags, keepInside(diags, expr.Range())...)
	return native, !diags.HasErrors()
}

// staticTraversal returns the traversal that an expression consists of, or nil.
func staticTraversal(expr hcl.Expression) hcl.Traversal {
	if text, ok := jsonString(expr); ok {
		traversal, diags := hclsyntax.ParseTraversalAbs([]byte(text), expr.Range().Filename, insideQuotes(expr))
		if diags.HasErrors() {
			return nil
		}
		return traversal
	}
	traversal, diags := hcl.AbsTraversalForExpr(expr)
	if diags.HasErrors() {
		return nil
	}
	return traversal
}

// jsonString returns the text of a string in a JSON file.
func jsonString(expr hcl.Expression) (string, bool) {
	if _, native := expr.(hclsyntax.Expression); native {
		return "", false
	}
	v, _ := expr.Value(nil)
	if v.Type() != cty.String || !v.IsKnown() || v.IsNull() {
		return "", false
	}
	return v.AsString(), true
}

func insideQuotes(expr hcl.Expression) hcl.Pos {
	start := expr.Range().Start
	return hcl.Pos{Line: start.Line, Column: start.Column + 1, Byte: start.Byte + 1}
}

// checkTemplates finds syntax errors in the strings of an expression in a JSON file.
func checkTemplates(expr hcl.Expression) hcl.Diagnostics {
	var diags hcl.Diagnostics
	if pairs, notMap := hcl.ExprMap(expr); !notMap.HasErrors() {
		for _, pair := range pairs {
			diags = append(diags, checkTemplates(pair.Key)...)
			diags = append(diags, checkTemplates(pair.Value)...)
		}
		return diags
	}
	if elems, notList := hcl.ExprList(expr); !notList.HasErrors() {
		for _, elem := range elems {
			diags = append(diags, checkTemplates(elem)...)
		}
		return diags
	}
	if text, ok := jsonString(expr); ok {
		_, diags = hclsyntax.ParseTemplate([]byte(text), expr.Range().Filename, insideQuotes(expr))
	}
	return keepInside(diags, expr.Range())
}

// keepInside moves diagnostics whose place cannot be trusted, because escapes
// were removed before parsing, to the whole range.
func keepInside(diags hcl.Diagnostics, rng hcl.Range) hcl.Diagnostics {
	for _, diag := range diags {
		diag.Context = nil
		if s := diag.Subject; s == nil || s.Start.Byte < rng.Start.Byte || s.End.Byte > rng.End.Byte || s.End.Line > rng.End.Line {
			diag.Subject = rng.Ptr()
		}
	}
	return diags
}
