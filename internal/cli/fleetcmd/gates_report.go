// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fleetcmd

import (
	"errors"

	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/show"
	"github.com/cairnstacks/cairn/internal/views/diagnostic"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// reportOf returns the ends of units as results of nodes: each unit is one.
func (g *gates) reportOf(ends []rollout.End) show.Summary {
	units := len(g.work.Units)
	summary := show.Summary{
		View:    show.View{Name: func(unit int) string { return g.work.Units[unit].Name }},
		Command: []string{string(g.mode)}, Results: make([]order.Result, units), Times: make([]show.Times, units), Outcomes: make([]string, units),
		Changes: make([]*stackplan.Counts, units), Problems: make([]*diagnostic.Diagnostic, units),
	}
	for _, end := range ends {
		summary.Sequence = append(summary.Sequence, end.Unit)
		summary.Results[end.Unit] = resultOf(end)
		summary.Times[end.Unit] = show.Times{Started: end.Started, Ended: end.Ended}
		summary.Outcomes[end.Unit], summary.Changes[end.Unit] = string(end.State), end.Changes
		if failed, ok := errors.AsType[*driver.Failure](end.Err); ok {
			summary.Problems[end.Unit] = problem(failed)
		}
	}
	return summary
}

// problem returns the first error of a unit, nil if none is known. Its place is in the directory of the unit; the source is not shown in reports.
func problem(failed *driver.Failure) *diagnostic.Diagnostic {
	first := failed.First()
	if first == nil {
		return nil
	}
	shown := diagnostic.New(first, diagnostic.Sources{})
	return &shown
}

// resultOf says as that of a node how a unit ended.
func resultOf(end rollout.End) order.Result {
	var detail error
	if end.Detail != "" {
		detail = errors.New(end.Detail)
	}
	switch {
	case end.State == rollout.Failed:
		return order.Result{State: order.Failed, Err: end.Err}
	case end.Done && (end.State == rollout.Passed || end.State == rollout.Waiting):
		return order.Result{State: order.Passed, Err: detail}
	case end.Done:
		return order.Result{State: order.Succeeded}
	case end.Skipped:
		return order.Result{State: order.Skipped, Because: end.Because}
	}
	return order.Result{State: order.NotStarted, Err: detail}
}
