// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package hclsource

import (
	"math/big"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// Constant returns the value of an expression that is written out: texts, numbers, booleans, null,
// and lists and objects of them.
//
// It takes time and memory linear in the text. A loop could take any, and so could a number that
// becomes a text: 1e600000000 has as many digits. Both are errors, and so are calculations. The
// expression of HCL's JSON syntax is always one that is written out.
func Constant(expr hcl.Expression) (cty.Value, hcl.Diagnostics) { return ConstantOf(expr, nil) }

// ConstantOf is [Constant] with functions that may be called with constants. They must not take
// more than linear time and memory.
func ConstantOf(expr hcl.Expression, functions map[string]function.Function) (cty.Value, hcl.Diagnostics) {
	if native, ok := expr.(hclsyntax.Expression); ok {
		if at, what := notWrittenOut(native); what != "" {
			return cty.DynamicVal, hcl.Diagnostics{{
				Severity: hcl.DiagError, Summary: "Not a constant",
				Detail:  "Everything in this file is written out: there are no loops and no calculations. " + what,
				Subject: &at, Context: expr.Range().Ptr(), Expression: expr,
			}}
		}
	}
	if functions == nil {
		return expr.Value(nil)
	}
	return expr.Value(&hcl.EvalContext{Functions: functions})
}

// notWrittenOut reports the reason why an expression cannot be evaluated safely, and its place; ""
// for none. References, and calls of unknown functions, are left to the evaluation, which refuses
// them.
func notWrittenOut(expr hclsyntax.Expression) (at hcl.Range, what string) {
	switch expr := expr.(type) {
	case *hclsyntax.LiteralValueExpr:
		if TooLarge(expr.Val) {
			return expr.SrcRange, "This number is too large or too small."
		}
	case *hclsyntax.ScopeTraversalExpr:
	case *hclsyntax.FunctionCallExpr:
		return firstNotWrittenOut(expr.Args)
	case *hclsyntax.TemplateExpr:
		return firstNotWrittenOut(expr.Parts)
	case *hclsyntax.TemplateWrapExpr:
		return notWrittenOut(expr.Wrapped)
	case *hclsyntax.ParenthesesExpr:
		return notWrittenOut(expr.Expression)
	case *hclsyntax.UnaryOpExpr:
		return notWrittenOut(expr.Val)
	case *hclsyntax.TupleConsExpr:
		return firstNotWrittenOut(expr.Exprs)
	case *hclsyntax.ObjectConsExpr:
		for _, item := range expr.Items {
			if at, what = firstNotWrittenOut([]hclsyntax.Expression{item.KeyExpr, item.ValueExpr}); what != "" {
				return at, what
			}
		}
	case *hclsyntax.ObjectConsKeyExpr:
		// HCL parses a bare word as a reference, and takes it for a string if it has no parentheses.
		if expr.ForceNonLiteral || hcl.ExprAsKeyword(expr.Wrapped) == "" {
			return notWrittenOut(expr.Wrapped)
		}
	default:
		return expr.Range(), "Write its result."
	}
	return hcl.Range{}, ""
}

func firstNotWrittenOut(exprs []hclsyntax.Expression) (at hcl.Range, what string) {
	for _, expr := range exprs {
		if at, what = notWrittenOut(expr); what != "" {
			break
		}
	}
	return at, what
}

// maxBits is how many binary digits a number has at most before its point, or behind: more than any
// that is not meant to do harm.
const maxBits = 4096

// TooLarge reports whether a value is a number with so many digits that nobody should write them
// out.
func TooLarge(value cty.Value) bool {
	if value.IsNull() || !value.IsKnown() || value.Type() != cty.Number {
		return false
	}
	number := value.AsBigFloat()
	exponent := number.MantExp(new(big.Float))
	return number.IsInf() || exponent > maxBits || exponent < -maxBits
}
