// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package variables

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// CheckRules checks the validation rules of a variable, each by itself. Functions are those of the
// stack that declares it.
func CheckRules(
	ctx context.Context, decl *stackconfig.InputVariable, value cty.Value, phase expr.EvalPhase, functions expr.FunctionScope,
) hcl.Diagnostics {
	var diags hcl.Diagnostics
	scope := ownVariableScope{name: decl.Name, value: value, FunctionScope: functions}
	for _, rule := range decl.Validations {
		diags = diags.Extend(checkRule(ctx, decl, rule, phase, scope))
	}
	return diags
}

// CheckRuleReferences checks the references in the validation rules of a variable: only the
// variable itself is allowed.
func CheckRuleReferences(ctx context.Context, decl *stackconfig.InputVariable, functions expr.FunctionScope) hcl.Diagnostics {
	scope := ownVariableScope{name: decl.Name, value: cty.DynamicVal, FunctionScope: functions}
	var diags hcl.Diagnostics
	for _, rule := range decl.Validations {
		diags = diags.Extend(expr.CheckReferences(ctx, rule.Condition, scope))
		diags = diags.Extend(expr.CheckReferences(ctx, rule.ErrorMessage, scope))
	}
	return diags
}

// checkRule takes the steps of docs/language.md, section 2.3. The
// message is looked at even if the condition holds, so that a bad one is found
// before it is needed.
func checkRule(
	ctx context.Context, decl *stackconfig.InputVariable, rule *stackconfig.CheckRule, phase expr.EvalPhase, scope expr.EvaluationScope,
) hcl.Diagnostics {
	result, diags := expr.EvalExprAndEvalContext(ctx, rule.Condition, phase, scope)
	if diags.HasErrors() {
		return diags
	}
	condition, _ := result.Value.Unmark()
	if !condition.IsKnown() {
		return diags
	}
	holds, err := convert.Convert(condition, cty.Bool)
	if err != nil || holds.IsNull() {
		return diags.Append(result.Diagnostic("Validation condition gave no yes/no answer",
			"The condition must be true or false for every value of the variable."))
	}
	if !holds.IsKnown() {
		return diags
	}

	message, usable, moreDiags := ruleMessage(ctx, rule, phase, scope)
	diags = diags.Extend(moreDiags)
	if !usable || holds.True() {
		return diags
	}
	return diags.Append(&hcl.Diagnostic{
		Severity:    hcl.DiagError,
		Summary:     "Variable value rejected",
		Detail:      fmt.Sprintf("%s\n\nThis was checked by the validation rule at %s.", message, rule.Range),
		Subject:     decl.Range.Ptr(),
		Expression:  rule.Condition,
		EvalContext: result.EvalContext,
	})
}

const messageFallback = "The condition does not hold, and its message could not be produced."

// ruleMessage evaluates the message of a rule. usable is false when it cannot
// be known, in which case the failure is not reported besides.
func ruleMessage(
	ctx context.Context, rule *stackconfig.CheckRule, phase expr.EvalPhase, scope expr.EvaluationScope,
) (message string, usable bool, diags hcl.Diagnostics) {
	result, diags := expr.EvalExprAndEvalContext(ctx, rule.ErrorMessage, phase, scope)
	if diags.HasErrors() {
		return messageFallback, true, diags
	}
	problem := func(summary, detail string) hcl.Diagnostics {
		return diags.Append(result.Diagnostic(summary, detail))
	}
	switch {
	case expr.IsFailed(result.Value):
		return "", false, diags // the reason is reported elsewhere
	case marks.Contains(result.Value, marks.Sensitive):
		return "The message cannot be shown because it is made of a sensitive value.", true, problem(
			"Validation message would reveal a sensitive value",
			"Messages are shown. Do not refer to the variable in this one, or make the part you show nonsensitive().")
	case marks.Contains(result.Value, marks.Ephemeral):
		return "The message cannot be shown because it is made of an ephemeral value.", true, problem(
			"Validation message would reveal an ephemeral value",
			"Messages are shown and kept. Do not refer to the variable in this one.")
	}
	value, _ := result.Value.UnmarkDeep()
	text, err := convert.Convert(value, cty.String)
	switch {
	case !value.IsWhollyKnown():
		return "", false, problem("Unusable validation message", "The message must be known when the condition is.")
	case err != nil:
		return messageFallback, true, problem("Unusable validation message", "The message must be a string.")
	case text.IsNull() || strings.TrimSpace(text.AsString()) == "":
		return messageFallback, true, diags
	}
	return strings.TrimSpace(text.AsString()), true, diags
}

// ownVariableScope is the scope of a validation rule: the variable itself.
type ownVariableScope struct {
	name  string
	value cty.Value
	expr.FunctionScope
}

// ResolveExpressionReference implements [expr.EvaluationScope].
func (s ownVariableScope) ResolveExpressionReference(_ context.Context, ref stackaddrs.Reference) (expr.Referenceable, hcl.Diagnostics) {
	if ref.Target == (stackaddrs.InputVariable{Name: s.name}) {
		return expr.JustValue{Value: s.value}, nil
	}
	return nil, hcl.Diagnostics{failure.At(ref.Range, "Reference not allowed here",
		"The validation rules of a variable can refer to the variable itself only, as var.%s.", s.name)}
}
