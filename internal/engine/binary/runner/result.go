// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package runner

import (
	"fmt"
	"slices"

	"github.com/cairnstacks/cairn/internal/diagnostic"
)

// Outcome is how a process ended.
type Outcome int

const (
	// OutcomeSucceeded: all that was asked for was done.
	OutcomeSucceeded Outcome = iota

	// OutcomeFailed: the process ended in good order, having reported errors.
	OutcomeFailed

	// OutcomeDied: the process was killed, crashed or lost with the machine. The changes that it was
	// making at that moment are not in its state.
	OutcomeDied
)

// String returns a word for messages.
func (o Outcome) String() string {
	return [...]string{"succeeded", "failed", "died"}[o]
}

// ExitUnknown is the exit code of a process that was killed, or whose end nobody saw.
const ExitUnknown = -1

// Result is the outcome of a process that has ended.
type Result struct {
	Outcome  Outcome
	ExitCode int

	// Ended says how a process ended that this program started, in words of the system: "exit status
	// 1", "signal: killed".
	Ended string

	// Interrupted is set when the process was asked to stop before it ended. It may have succeeded
	// even so.
	Interrupted bool

	Diagnostics []diagnostic.Diagnostic // in the order of their events; of more than people can read, the last one says how many are left out

	// Summary is the last change_summary, or nil. An apply's comes after its state was saved.
	Summary *ChangeSummary

	// Text has the lines of standard output that were not events. They matter: the engine prints the
	// state there when it can save it nowhere. Of very many, those in the middle are left out.
	Text string

	// Stderr is standard error, where crashes of the engine and its providers leave their traces. Of
	// much, the middle is left out.
	Stderr string
}

// HasErrors reports whether there is an error among the diagnostics.
func (r *Result) HasErrors() bool {
	return slices.ContainsFunc(r.Diagnostics, func(d diagnostic.Diagnostic) bool { return d.Severity == diagnostic.Error })
}

// conclude fills in how the process ended.
func (r *Result) conclude(run Run) {
	r.Interrupted = run.Interrupted
	r.ExitCode = ExitUnknown
	if run.ExitCode != nil {
		r.ExitCode = *run.ExitCode
	}
	switch {
	case r.ExitCode == 0, r.ExitCode == 2 && slices.Contains(run.Args, "-detailed-exitcode"):
		r.Outcome = OutcomeSucceeded
	case r.ExitCode > 0:
		r.Outcome = OutcomeFailed
	case run.ExitCode != nil:
		r.Outcome = OutcomeDied
	case r.HasErrors():
		r.Outcome = OutcomeFailed
	case r.Summary != nil && r.finalSummary(run):
		r.Outcome = OutcomeSucceeded
	default:
		r.Outcome = OutcomeDied
	}
}

// finalSummary reports whether the summary is the one that ends the operation. An apply that makes
// its own plan has the plan's summary first.
func (r *Result) finalSummary(run Run) bool {
	if slices.Contains(run.Args, "plan") {
		return r.Summary.Operation == "plan"
	}
	return r.Summary.Operation != "plan"
}

// collector gathers the result while events pass by.
type collector struct {
	onEvent func(Event)
	result  Result
	text    excerpt
	lines   int64 // seen

	leftOut       int    // diagnostics that were not kept
	worstLeftOut  string // their severity
	sizeOfAllKept int    // in bytes of text
}

// How much is kept of diagnostics: an engine or provider that has gone mad may report them without
// end.
const (
	mostDiagnostics     = 10_000
	mostDiagnosticBytes = 64 << 20
)

// diagnostic keeps a diagnostic, unless there are too many.
func (c *collector) diagnostic(d diagnostic.Diagnostic) {
	size := len(d.Summary) + len(d.Detail)
	if len(c.result.Diagnostics) < mostDiagnostics && c.sizeOfAllKept+size <= mostDiagnosticBytes {
		c.sizeOfAllKept += size
		c.result.Diagnostics = append(c.result.Diagnostics, d)
		return
	}
	c.leftOut++
	if c.worstLeftOut != diagnostic.Error {
		c.worstLeftOut = d.Severity
	}
}

// end completes the result with the number of diagnostics that were left out.
func (c *collector) end() {
	if c.leftOut == 0 {
		return
	}
	c.result.Diagnostics = append(c.result.Diagnostics, diagnostic.Diagnostic{
		Severity: c.worstLeftOut,
		Summary:  "Too many messages",
		Detail:   fmt.Sprintf("%d more errors and warnings are not shown.", c.leftOut),
	})
}

func (c *collector) line(line []byte) {
	c.lines++
	ev := parseEvent(line)
	ev.Line = c.lines
	switch {
	case ev.Type == "":
		c.text.add(ev.Message)
	case ev.Diagnostic != nil:
		c.diagnostic(*ev.Diagnostic)
	case ev.Summary != nil:
		c.result.Summary = ev.Summary
	}
	if c.onEvent != nil {
		c.onEvent(ev)
	}
}
