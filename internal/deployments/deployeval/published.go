// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployeval

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/bounds"
	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Snapshot has the published outputs of a stack.
type Snapshot struct {
	Values map[string]cty.Value // wholly known; marked sensitive where they are

	// Waiting are the outputs that have no value yet, because deployments that they are made of were
	// never applied, or have not been in full: the names of these deployments, by the name of the
	// output.
	Waiting map[string][]string

	// Unknown are those among them that wait for the apply of a plan: of outputs that are there, but
	// have no value yet. Marks: sensitive.
	Unknown map[string]cty.Value
}

// MadeOf reports whether something that the stack publishes is made of outputs of a deployment.
func (e *Evaluator) MadeOf(deployment string) bool {
	for name := range e.config.Published {
		if slices.Contains(e.config.Publishers(name), deployment) {
			return true
		}
	}
	return false
}

// Published evaluates the published outputs of the stack. Outputs returns those of a deployment by
// its last apply, and nil if there was none.
func (e *Evaluator) Published(ctx context.Context,
	outputs func(ctx context.Context, deployment string) (map[string]cty.Value, error),
) (Snapshot, hcl.Diagnostics) {
	snapshot := Snapshot{Values: map[string]cty.Value{}, Waiting: map[string][]string{}, Unknown: map[string]cty.Value{}}
	var diags hcl.Diagnostics
	for _, name := range slices.Sorted(maps.Keys(e.config.Published)) {
		declared := e.config.Published[name]
		var waiting, used []string
		value, moreDiags := e.value(ctx, declared.Value, deployconfig.InPublished,
			func(ctx context.Context, ref deployconfig.Reference) (cty.Value, hcl.Diagnostics) {
				used = append(used, ref.Name)
				of, err := outputs(ctx, ref.Name)
				if err != nil {
					return cty.DynamicVal, failure.Diagnostics(err)
				}
				output, ok := of[ref.Attr]
				if !ok { // the stack declares it, as was checked before: an apply has not come to its end, or there was none since
					waiting = append(waiting, ref.Name)
					return cty.DynamicVal, nil
				}
				return output, nil
			})
		if moreDiags.HasErrors() {
			diags = diags.Extend(moreDiags)
			continue
		}
		if marks.Contains(value, marks.Ephemeral) {
			diags = diags.Append(e.problem(declared.Value.Range(), "Ephemeral published value", "Published values are kept, and an ephemeral "+
				"value cannot be."))
			continue
		}
		if declared.Type != nil {
			converted, err := bounds.Convert(value, declared.Type.Constraint)
			if err != nil {
				diags = diags.Append(e.problem(declared.Value.Range(), "Unsuitable published value",
					"The published value is not suitable for its type: %s.",
					marks.DescribeError(value, err)))
				continue
			}
			value = converted
		}
		switch {
		case len(waiting) > 0:
			snapshot.Waiting[name] = waiting
		case !value.IsWhollyKnown():
			snapshot.Waiting[name], snapshot.Unknown[name] = used, value
		default:
			snapshot.Values[name] = value
		}
	}
	return snapshot, diags
}
