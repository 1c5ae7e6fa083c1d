// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fleetcmd

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/document"
	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/show"
	"github.com/cairnstacks/cairn/internal/views/markdown"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// driftReport is the result of a search for drift, in the formats of reports. It has no values.
type driftReport struct {
	work *rollout.Work
	ends []rollout.DriftEnd
}

// driftDocument has the members of the documents of other runs, and the drift.
type driftDocument struct {
	FormatVersion string        `json:"format_version"`
	Command       []string      `json:"command"`
	OK            bool          `json:"ok"`
	Drifted       bool          `json:"drifted"`
	Results       []driftResult `json:"results"`
}

type driftResult struct {
	Name       string                 `json:"name"`
	State      string                 `json:"state"` // "ok", "failed" or "not_started"
	Outcome    string                 `json:"outcome,omitempty"`
	Drift      []driver.Drifted       `json:"drift,omitempty"`
	Error      string                 `json:"error,omitempty"`
	Diagnostic *diagnostic.Diagnostic `json:"diagnostic,omitempty"`
	Started    *time.Time             `json:"started,omitempty"`
	Seconds    float64                `json:"seconds"`
}

var driftStates = map[rollout.State]string{
	rollout.Drifting:   "ok",
	rollout.AsStated:   "ok",
	rollout.Failed:     "failed",
	rollout.NotStarted: "not_started",
}

// JSON implements [reportfile.Report].
func (r driftReport) JSON() ([]byte, error) {
	doc := driftDocument{FormatVersion: document.FormatVersion, Command: []string{"drift"}, OK: true, Results: []driftResult{}}
	for _, end := range r.ends {
		result := driftResult{Name: r.work.Units[end.Unit].Name, State: driftStates[end.State], Drift: end.Drift.Objects}
		if result.State == "ok" {
			result.Outcome = string(end.State)
		} else {
			doc.OK = false
		}
		doc.Drifted = doc.Drifted || end.State == rollout.Drifting
		if end.Err != nil {
			result.Error = end.Err.Error()
			if failed, ok := errors.AsType[*driver.Failure](end.Err); ok {
				result.Diagnostic = problem(failed)
			}
		}
		if !end.Started.IsZero() {
			utc := end.Started.UTC()
			result.Started, result.Seconds = &utc, end.Ended.Sub(end.Started).Seconds()
		}
		doc.Results = append(doc.Results, result)
	}
	var b bytes.Buffer
	err := document.WriteDocument(&b, doc, true)
	return b.Bytes(), err
}

// JUnit implements [reportfile.Report]. A unit that has drifted counts as a failed test of its own
// type.
func (r driftReport) JUnit() ([]byte, error) {
	var cases []show.Case
	for _, end := range r.ends {
		one := show.Case{Name: r.work.Units[end.Unit].Name, Class: show.CaseClass, Took: end.Ended.Sub(end.Started)}
		switch end.State {
		case rollout.Failed:
			one.Failure = end.Err.Error()
		case rollout.NotStarted:
			one.Skipped = string(end.State)
		case rollout.Drifting:
			one.Failure, one.Type = "drifted"+objectTexts(end.Drift.Objects), show.DriftedCase
		}
		cases = append(cases, one)
	}
	return show.JUnit("cairn run drift", cases)
}

// Markdown returns the report for comments on pull requests and the like.
func (r driftReport) Markdown() ([]byte, error) {
	var units []markdown.DriftUnit
	for _, end := range r.ends {
		unit := markdown.DriftUnit{Name: r.work.Units[end.Unit].Name, State: string(end.State), Drifted: end.State == rollout.Drifting}
		if end.Err != nil {
			unit.Detail = end.Err.Error()
		}
		for _, object := range end.Drift.Objects {
			unit.Objects = append(unit.Objects, markdown.DriftObject{
				Component: object.Component, Address: object.Address, Change: driftVerb(object.Action), Attributes: object.Attributes,
			})
		}
		units = append(units, unit)
	}
	return []byte(markdown.Drift(units)), nil
}

// objectTexts names objects, of many only some.
func objectTexts(objects []driver.Drifted) string {
	const most = 10
	var texts []string
	for i, object := range objects {
		if i == most {
			texts = append(texts, fmt.Sprintf("and %d more", len(objects)-most))
			break
		}
		name := object.Address
		if object.Component != "" {
			name = object.Component + ": " + name
		}
		texts = append(texts, name+" was "+driftVerb(object.Action))
	}
	if len(texts) == 0 {
		return ""
	}
	return ": " + strings.Join(texts, ", ")
}

// driftVerb names the change that others made to an object.
func driftVerb(action engine.Action) string {
	switch action {
	case engine.ActionDelete:
		return "deleted"
	case engine.ActionCreate:
		return "created"
	}
	return "changed"
}
