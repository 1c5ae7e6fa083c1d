// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/internal/engine/binary/workcopy"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// planEvents are the events of a plan that are reported, applyEvents those of an apply, which would
// repeat the plan first.
var (
	planEvents = map[string]bool{
		runner.EventPlannedChange: true, runner.EventResourceDrift: true,
		runner.EventRefreshStart: true, runner.EventRefreshComplete: true,
		runner.EventApplyStart: true, runner.EventApplyProgress: true,
		runner.EventApplyComplete: true, runner.EventApplyErrored: true,
		runner.EventEphemeralStart: true, runner.EventEphemeralComplete: true,
	}
	applyEvents = map[string]bool{
		runner.EventRefreshStart: true, runner.EventRefreshComplete: true,
		runner.EventApplyStart: true, runner.EventApplyProgress: true,
		runner.EventApplyComplete: true, runner.EventApplyErrored: true,
		runner.EventProvisionStart: true, runner.EventProvisionProgress: true,
		runner.EventProvisionComplete: true, runner.EventProvisionErrored: true,
		runner.EventEphemeralStart: true, runner.EventEphemeralComplete: true,
	}
)

// progress converts an event; ok is false if it is not for users.
func progress(ev runner.Event, wanted map[string]bool) (out engine.Event, ok bool) {
	if !wanted[ev.Type] {
		return out, false
	}
	out = ev.Progress()
	out.Message = workcopy.RestoreReferences(out.Message)
	return out, !workcopy.IsGenerated(out.Resource)
}
