// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/foreach"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/memo"
)

// instances are the results of a for_each argument in one stack instance, for
// embedding in the object of the block.
type instances[I any] struct {
	memo   memo.Memo[foreach.Expansion[I]]
	aspect func() memo.Aspect[foreach.Expansion[I]]
}

// newInstances prepares the expansion of a block.
//
// addr is the address of the block; its kind in messages follows for_each. existing returns the
// keys that stand in for a set not known yet.
func newInstances[I any](
	stack *Stack,
	addr string,
	forEach hcl.Expression,
	what string,
	existing func() []stackaddrs.InstanceKey,
	newInstance func(stackaddrs.InstanceKey, foreach.Repetition) I,
) instances[I] {
	return instances[I]{aspect: func() memo.Aspect[foreach.Expansion[I]] {
		return memo.Aspect[foreach.Expansion[I]]{
			Name:        addr + " for_each",
			Placeholder: foreach.Expansion[I]{Kind: foreach.Failed},
			Compute: func(ctx context.Context) (foreach.Expansion[I], hcl.Diagnostics) {
				set, diags := evalForEach(ctx, stack, forEach, what)
				return foreach.Expand(set, existing, newInstance), diags
			},
		}
	}}
}

// Instances are the results of for_each.
func (i *instances[I]) Instances(ctx context.Context) foreach.Expansion[I] {
	return i.memo.Value(ctx, i.aspect)
}

// CheckInstances is like Instances and reports mistakes in for_each.
func (i *instances[I]) CheckInstances(ctx context.Context) (foreach.Expansion[I], hcl.Diagnostics) {
	return i.memo.Check(ctx, i.aspect)
}

// Check implements [Checkable].
func (i *instances[I]) Check(ctx context.Context) hcl.Diagnostics {
	_, diags := i.CheckInstances(ctx)
	return diags
}

// instancesValue is the value in expressions of a block whose instances all have results of one
// type: the result of the only instance, or a map of results.
func instancesValue[I any](expansion foreach.Expansion[I], ty cty.Type, result func(I) cty.Value) cty.Value {
	switch expansion.Kind {
	case foreach.Single:
		return result(expansion.Instances[stackaddrs.NoKey])
	case foreach.Keyed:
		results := make(map[string]cty.Value, len(expansion.Instances))
		for key, inst := range expansion.InOrder() {
			name, _ := key.AsString()
			results[name] = result(inst)
		}
		if len(results) == 0 {
			return cty.MapValEmpty(ty)
		}
		return cty.MapVal(results)
	case foreach.Unknown:
		return cty.UnknownVal(cty.Map(ty))
	default:
		return expr.Placeholder(cty.Map(ty))
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
	return set, diags.Extend(moreDiags)
}

// noKeys is for blocks whose instances leave no trace in the state.
func noKeys() []stackaddrs.InstanceKey { return nil }
