// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terragrunt

import (
	"errors"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/cairnstacks/cairn/internal/bounds"
	"github.com/cairnstacks/cairn/internal/hclsource"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/problem"
)

// Budgets for all files of a tree, in bytes that are copied or looked at. Expressions can double
// their operands, and files are evaluated again for each unit that includes them.
const (
	evaluationBudget order.Budget = 500_000_000
	perInclude                    = 5000
	maxReferences                 = 100     // in an expression
	maxReplacement                = 1 << 20 // the largest result of replace
)

// spend reports whether the cost of the expression at a place is within the rest of the budget. The
// first that is not is reported as an error.
func (l *loader) spend(at hcl.Range, cost int) bool {
	return l.budget.Spend(cost, func() {
		l.diags = l.diags.Append(problem.New(problem.Syntax, &at, "Evaluation too large",
			"The expressions up to here, in files terragrunt.hcl and in those that they include, come to more than anybody writes for paths. "+
				"Write the paths out."))
	})
}

// evaluate returns the value of an expression. Without ok it has none that is known here, or could
// take any time: loops and products are left alone.
func (r *reader) evaluate(expr hclsyntax.Expression, ctx *hcl.EvalContext) (value cty.Value, ok bool) {
	references, harmless := 0, true
	_ = hclsyntax.VisitAll(expr, func(node hclsyntax.Node) hcl.Diagnostics { //nolint:errcheck // it returns nil, as the function
		switch node := node.(type) {
		case *hclsyntax.ForExpr, *hclsyntax.TemplateJoinExpr, *hclsyntax.SplatExpr:
			harmless = false
		case *hclsyntax.BinaryOpExpr:
			harmless = harmless && !bounds.Is(node.Op, hclsyntax.OpMultiply) && !bounds.Is(node.Op, hclsyntax.OpDivide) &&
				!bounds.Is(node.Op, hclsyntax.OpModulo)
		case *hclsyntax.LiteralValueExpr:
			harmless = harmless && !hclsource.TooLarge(node.Val)
		case *hclsyntax.ScopeTraversalExpr:
			references++
		}
		return nil
	})
	source := expr.Range()
	if !harmless || references > maxReferences || !r.spend(source, source.End.Byte-source.Start.Byte+references*r.largest) {
		return cty.NilVal, false
	}
	value, diags := expr.Value(ctx)
	return value, !diags.HasErrors() && value.IsWhollyKnown()
}

// replaceFunction is replace without results that are much longer than its arguments, or regular
// expressions that take long.
var replaceFunction = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "str", Type: cty.String}, {Name: "substr", Type: cty.String}, {Name: "replace", Type: cty.String}},
	Type:   function.StaticReturnType(cty.String),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		text, old, replacement := args[0].AsString(), args[1].AsString(), args[2].AsString()
		if (len(text)+1)*(len(replacement)+1) > maxReplacement {
			return cty.NilVal, errors.New("the result could be very long")
		}
		if len(old) > 1 && old[0] == '/' && old[len(old)-1] == '/' && (len(old) > 100 || len(text) > 1000) {
			return cty.NilVal, errors.New("the regular expression or the text is too long")
		}
		return stdlib.Replace(args[0], args[1], args[2])
	},
})
