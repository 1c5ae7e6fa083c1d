// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployconfig

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/internal/lang/scope"
)

// Evaluator evaluates the expressions of deployment files. Where the values of references come from
// is up to its caller: while files are checked they are unknown.
type Evaluator struct {
	config    *Config
	options   lang.Options
	functions map[string]function.Function
}

// NewEvaluator returns an evaluator with the functions that the options allow.
func NewEvaluator(config *Config, options lang.Options) *Evaluator {
	return &Evaluator{config, options, lang.Functions(options)}
}

// Values returns the value of a reference: with error diagnostics any, never [cty.NilVal].
type Values func(ctx context.Context, ref Reference) (cty.Value, hcl.Diagnostics)

// Value evaluates an expression at a place. With errors the value is unknown; then, too, all that
// the expression refers to has a value, so that evaluating it finds the other mistakes.
func (e *Evaluator) Value(ctx context.Context, expr hcl.Expression, in Place, values Values) (cty.Value, hcl.Diagnostics) {
	var diags hcl.Diagnostics
	table := scope.Table{}
	for _, traversal := range expr.Variables() {
		if lang.IsTypeWord(traversal) {
			continue
		}
		ref, diag, ok := e.config.resolve(traversal, in)
		if diag != nil {
			diags = append(diags, diag)
		}
		if !ok {
			table.Set(cty.DynamicVal, traversal.RootName())
			continue
		}
		value, moreDiags := values(ctx, ref)
		diags = diags.Extend(moreDiags)
		table.Set(value, ref.path()...)
	}
	evalCtx := &hcl.EvalContext{Functions: e.functions, Variables: table.Variables()}
	value, moreDiags := e.options.Evaluate(ctx, expr, evalCtx)
	for _, diag := range moreDiags {
		if diag.EvalContext == nil {
			diag.Expression, diag.EvalContext = expr, evalCtx
		}
	}
	diags = diags.Extend(moreDiags)
	if diags.HasErrors() {
		return cty.DynamicVal, diags
	}
	return value, diags
}
