// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statescmd

import (
	"bytes"
	"cmp"

	"github.com/cairnstacks/cairn/internal/cli/reportfile"
	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/document"
	"github.com/cairnstacks/cairn/internal/show"
	"github.com/cairnstacks/cairn/internal/states/compile"
	"github.com/cairnstacks/cairn/internal/states/schedule"
)

// statesDocument is the output of cairn run states -json.
type statesDocument struct {
	FormatVersion string                  `json:"format_version"`
	Test          bool                    `json:"test"`
	Results       []stateResult           `json:"results"`
	Summary       map[string]int          `json:"summary"`
	Diagnostics   []diagnostic.Diagnostic `json:"diagnostics"` // warnings only; with errors nothing is run
}

type stateResult struct {
	ID       string       `json:"id"`
	SLS      string       `json:"sls"`
	Function string       `json:"function"`
	Name     string       `json:"name"`
	Status   string       `json:"status"`
	Result   bool         `json:"result"` // false for a result that counts as a failure
	Changes  *compile.Map `json:"changes"`
	Comment  string       `json:"comment"`
	Because  string       `json:"because,omitempty"`
}

func (r *statesRun) document(results []schedule.Result) statesDocument {
	doc := statesDocument{FormatVersion: document.FormatVersion, Test: r.test, Results: []stateResult{}, Summary: map[string]int{}}
	doc.Diagnostics = diagnostic.All(r.source.Warnings, r.session.Sources())
	for _, result := range results {
		call := result.Call
		shown := stateResult{
			ID: call.ID, SLS: call.SLS, Function: call.FullFunction(), Name: call.Name, Status: result.Status.String(),
			Result: result.Status.Success(), Changes: result.Changes, Comment: result.Comment,
		}
		if shown.Changes == nil {
			shown.Changes = &compile.Map{}
		}
		if result.Because != nil {
			shown.Because = result.Because.String()
		}
		doc.Results = append(doc.Results, shown)
		doc.Summary[shown.Status]++
	}
	return doc
}

// statesReport is the outcome of a run of states, in the formats of reports.
type statesReport struct {
	run     *statesRun
	results []schedule.Result
}

var _ reportfile.Report = statesReport{}

// JSON returns the output of cairn run states -json.
func (r statesReport) JSON() ([]byte, error) {
	var b bytes.Buffer
	err := document.WriteDocument(&b, r.run.document(r.results), true)
	return b.Bytes(), err
}

// JUnit returns the results in the XML format of JUnit: each call is a test.
func (r statesReport) JUnit() ([]byte, error) {
	cases := make([]show.Case, len(r.results))
	for i, result := range r.results {
		cases[i] = show.Case{Name: result.Call.String(), Class: result.Call.SLS, Took: result.Took}
		switch result.Status {
		case schedule.Failed:
			cases[i].Failure = cmp.Or(result.Comment, "It does not say why.")
		case schedule.Skipped, schedule.NotStarted, schedule.NotNeeded:
			cases[i].Skipped = cmp.Or(result.Comment, result.Status.String())
		}
	}
	return show.JUnit("cairn run states", cases)
}
