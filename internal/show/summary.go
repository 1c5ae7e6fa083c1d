// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package show

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/process"
	"github.com/cairnstacks/cairn/internal/safetext"
	"github.com/cairnstacks/cairn/internal/show/timeline"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Times are the start and the end of the work of a node.
type Times struct{ Started, Ended time.Time }

// Summary is the outcome of a run.
type Summary struct {
	View     View
	Command  []string
	Results  []order.Result // by node
	Times    []Times        // by node
	Sequence []int          // the selected nodes

	// Details are by node; nil where nodes neither plan nor apply.
	Details []Detail

	// Steps are by node; nil where each node is one, which waits for its predecessors in the view.
	Steps [][]timeline.Step
}

// Timeline returns the steps of the selected nodes along the time.
func (s Summary) Timeline() timeline.Timeline {
	var t timeline.Timeline
	for _, n := range s.Sequence {
		t.Rows = append(t.Rows, timeline.Row{Name: s.View.Name(n), State: s.state(n), Steps: s.steps(n)})
	}
	return t
}

func (s Summary) steps(n int) []timeline.Step {
	if s.Steps != nil {
		return s.Steps[n]
	}
	times := s.Times[n]
	if times.Started.IsZero() {
		return nil
	}
	step := timeline.Step{Phase: "run", Started: times.Started.UTC(), Seconds: times.Ended.Sub(times.Started).Seconds()}
	for edge := range s.View.Graph.Predecessors(n) {
		if s.View.Selected.Has(edge.From) {
			step.After = append(step.After, s.View.Name(edge.From))
		}
	}
	return []timeline.Step{step}
}

// state returns the state of a node as reports have it.
func (s Summary) state(n int) string {
	return strings.ReplaceAll(stateWords[s.Results[n].State], " ", "_")
}

// Detail is more about the end of a node than its state. A part that is not known is empty.
type Detail struct {
	Outcome string
	Changes *stackplan.Counts      // that it has planned or made
	Parts   []Part                 // its planned changes by component
	Problem *diagnostic.Diagnostic // its first error
}

// OK reports whether everything that was selected has succeeded.
func (s Summary) OK() bool {
	return !slices.ContainsFunc(s.Sequence, func(n int) bool {
		return s.Results[n].State != order.Succeeded && s.Results[n].State != order.Passed
	})
}

var stateWords = map[order.State]string{
	order.Succeeded: "ok", order.Failed: "failed", order.Skipped: "skipped", order.NotStarted: "not started",
	order.Passed: "passed",
}

// reason returns the reason why a node has not succeeded, in words that follow its name.
func (s Summary) reason(n int) string {
	switch result := s.Results[n]; result.State {
	case order.Failed:
		return strings.ReplaceAll(result.Err.Error(), "\n", "; ") // of joined errors
	case order.Passed:
		if result.Err != nil {
			return result.Err.Error()
		}
	case order.NotStarted:
		if result.Err != nil {
			return result.Err.Error()
		}
	case order.Skipped:
		return "because " + s.View.Name(result.Because) + " failed"
	}
	return ""
}

// Text shows how each node ended, and how many in which way.
func (s Summary) Text() string {
	var b strings.Builder
	counts := map[order.State]int{}
	b.WriteString("\n")
	for _, n := range s.Sequence {
		state := s.Results[n].State
		counts[state]++
		fmt.Fprintf(&b, "%-11s  %s", stateWords[state], s.View.label(n))
		if reason := s.reason(n); reason != "" {
			fmt.Fprintf(&b, "  (%s)", safetext.Name(reason))
		}
		b.WriteString("\n")
	}
	var parts []string
	for _, state := range []order.State{order.Succeeded, order.Passed, order.Failed, order.Skipped, order.NotStarted} {
		if counts[state] > 0 || state == order.Succeeded {
			parts = append(parts, fmt.Sprintf("%d %s", counts[state], stateWords[state]))
		}
	}
	fmt.Fprintf(&b, "\n%s.\n", strings.Join(parts, ", "))
	if path := s.Timeline().CriticalPath(); path.WorthSaying() {
		fmt.Fprintf(&b, "Critical path: %s.\n", path.Text())
	}
	return b.String()
}

// report is the JSON form of a summary.
type report struct {
	FormatVersion string         `json:"format_version"`
	Command       []string       `json:"command"`
	OK            bool           `json:"ok"`
	Critical      *timeline.Path `json:"critical_path,omitempty"`
	Results       []reportResult `json:"results"`
}

type reportResult struct {
	Name     string            `json:"name"`
	State    string            `json:"state"`             // "ok", "passed", "failed", "skipped" or "not_started"
	Outcome  string            `json:"outcome,omitempty"` // of plans and applies, as "no changes"
	Changes  *stackplan.Counts `json:"changes,omitempty"` // the same
	Error    string            `json:"error,omitempty"`
	ExitCode *int              `json:"exit_code,omitempty"`

	Diagnostic *diagnostic.Diagnostic `json:"diagnostic,omitempty"` // the first error of it

	Because string     `json:"because,omitempty"` // the node that failed
	Reason  string     `json:"reason,omitempty"`  // why it was not run
	Started *time.Time `json:"started,omitempty"`
	Seconds float64    `json:"seconds"`

	Components []Part `json:"components,omitempty"` // the planned changes of each

	Steps []timeline.Step `json:"steps,omitempty"`
}

func (s Summary) result(n int) reportResult {
	result := s.Results[n]
	r := reportResult{Name: s.View.Name(n), State: s.state(n), Steps: s.steps(n)}
	if started := s.Times[n].Started; !started.IsZero() {
		utc := started.UTC()
		r.Started, r.Seconds = &utc, s.Times[n].Ended.Sub(started).Seconds()
	}
	var detail Detail
	if s.Details != nil {
		detail = s.Details[n]
		r.Outcome, r.Changes, r.Components = detail.Outcome, detail.Changes, detail.Parts
	}
	switch result.State {
	case order.Failed:
		r.Error = result.Err.Error()
		r.Diagnostic = detail.Problem
		if exit, ok := errors.AsType[*process.ExitError](result.Err); ok {
			r.ExitCode = &exit.Code
		}
	case order.Passed, order.NotStarted:
		r.Reason = s.reason(n)
	case order.Skipped:
		r.Because = s.View.Name(result.Because)
	case order.Succeeded:
		r.ExitCode = new(int)
	}
	return r
}

// JSON returns the summary as a JSON document, in the order of the sequence.
func (s Summary) JSON() ([]byte, error) {
	document := report{FormatVersion: "1.0", Command: s.Command, OK: s.OK(), Results: []reportResult{}}
	if path := s.Timeline().CriticalPath(); len(path.Names) > 0 {
		document.Critical = &path
	}
	for _, n := range s.Sequence {
		document.Results = append(document.Results, s.result(n))
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(document)
	return b.Bytes(), err
}

// skipped returns the outcome of a node that did not run to its end.
func (s Summary) skipped(n int) string {
	reason := s.reason(n)
	switch {
	case s.Details == nil || s.Results[n].State == order.Skipped:
		return strings.TrimSpace(stateWords[s.Results[n].State] + " " + reason)
	case reason != "":
		return fmt.Sprintf("%s (%s)", s.Details[n].Outcome, reason)
	}
	return s.Details[n].Outcome
}

// JUnit returns the summary in the XML format of JUnit: each node is a test.
func (s Summary) JUnit() ([]byte, error) {
	cases := make([]Case, 0, len(s.Sequence))
	for _, n := range s.Sequence {
		one := Case{Name: s.View.Name(n), Class: CaseClass}
		if times := s.Times[n]; !times.Started.IsZero() {
			one.Took = times.Ended.Sub(times.Started)
		}
		if s.Details != nil {
			one.Properties = properties(s.Details[n].Parts)
		}
		switch s.Results[n].State {
		case order.Failed:
			one.Failure = s.reason(n)
		case order.Passed: // it was not run, and that is not a failure
			one.Skipped, one.Type = cmp.Or(s.reason(n), stateWords[order.Passed]), passedState
		case order.Skipped, order.NotStarted:
			one.Skipped = s.skipped(n)
		}
		cases = append(cases, one)
	}
	return JUnit(strings.TrimSpace("cairn run "+strings.Join(s.Command, " ")), cases)
}
