// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"slices"

	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// mostParts is the number of parts that are worth locking one by one: all are compared with all
// parts of each other lock.
const mostParts = 500

// Limited returns parts to be locked, sorted, or all in the place of very many.
func Limited(parts []statestore.Part, all statestore.Part) []statestore.Part {
	if len(parts) > mostParts {
		return []statestore.Part{all}
	}
	slices.SortFunc(parts, func(a, b statestore.Part) int { return slices.Compare(a.Path, b.Path) })
	return parts
}

// Parts returns the parts of a state to be locked for applying a plan: exclusively those that it
// changes, and shared all others that it was made from. None stands for the whole state.
//
// The new values of root outputs are no part: they are evaluated when all else is done, on the
// state as it is then.
func Parts(plan *stackplan.Plan, state *stackstate.State) []statestore.Part {
	if len(plan.Moved) > 0 { // whatever depends on the instances has their addresses
		return nil
	}
	written := map[stackaddrs.AbsComponentInstance]bool{}
	var parts []statestore.Part
	for _, addr := range stackruntime.Writes(plan, state) {
		written[addr] = true
		parts = append(parts, deployment.Instance(addr, true))
	}
	for name, input := range plan.Inputs {
		changes := input.Action != stackplan.NoOp && !input.RequiredOnApply
		if changes || plan.Partial {
			parts = append(parts, deployment.Variable(name, changes))
		}
	}
	if !plan.Partial {
		parts = append(parts, deployment.Everything)
	} else {
		reads := newReads(plan)
		for addr := range reads.instances {
			if !written[addr] {
				parts = append(parts, deployment.Instance(addr, false))
			}
		}
		for addr := range reads.components {
			parts = append(parts, deployment.Component(addr))
		}
	}
	return Limited(parts, statestore.Whole)
}
