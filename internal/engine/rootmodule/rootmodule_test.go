// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rootmodule

import (
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Diagnostics are in the order of their places, however they were scheduled, and those without one
// come last.
func TestDiagnosticsByPlace(t *testing.T) {
	at := func(file string, line, column int) *diagnostic.Range {
		return &diagnostic.Range{Filename: file, Start: diagnostic.Pos{Line: line, Column: column}}
	}
	var got []string
	for _, diag := range diagnostics([]diagnostic.Diagnostic{
		{Summary: "nowhere"},
		{Summary: "d", Range: at("b.tf", 1, 1)},
		{Summary: "c", Range: at("a.tf", 10, 1)},
		{Summary: "b", Range: at("a.tf", 2, 7)},
		{Summary: "a", Range: at("a.tf", 2, 3)},
		{Summary: "nowhere else"},
	}) {
		got = append(got, diag.Summary)
	}
	if got, want := strings.Join(got, ", "), "a, b, c, d, nowhere, nowhere else"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAsksCompactWarnings(t *testing.T) {
	for entry, want := range map[string]bool{
		"":                                       false,
		"TF_CLI_ARGS=-compact-warnings":          true,
		"TF_CLI_ARGS_plan=-x --compact-warnings": true,
		"TF_CLI_ARGS_plan=-compact-warnings=false": false,
		"TF_CLI_ARGS_apply=-compact-warnings":      false,
	} {
		if got := asksCompactWarnings([]string{entry}, "plan"); got != want {
			t.Errorf("asksCompactWarnings(%q) = %t", entry, got)
		}
	}
}

// The result of an apply that ends without errors is the engine's summary, that of another one the
// changes in its events.
func TestTally(t *testing.T) {
	var seen tally
	for _, action := range []string{"create", "delete", "create", "update", "read"} {
		seen.event(runner.Event{Type: runner.EventApplyComplete, Hook: &runner.Hook{Action: action}})
	}
	seen.event(runner.Event{Type: runner.EventOutputs, Outputs: map[string]runner.Output{
		"zone": {Type: []byte(`"string"`), Value: []byte(`"east"`)}, "secret": {Sensitive: true, Type: []byte(`"string"`)},
	}})
	failed := seen.of(&runner.Result{Outcome: runner.OutcomeFailed, Interrupted: true})
	want := stackplan.Counts{Add: 2, Change: 1, Remove: 1}
	if failed.Counts != want || !failed.Failed || !failed.Interrupted || failed.Outputs != nil {
		t.Errorf("failed: %+v", failed)
	}
	done := seen.of(&runner.Result{Outcome: runner.OutcomeSucceeded, Interrupted: true, Summary: &runner.ChangeSummary{Add: 2, Import: 1}})
	if want := (stackplan.Counts{Add: 2, Import: 1}); done.Counts != want || done.Failed || done.Interrupted {
		t.Errorf("done: %+v", done)
	}
	if !done.Outputs["zone"].RawEquals(cty.StringVal("east")) || !marks.Has(done.Outputs["secret"], marks.Sensitive) {
		t.Errorf("outputs: %#v", done.Outputs)
	}
}
