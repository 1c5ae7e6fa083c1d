// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// tally counts changes while they are made, for applies that do not get to the end.
type tally struct {
	stackplan.Counts
	done map[string]bool // addresses of resource instances with a finished change
}

// count counts the change that an event reports.
func (t *tally) count(event engine.Event) {
	switch event.Type {
	case engine.ActionComplete:
		t.Invoke++
		return
	case engine.ActionErrored:
		t.InvokeFailed++
		return
	case engine.ApplyComplete:
	default:
		return
	}
	if t.done == nil {
		t.done = make(map[string]bool)
	}
	t.done[event.Resource] = true
	switch event.Action {
	case "create":
		t.Add++
	case "update":
		t.Change++
	case "delete":
		t.Remove++
	}
}

// of returns the counts of a plan's finished changes. A move, an import or a forgetting without
// another change has no events: it takes no more than writing the state.
func (t *tally) of(plan *stackplan.Component) stackplan.Counts {
	n := t.Counts
	for _, change := range plan.Changes {
		if change.Action != engine.ActionNoOp && change.Action != engine.ActionForget && !t.done[change.Address()] {
			continue
		}
		planned := stackplan.CountChange(change)
		n.Import += planned.Import
		n.Move += planned.Move
		n.Forget += planned.Forget
	}
	n.Defer = len(plan.Deferred)
	return n
}
