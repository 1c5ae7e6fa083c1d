// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rollout

import (
	"errors"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/order"
)

// withoutSameOutputs leaves out units that are there only because outputs of others might change,
// if none of them has.
func (r *run) withoutSameOutputs(decide func(int, func(int) order.Result) order.Result) func(int, func(int) order.Result) order.Result {
	return func(node int, result func(int) order.Result) order.Result {
		step := r.Steps[node]
		if step.Phase == Plan && r.options.Mode != Destroy {
			if of := r.Units[step.Unit].OnlyByOutputs; len(of) > 0 &&
				!slices.ContainsFunc(of, func(unit int) bool { return r.outcome[unit].outputs }) {
				return order.Result{State: order.Passed, Err: r.sameOutputs(of)}
			}
		}
		if decide == nil {
			return order.Result{}
		}
		return decide(node, result)
	}
}

func (r *run) sameOutputs(units []int) error {
	var names []string
	for _, unit := range units {
		names = append(names, r.Units[unit].Name)
	}
	return errors.New("outputs of " + strings.Join(names, ", ") + " have not changed")
}
