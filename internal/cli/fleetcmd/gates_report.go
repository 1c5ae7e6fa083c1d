// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fleetcmd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/show"
	"github.com/cairnstacks/cairn/internal/show/timeline"
	"github.com/cairnstacks/cairn/internal/views/markdown"
)

// planSummaries are the planned changes of units. Safe for concurrent use.
type planSummaries struct {
	mu struct {
		sync.Mutex
		units map[int]markdown.Unit
		parts map[int][]show.Part
	}
}

func (p *planSummaries) add(unit int, summary markdown.Unit, parts []show.Part) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.units == nil {
		p.mu.units, p.mu.parts = map[int]markdown.Unit{}, map[int][]show.Part{}
	}
	p.mu.units[unit], p.mu.parts[unit] = summary, parts
}

// gateReport is a report of a run, which can be Markdown.
type gateReport struct {
	show.Summary
	options markdown.Options
	units   []markdown.Unit
}

// Markdown returns the report for pull requests.
func (r gateReport) Markdown() ([]byte, error) { return markdown.Write(r.options, r.units), nil }

// report returns the outcomes of units, with their planned changes if the options ask for them.
// Tasks have none.
func (g *gates) report(ends []rollout.End) gateReport {
	report := gateReport{Summary: g.reportOf(ends), options: g.options.inMarkdown}
	for _, end := range ends {
		u := &g.work.Units[end.Unit]
		if u.Task != nil && end.State != rollout.Failed {
			continue
		}
		summary, planned := g.planning.mu.units[end.Unit]
		if !planned {
			summary = markdown.Counted(u.Name, end.Changes)
		}
		summary.State = string(end.State)
		if failed, ok := errors.AsType[*driver.Failure](end.Err); ok && failed.First() != nil {
			summary.Problem = markdownProblem(failed.First())
		}
		report.units = append(report.units, summary)
	}
	return report
}

// markdownProblem shows an error. Its place is in the directory of its unit.
func markdownProblem(diag *hcl.Diagnostic) *markdown.Problem {
	shown := &markdown.Problem{Summary: diag.Summary, Detail: diag.Detail}
	if diag.Subject != nil {
		shown.Place = fmt.Sprintf("%s:%d", diag.Subject.Filename, diag.Subject.Start.Line)
	}
	return shown
}

// reportOf returns the ends of units as results of nodes: each unit is one.
func (g *gates) reportOf(ends []rollout.End) show.Summary {
	units := len(g.work.Units)
	summary := show.Summary{
		View:    show.View{Name: func(unit int) string { return g.work.Units[unit].Name }},
		Command: []string{string(g.mode)},
		Results: make([]order.Result, units),
		Times:   make([]show.Times, units),
		Details: make([]show.Detail, units),
		Steps:   make([][]timeline.Step, units),
	}
	var after map[int][]int
	timed := g.options.report != "" || lasted(ends) >= timeline.LeastSaid
	if timed { // finding it takes as long as many a run, where there are thousands of units
		after = g.work.After()
	}
	for _, end := range ends {
		summary.Sequence = append(summary.Sequence, end.Unit)
		summary.Results[end.Unit] = resultOf(end)
		summary.Times[end.Unit] = show.Times{Started: end.Started, Ended: end.Ended}
		for _, times := range end.Steps {
			if timed {
				summary.Steps[end.Unit] = append(summary.Steps[end.Unit], g.timed(times, after[times.Node]))
			}
		}
		detail := &summary.Details[end.Unit]
		*detail = show.Detail{Outcome: string(end.State), Changes: end.Changes, Parts: g.planning.mu.parts[end.Unit]}
		if failed, ok := errors.AsType[*driver.Failure](end.Err); ok {
			detail.Problem = problem(failed)
		}
	}
	return summary
}

// lasted returns the time from the first beginning to the last end.
func lasted(ends []rollout.End) time.Duration {
	var first, last time.Time
	for _, end := range ends {
		if !end.Started.IsZero() && (first.IsZero() || end.Started.Before(first)) {
			first = end.Started
		}
		if end.Ended.After(last) {
			last = end.Ended
		}
	}
	return last.Sub(first)
}

// timed returns a step of a unit with the names of those whose ends it has waited for.
func (g *gates) timed(times rollout.StepTimes, after []int) timeline.Step {
	step := g.work.Steps[times.Node]
	timed := timeline.Step{
		Phase: string(step.Phase), Started: times.Started.UTC(), Seconds: times.Ended.Sub(times.Started).Seconds(),
		Components: g.worked(step.Unit).Between(times.Started, times.Ended),
	}
	for _, unit := range after {
		timed.After = append(timed.After, g.work.Units[unit].Name)
	}
	return timed
}

// worked returns the record of the work on the components of a unit.
func (g *gates) worked(unit int) *timeline.Recorder {
	return g.recorder(g.work.Units[unit].Name)
}

func (g *gates) recorder(unit string) *timeline.Recorder {
	//nolint:errcheck // there is none
	recorder, _ := g.recorders.Get(context.Background(), unit, func() (*timeline.Recorder, error) { return &timeline.Recorder{}, nil })
	return recorder
}

// problem returns the first error of a unit, nil if none is known. Its place is in the directory of
// the unit; the source is not shown in reports.
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

// summarizePlan keeps the planned changes of a unit for a report.
func (g *gates) summarizePlan(planning rollout.Planning) error {
	u := &g.work.Units[planning.Unit]
	switch plan := planning.Plan.Details; {
	case g.options.report == "":
	case plan == nil:
		g.planning.add(planning.Unit, markdown.Counted(u.Name, planning.Plan.Counts), nil)
	default:
		g.planning.add(planning.Unit, markdown.Summarize(u.Name, plan), show.Parts(plan))
	}
	return nil
}
