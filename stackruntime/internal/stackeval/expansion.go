// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/foreach"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/memo"
)

// expansionAspect computes the instances of a block in a stack instance.
//
// addr is the address of the block, what its kind in messages.
func expansionAspect[I any](stack *Stack, addr string, forEach hcl.Expression, what string, newInstance func(stackaddrs.InstanceKey, foreach.Repetition) I) memo.Aspect[foreach.Expansion[I]] {
	return memo.Aspect[foreach.Expansion[I]]{
		Name:        addr + " for_each",
		Placeholder: foreach.Expansion[I]{Kind: foreach.Failed},
		Compute: func(ctx context.Context) (foreach.Expansion[I], hcl.Diagnostics) {
			set, diags := evalForEach(ctx, stack, forEach, what)
			return foreach.Expand(set, newInstance), diags
		},
	}
}

func evalForEach(ctx context.Context, stack *Stack, forEach hcl.Expression, what string) (foreach.Set, hcl.Diagnostics) {
	if forEach == nil {
		return foreach.SingleSet, nil
	}
	result, diags := expr.EvalExprAndEvalContext(ctx, forEach, stack.main.phase, stack)
	if diags.HasErrors() {
		return foreach.FailedSet, diags
	}
	set, moreDiags := foreach.FromValue(result, what)
	diags = diags.Extend(moreDiags)
	if set.Kind == foreach.Unknown && stack.main.phase == expr.PlanPhase {
		return foreach.FailedSet, diags.Append(result.Diagnostic(
			"Instances not known before apply",
			"The value of for_each depends on results that will be known only after apply, so it cannot be told which "+what+" instances there will be. Use keys that are known while planning, and put unknown things into the values.",
		))
	}
	return set, diags
}
