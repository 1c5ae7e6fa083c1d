// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
)

// Outputs returns the outputs of the last apply, by name.
//
// Unknown: in whole or in part, where that apply failed or deferred a change that a value depends
// on. Marks: sensitive ones are kept.
func (s *Stack) Outputs(ctx context.Context) (map[string]cty.Value, error) {
	stored, err := s.ReadState(ctx)
	if err != nil {
		return nil, err
	}
	if len(stored.State.Outputs) == 0 {
		if err := s.checkListed(ctx, stored.Deployment); err != nil {
			return nil, err
		}
	}
	return stored.State.Outputs, nil
}

// Output is one of [Stack.Outputs].
func (s *Stack) Output(ctx context.Context, name string) (cty.Value, error) {
	outputs, err := s.Outputs(ctx)
	if err != nil {
		return cty.NilVal, err
	}
	value, ok := outputs[name]
	if !ok {
		return cty.NilVal, failure.Error("No such output", "The state has no output %q.%s Outputs appear in the state with the next apply after they were declared.",
			name, nearest.DidYouMean(name, slices.Collect(maps.Keys(outputs))))
	}
	return value, nil
}
