// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package expr

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/internal/bounds"
	"github.com/cairnstacks/cairn/internal/lang"
	symbols "github.com/cairnstacks/cairn/internal/lang/scope"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Result is an evaluated expression with its source and context, for diagnostics about the value.
type Result struct {
	Value       cty.Value
	Expression  hcl.Expression
	EvalContext *hcl.EvalContext
}

// Diagnostic returns an error about the value of the expression.
func (r Result) Diagnostic(summary, detail string) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity:    hcl.DiagError,
		Summary:     summary,
		Detail:      detail,
		Subject:     r.Expression.Range().Ptr(),
		Expression:  r.Expression,
		EvalContext: r.EvalContext,
	}
}

// EvalExpr evaluates an expression. With errors the value is a placeholder of
// unknown type.
func EvalExpr(ctx context.Context, e hcl.Expression, phase EvalPhase, scope EvaluationScope) (cty.Value, hcl.Diagnostics) {
	result, diags := EvalExprAndEvalContext(ctx, e, phase, scope)
	return result.Value, diags
}

// EvalExprAndEvalContext is like [EvalExpr] and also returns the expression and its context.
func EvalExprAndEvalContext(ctx context.Context, e hcl.Expression, phase EvalPhase, scope EvaluationScope) (Result, hcl.Diagnostics) {
	result := Result{Value: Placeholder(cty.DynamicPseudoType), Expression: e}
	evalCtx, diags := evalContextFor(ctx, source{e.Variables(), []hcl.Expression{e}}, phase, scope)
	result.EvalContext = evalCtx
	if diags.HasErrors() {
		return result, diags
	}
	value, moreDiags := scope.FunctionOptions().Evaluate(ctx, e, evalCtx)
	diags = diags.Extend(moreDiags)
	if moreDiags.HasErrors() {
		return result, diags
	}
	result.Value = value
	return result, diags
}

// EvalBody evaluates all expressions of a body and decodes it. With errors the
// value is a placeholder of the spec's type.
func EvalBody(ctx context.Context, body hcl.Body, spec hcldec.Spec, phase EvalPhase, scope EvaluationScope) (cty.Value, hcl.Diagnostics) {
	placeholder := Placeholder(hcldec.ImpliedType(spec))
	refs := hcldec.Variables(body, spec)
	evalCtx, diags := evalContextFor(ctx, source{refs, bodyExpressions(body, spec)}, phase, scope)
	if diags.HasErrors() {
		return placeholder, diags
	}
	decode := func(scope *hcl.EvalContext) (cty.Value, hcl.Diagnostics) { return hcldec.Decode(body, spec, scope) }
	value, moreDiags := bounds.Within(ctx, body.MissingItemRange(), evalCtx, scope.FunctionOptions().Allowance, decode)
	diags = diags.Extend(lang.WithholdSecrets(moreDiags, refs, evalCtx))
	if moreDiags.HasErrors() {
		return placeholder, diags
	}
	return value, diags
}

// CheckReferences reports references in an expression that lead nowhere, and
// functions of providers that there are not, without evaluating it.
func CheckReferences(ctx context.Context, e hcl.Expression, scope EvaluationScope) hcl.Diagnostics {
	if e == nil {
		return nil
	}
	_, diags := resolveReferences(ctx, e.Variables(), scope)
	_, moreDiags := providerFunctions(ctx, []hcl.Expression{e}, scope)
	return diags.Extend(moreDiags)
}

// source has the references and expressions that values are computed from.
type source struct {
	traversals  []hcl.Traversal
	expressions []hcl.Expression
}

// evalContextFor asks all objects that are referred to for their values. When
// references are bad, all of them are reported and no object is asked.
func evalContextFor(ctx context.Context, from source, phase EvalPhase, scope EvaluationScope) (*hcl.EvalContext, hcl.Diagnostics) {
	functions, diags := providerFunctions(ctx, from.expressions, scope)
	// In a context of their own, HCL would take all names for those of a loop.
	evalCtx := &hcl.EvalContext{Functions: lang.With(scope.Functions(), functions)}
	if len(from.traversals) == 0 {
		return evalCtx, diags
	}
	objects, moreDiags := resolveReferences(ctx, from.traversals, scope)
	diags = diags.Extend(moreDiags)
	if diags.HasErrors() {
		return evalCtx, diags
	}
	table := symbols.Table{}
	for target, object := range objects.inOrder() {
		if path := pathOf(target); path != nil {
			table.Set(object.ExprReferenceValue(ctx), path...)
		}
	}
	evalCtx.Variables = table.Variables()
	if phase == ValidatePhase {
		diags = diags.Extend(checkSteps(ctx, from.expressions, objects, scope))
	}
	return evalCtx, diags
}

func providerFunctions(
	ctx context.Context, expressions []hcl.Expression, scope EvaluationScope,
) (map[string]function.Function, hcl.Diagnostics) {
	find := func(call lang.ProviderCall) (function.Function, hcl.Diagnostics) {
		return scope.ProviderFunction(ctx, call)
	}
	return lang.ProviderFunctions(expressions, scope.FunctionOptions(), scope.Functions(), find)
}

// bodyExpressions returns all expressions in a body, whose mistakes decoding reports.
func bodyExpressions(body hcl.Body, spec hcldec.Spec) []hcl.Expression {
	content, _, _ := body.PartialContent(hcldec.ImpliedSchema(spec)) //nolint:errcheck // see above
	if content == nil {
		return nil
	}
	var expressions []hcl.Expression
	for _, attr := range content.Attributes {
		expressions = append(expressions, attr.Expr)
	}
	nested := hcldec.ChildBlockTypes(spec)
	for _, block := range content.Blocks {
		if spec, ok := nested[block.Type]; ok {
			expressions = append(expressions, bodyExpressions(block.Body, spec)...)
		}
	}
	return expressions
}

// resolved are the objects that an expression refers to, each once, in the order of use.
type resolved struct {
	targets []stackaddrs.Referenceable
	objects map[stackaddrs.Referenceable]Referenceable
}

func resolveReferences(ctx context.Context, traversals []hcl.Traversal, scope EvaluationScope) (resolved, hcl.Diagnostics) {
	var diags hcl.Diagnostics
	found := resolved{objects: make(map[stackaddrs.Referenceable]Referenceable, len(traversals))}
	for _, traversal := range traversals {
		if lang.IsTypeWord(traversal) {
			continue
		}
		ref, _, moreDiags := stackaddrs.ParseReference(traversal)
		diags = diags.Extend(moreDiags)
		if moreDiags.HasErrors() {
			continue
		}
		if _, done := found.objects[ref.Target]; done {
			continue
		}
		object, moreDiags := scope.ResolveExpressionReference(ctx, ref)
		diags = diags.Extend(moreDiags)
		if moreDiags.HasErrors() {
			continue
		}
		found.targets = append(found.targets, ref.Target)
		found.objects[ref.Target] = object
	}
	return found, diags
}

func (r resolved) inOrder() func(yield func(stackaddrs.Referenceable, Referenceable) bool) {
	return func(yield func(stackaddrs.Referenceable, Referenceable) bool) {
		for _, target := range r.targets {
			if !yield(target, r.objects[target]) {
				return
			}
		}
	}
}
