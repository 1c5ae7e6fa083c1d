// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package render

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/order/process"
)

// Times are when the work of a node began and ended.
type Times struct{ Started, Ended time.Time }

// Summary is what became of a run.
type Summary struct {
	View     View
	Command  []string
	Results  []order.Result // by node
	Times    []Times        // by node
	Sequence []int          // the selected nodes
}

// OK tells whether everything that was selected has succeeded.
func (s Summary) OK() bool {
	return !slices.ContainsFunc(s.Sequence, func(n int) bool {
		return s.Results[n].State != order.Succeeded && s.Results[n].State != order.Passed
	})
}

var stateWords = map[order.State]string{
	order.Succeeded: "ok", order.Failed: "failed", order.Skipped: "skipped", order.NotStarted: "not started",
	order.Passed: "passed",
}

// reason says why a node has not succeeded, in words that follow its name.
func (s Summary) reason(n int) string {
	switch result := s.Results[n]; result.State {
	case order.Failed:
		return result.Err.Error()
	case order.Passed:
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
		fmt.Fprintf(&b, "%-11s  %s", stateWords[state], s.View.Name(n))
		if reason := s.reason(n); reason != "" {
			fmt.Fprintf(&b, "  (%s)", reason)
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
	return b.String()
}

// report is the JSON form of a summary.
type report struct {
	FormatVersion string         `json:"format_version"`
	Command       []string       `json:"command"`
	OK            bool           `json:"ok"`
	Results       []reportResult `json:"results"`
}

type reportResult struct {
	Name     string     `json:"name"`
	State    string     `json:"state"` // "ok", "passed", "failed", "skipped" or "not_started"
	Error    string     `json:"error,omitempty"`
	ExitCode *int       `json:"exit_code,omitempty"`
	Because  string     `json:"because,omitempty"` // the node that failed
	Reason   string     `json:"reason,omitempty"`  // why it was not run
	Started  *time.Time `json:"started,omitempty"`
	Seconds  float64    `json:"seconds"`
}

func (s Summary) result(n int) reportResult {
	result := s.Results[n]
	r := reportResult{Name: s.View.Name(n), State: strings.ReplaceAll(stateWords[result.State], " ", "_")}
	if started := s.Times[n].Started; !started.IsZero() {
		utc := started.UTC()
		r.Started, r.Seconds = &utc, s.Times[n].Ended.Sub(started).Seconds()
	}
	switch result.State {
	case order.Failed:
		r.Error = result.Err.Error()
		if exit, ok := errors.AsType[*process.ExitError](result.Err); ok {
			r.ExitCode = &exit.Code
		}
	case order.Passed:
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

// suite is the JUnit form of a summary.
type suite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []suiteCase `xml:"testcase"`
}

type suiteCase struct {
	Name    string   `xml:"name,attr"`
	Class   string   `xml:"classname,attr"`
	Seconds string   `xml:"time,attr"`
	Failure *message `xml:"failure"`
	Skipped *message `xml:"skipped"`
}

type message struct {
	Text string `xml:"message,attr"`
}

// JUnit returns the summary in the XML format of JUnit: each node is a test.
func (s Summary) JUnit() ([]byte, error) {
	all := suite{Name: "cairn run " + strings.Join(s.Command, " "), Tests: len(s.Sequence)}
	for _, n := range s.Sequence {
		one := suiteCase{Name: s.View.Name(n), Class: "cairn.run", Seconds: fmt.Sprintf("%.3f", s.result(n).Seconds)}
		switch s.Results[n].State {
		case order.Failed:
			all.Failures++
			one.Failure = &message{s.reason(n)}
		case order.Skipped, order.NotStarted:
			all.Skipped++
			one.Skipped = &message{strings.TrimSpace(stateWords[s.Results[n].State] + " " + s.reason(n))}
		}
		all.Cases = append(all.Cases, one)
	}
	content, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return nil, err
	}
	return append([]byte(xml.Header), append(content, '\n')...), nil
}
