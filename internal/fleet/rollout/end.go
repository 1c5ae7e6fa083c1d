// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rollout

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// State is how a unit ended.
type State string

// The states of units. The first ones are those of units with nothing left to do.
const (
	NoChanges State = "no changes"
	Applied   State = "applied"
	Destroyed State = "destroyed"
	Ran       State = "ran"    // a task
	Passed    State = "passed" // without a reason to run

	InPart     State = "in part" // some rounds were applied, and the next one was not to be
	Planned    State = "planned" // and not applied, which was not to be done, or was not approved
	Waiting    State = "waiting" // for others that are planned only
	Failed     State = "failed"
	Skipped    State = "skipped" // because another one failed
	NotStarted State = "not started"
)

// End is how a unit ended.
type End struct {
	Unit   int
	State  State
	Detail string // why, as far as the state does not say it
	Err    error  // of a unit that failed

	// Because is the unit that a waiting or skipped one waits for; -1 without one. Skipped says that
	// this one has failed, which also keeps its plan from being applied.
	Because int
	Skipped bool

	Held bool // it is not done since consent is missing, to its plan or to that of the unit it waits for

	// Changes are the changes of its plan, or those of the plans that were applied. Nil if there are
	// none, if they are not known, and of a unit that failed, as nobody knows how much of it was done.
	Changes *stackplan.Counts

	// When work on it began and ended, questions included. Zero if it did not begin.
	Started, Ended time.Time
	Steps          []StepTimes // that were begun, in their order

	// Done says that nothing is left to do that was asked for.
	Done bool
}

// StepTimes are the beginning and the end of a step, by its node.
type StepTimes struct {
	Node           int
	Started, Ended time.Time
}

// The reasons why a plan is not applied that are not failures.
var (
	errNotApproved = errors.New("not approved")
	errNotAsked    = errors.New("has changes to apply") // a mode that only plans
)

func isHeld(err error) bool { return errors.Is(err, errNotApproved) || errors.Is(err, errNotAsked) }

// ends says how each unit ended.
func (r *run) ends(results []order.Result) []End {
	e := r.newEnding(results)
	var ends []End
	for _, unit := range r.Chosen() {
		ends = append(ends, e.of(unit))
	}
	return ends
}

// reportEnds returns a function that reports the end of a unit when its last step has ended.
func (r *run) reportEnds() func(node int, result order.Result) {
	e := r.newEnding(make([]order.Result, len(r.Steps)))
	var mu sync.Mutex // guards the results
	return func(node int, result order.Result) {
		mu.Lock()
		defer mu.Unlock()
		e.results[node] = result
		if phase := r.Steps[node].Phase; phase == Apply || phase == Run {
			r.options.Ended(e.of(r.Steps[node].Unit))
		}
	}
}

// ending says how units ended by the results of their nodes.
type ending struct {
	*run
	results []order.Result
	nodes   []map[Phase]int // by unit
}

func (r *run) newEnding(results []order.Result) ending {
	nodes := make([]map[Phase]int, len(r.Units))
	for n, step := range r.Steps {
		if step.Phase == "" {
			continue
		}
		if nodes[step.Unit] == nil {
			nodes[step.Unit] = map[Phase]int{}
		}
		nodes[step.Unit][step.Phase] = n
	}
	return ending{r, results, nodes}
}

func (e ending) of(unit int) End {
	nodes, end := e.nodes[unit], End{}
	if e.Units[unit].Task != nil {
		end = e.task(e.results[nodes[Run]])
	} else {
		end = e.unit(unit, e.results[nodes[Plan]], e.results[nodes[Apply]])
	}
	end.Unit, end.Started, end.Ended = unit, e.outcome[unit].started, e.outcome[unit].ended
	end.Steps = e.outcome[unit].steps
	return end
}

func failed(err error) End { return End{State: Failed, Detail: err.Error(), Err: err, Because: -1} }

func passed(result order.Result) End {
	end := End{State: Passed, Because: -1, Done: true}
	if result.Err != nil {
		end.Detail = result.Err.Error()
	}
	return end
}

func (e ending) task(result order.Result) End {
	switch result.State {
	case order.Succeeded:
		return End{State: Ran, Because: -1, Done: true}
	case order.Passed:
		return passed(result)
	case order.Failed:
		return failed(result.Err)
	case order.Skipped:
		return e.held(result)
	default:
		return End{State: NotStarted, Because: -1}
	}
}

// unit says how a unit ended by the results of planning and applying it.
func (e ending) unit(unit int, planning, apply order.Result) End {
	switch planning.State {
	case order.Succeeded:
	case order.Failed:
		return failed(fmt.Errorf("plan: %w", planning.Err))
	case order.Skipped:
		return e.held(planning)
	case order.Passed:
		return passed(planning)
	default:
		return End{State: NotStarted, Because: -1}
	}
	plan, rounds := e.outcome[unit].plan, e.outcome[unit].rounds
	planned := End{State: Planned, Because: -1, Changes: plan.Counts}
	// The order of the cases matters: an apply without changes ends like any other, and where a later
	// round (rule R6) was refused or not begun, the end shows the rounds before. A refusal is no
	// failure, though the graph knows it as one.
	switch {
	case e.outcome[unit].waits != "":
		return End{State: Waiting, Because: -1, Done: true, Detail: e.outcome[unit].waits}
	case !e.outcome[unit].changes && apply.State != order.Failed:
		return End{State: NoChanges, Because: -1, Done: true}
	case apply.State == order.Succeeded && e.options.Mode != PlanOnly:
		end := End{State: e.applied(unit), Because: -1, Done: true, Changes: e.outcome[unit].applied}
		if plan.Leaves {
			end.Detail = "some changes are still deferred: plan again"
		}
		return end
	case e.options.Mode == PlanOnly:
		planned.Done = true
		if !plan.Complete && (plan.Counts == nil || plan.Counts.Defer == 0) { // otherwise these say it
			planned.Detail = "some changes are deferred"
		}
	case apply.State == order.Skipped:
		held := e.held(apply)
		planned.Because, planned.Skipped, planned.Held, planned.Detail = held.Because, held.Skipped, held.Held, string(held.State)+" "+held.Detail
	case apply.State == order.Failed && !errors.Is(apply.Err, errNotApproved):
		return failed(fmt.Errorf("%s: %w", e.options.Mode, apply.Err))
	case rounds > 0:
		planned.State, planned.Changes = InPart, e.outcome[unit].applied
		planned.Detail = fmt.Sprintf("%s up to round %d", e.applied(unit), rounds)
		if apply.State == order.Failed {
			planned.Held = true
			planned.Detail += ", the next one was not approved"
		}
	case apply.State == order.Failed:
		planned.Held, planned.Detail = true, "not approved"
	default:
		planned.Detail = "not " + string(e.applied(unit))
	}
	return planned
}

// held returns the end of a unit that waits for another in vain.
func (e ending) held(result order.Result) End {
	end := End{State: Waiting, Because: e.Steps[result.Because].Unit}
	name, err := e.Units[end.Because].Name, e.results[result.Because].Err
	end.Held = errors.Is(err, errNotApproved)
	switch {
	case errors.Is(err, errNotAsked):
		end.Detail, end.Done = "for "+name+" to be applied", true
	case errors.Is(err, errNotApproved) && e.outcome[end.Because].rounds > 0:
		end.Detail = "for " + name + ", which was " + string(e.applied(end.Because)) + " in part"
	case errors.Is(err, errNotApproved):
		end.Detail = "for " + name + ", which was not approved"
	default:
		end.State, end.Detail, end.Skipped = Skipped, "because "+name+" failed", true
	}
	return end
}
