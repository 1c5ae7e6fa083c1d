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
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// CheckOrder returns an error if there is no order in which the changes of a plan could be made,
// with the objects of the refreshed state. It is the order in which they are applied, so that an
// apply finds no cycle of its own. There always is one if objects that are created before their
// predecessors are destroyed depend on none whose predecessors are destroyed first, which package
// deps sees to. Changes of one kind always have one.
func CheckOrder(plan *planned.Plan, refreshed engine.State, graph *deps.Graph) hcl.Diagnostics {
	var creates, destroys bool
	for _, c := range plan.Changes {
		creates = creates || c.Action.Succeeds() || c.Action == engine.ActionCreate || c.Action == engine.ActionUpdate
		destroys = destroys || c.Action.Replaces() || c.Action == engine.ActionDelete
	}
	if !creates || !destroys {
		return nil
	}
	before, err := state.Read(refreshed)
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
	return hcl.Diagnostics{failure.New("Circular dependency",
		"These changes wait for each other: %s. Objects that are created before their predecessors are destroyed, by create_before_destroy or "+
			"because of what depends on them, cannot be mixed in this way with others. Change them in two steps.", strings.Join(names, ", "))}
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
			switch states[before.on] {
			case open:
				return path[slices.Index(path, before.on):]
			case finished:
				continue
			}
			if found := visit(before.on); found != nil {
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

// disentangle gives up waits on cycles, those of the lowest rank first, until only such are left
// that are firm.
func (p *scheduler) disentangle() {
	for lowest := range firm {
		entangled := p.entangled()
		if entangled == nil {
			return
		}
		for _, s := range p.steps {
			if entangled[s.number] {
				s.after = slices.DeleteFunc(s.after, func(w wait) bool { return w.rank == lowest && entangled[w.on.number] })
			}
		}
	}
}

// entangled returns which steps are on cycles or between two, by number, or nil if there are no
// cycles. Steps are taken away as long as some wait for none that is left, and then as long as none
// that is left waits for some.
func (p *scheduler) entangled() []bool {
	// They are the steps that a step waits for, and those that wait for it.
	before, after := make([][]*step, len(p.steps)), make([][]*step, len(p.steps))
	for _, s := range p.steps {
		for _, w := range s.after {
			before[s.number] = append(before[s.number], w.on)
			after[w.on.number] = append(after[w.on.number], s)
		}
	}
	left := make([]bool, len(p.steps))
	for i := range left {
		left[i] = true
	}
	if takeAway(p.steps, left, before, after) == 0 {
		return nil
	}
	takeAway(p.steps, left, after, before)
	return left
}

// takeAway takes away steps as long as some have no neighbour on one side that is left, and returns
// how many are left.
func takeAway(steps []*step, left []bool, side, other [][]*step) int {
	counts := make([]int, len(steps))
	var free []*step
	number := 0
	for i, s := range steps {
		if !left[i] {
			continue
		}
		number++
		for _, neighbour := range side[i] {
			if left[neighbour.number] {
				counts[i]++
			}
		}
		if counts[i] == 0 {
			free = append(free, s)
		}
	}
	for ; len(free) > 0; number-- {
		s := free[len(free)-1]
		free = free[:len(free)-1]
		left[s.number] = false
		for _, neighbour := range other[s.number] {
			if counts[neighbour.number]--; left[neighbour.number] && counts[neighbour.number] == 0 {
				free = append(free, neighbour)
			}
		}
	}
	return number
}
