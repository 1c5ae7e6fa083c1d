// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lang

import (
	"context"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/bounds"
)

// shownTime is how long the expressions of untrusted files are evaluated for, once, where they are
// edited.
const shownTime = 5 * time.Second

// AllowanceFor returns the allowance where files are read within directories only, as in editors,
// which show untrusted files. Elsewhere there is none.
func AllowanceFor(within []string) *bounds.Allowance {
	if within == nil {
		return nil
	}
	return bounds.NewAllowance(shownTime)
}

// Evaluate returns the value of an expression in a scope, within the limits of package bounds, and
// keeps secrets out of the diagnostics. All expressions of users are evaluated by this, unless they
// can only be constants.
//
// With error diagnostics the value is unknown, or incomplete.
func (o Options) Evaluate(ctx context.Context, expr hcl.Expression, scope *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	value, diags := bounds.Evaluate(ctx, expr, scope, o.Allowance)
	if len(diags) > 0 {
		diags = WithholdSecrets(diags, expr.Variables(), scope)
	}
	return value, diags
}

// Evaluate is [Options.Evaluate] without an allowance.
func Evaluate(ctx context.Context, expr hcl.Expression, scope *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	return Options{}.Evaluate(ctx, expr, scope)
}
