// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployeval

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Refusal is why a check does not approve a plan.
type Refusal struct {
	Rule   string
	Reason string // that its author gave; empty if it could not be evaluated
	Err    hcl.Diagnostics
	Range  hcl.Range
}

// Check evaluates the checks of a rule for a plan, of which context is the object that conditions
// see. No refusals mean that it approves. A condition that cannot be evaluated, or has no value of
// its own, does not approve.
func (e *Evaluator) Check(ctx context.Context, rule *deployconfig.Rule, plan cty.Value) []Refusal {
	var refusals []Refusal
	see := func(_ context.Context, ref deployconfig.Reference) (cty.Value, hcl.Diagnostics) {
		if ref.Root == "context" {
			return plan, nil
		}
		return deployconfig.DeploymentObject(ref.Name), nil
	}
	for _, check := range rule.Checks {
		refusal := Refusal{Rule: rule.Name, Range: check.Range}
		condition, diags := e.value(ctx, check.Condition, deployconfig.InChecks, see)
		if !diags.HasErrors() {
			var approved bool
			approved, diags = e.isTrue(condition, check.Condition)
			if approved && !diags.HasErrors() {
				continue
			}
		}
		refusal.Err = diags
		reason, moreDiags := e.value(ctx, check.Reason, deployconfig.InChecks, see)
		if text, err := convert.Convert(reason, cty.String); err == nil && !moreDiags.HasErrors() && text.IsWhollyKnown() && !text.IsNull() {
			refusal.Reason = "(sensitive value)"
			if !marks.Contains(text, marks.Sensitive) && !marks.Contains(text, marks.Ephemeral) {
				text, _ = text.Unmark()
				refusal.Reason = text.AsString()
			}
		}
		refusal.Err = refusal.Err.Extend(moreDiags)
		refusals = append(refusals, refusal)
	}
	return refusals
}

func (e *Evaluator) isTrue(condition cty.Value, expr hcl.Expression) (bool, hcl.Diagnostics) {
	condition, _ = condition.Unmark()
	value, err := convert.Convert(condition, cty.Bool)
	switch {
	case err != nil:
		return false, hcl.Diagnostics{e.problem(expr.Range(), "Invalid condition of rule", "The condition must be true or false: %s.",
			failure.Reason(err))}
	case value.IsNull() || !value.IsKnown():
		return false, hcl.Diagnostics{e.problem(expr.Range(), "Invalid condition of rule", "The condition is neither true nor false, so it "+
			"does not approve.")}
	}
	return value.True(), nil
}
