// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/native/deps"
	"github.com/cairnstacks/cairn/internal/engine/native/planned"
	"github.com/cairnstacks/cairn/internal/engine/native/state"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// CheckOrder returns an error if there is no order in which the changes of a plan could be made: what is created before its predecessor is destroyed, and what after
// that, may wait for each other. Changes of one kind always have an order.
func CheckOrder(plan *planned.Plan, graph *deps.Graph) hcl.Diagnostics {
	var creates, destroys bool
	for _, c := range plan.Changes {
		replaces := c.Action.Replaces()
		creates = creates || replaces || c.Action == engine.ActionCreate || c.Action == engine.ActionUpdate
		destroys = destroys || replaces || c.Action == engine.ActionDelete
	}
	if !creates || !destroys {
		return nil
	}
	before, err := state.Read(plan.State)
	if err != nil {
		return nil //nolint:nilerr // reported when the plan is applied
	}
	cycle := cycleOf(schedule(situation{changes: plan.Changes, graph: graph, storedBefore: storedIn(before)}))
	if cycle == nil {
		return nil
	}
	var names []string
	for _, s := range cycle {
		if s.change != nil {
			names = append(names, s.name())
		}
	}
	return hcl.Diagnostics{{
		Severity: hcl.DiagError, Summary: "Circular dependency",
		Detail: "These changes wait for each other: " + strings.Join(names, ", ") + ". Objects that are created before their predecessors are destroyed, by " +
			"create_before_destroy or because of what depends on them, cannot be mixed in this way with others. Change them in two steps.",
	}}
}

// cycleOf returns steps that wait for each other, in the order in which they do, or nil.
func cycleOf(steps []*step) []*step {
	const open, finished = 1, 2
	states := make(map[*step]int, len(steps))
	var path []*step
	var visit func(s *step) []*step
	visit = func(s *step) []*step {
		states[s] = open
		path = append(path, s)
		for _, before := range s.after {
			switch states[before] {
			case open:
				return path[slices.Index(path, before):]
			case finished:
				continue
			}
			if found := visit(before); found != nil {
				return found
			}
		}
		states[s] = finished
		path = path[:len(path)-1]
		return nil
	}
	for _, s := range steps {
		if states[s] == 0 {
			if found := visit(s); found != nil {
				return found
			}
		}
	}
	return nil
}
