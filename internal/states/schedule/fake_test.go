// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package schedule

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/states/compile"
	"github.com/cairnstacks/cairn/internal/states/slstest"
)

func mustLoad(t *testing.T, archive string) *compile.High {
	t.Helper()
	high, diags := compile.Load(slstest.Tree(archive), []string{"blah"}, compile.LoadOptions{})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	return high
}

func mustCompile(t *testing.T, archive string) *compile.Low {
	t.Helper()
	low, diags := compile.Compile(mustLoad(t, archive), compile.CompileOptions{})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	return low
}

// fake makes calls by their ids: "changes" in the name of the function says that it changes
// something, "fails" that it fails.
type fake struct {
	log []string
}

func (f *fake) Reacts(module, _ string) bool { return module != "mute" }

func (f *fake) Call(_ context.Context, req Request) Outcome {
	entry := req.ID
	if req.Name != req.ID {
		entry = req.Name
	}
	if req.Test {
		entry += "?"
	}
	if req.Reaction {
		entry += "!"
	}
	f.log = append(f.log, entry)
	outcome := Outcome{
		Failed:  strings.Contains(req.Function, "fails"),
		Changed: req.Reaction || strings.Contains(req.Function, "changes") || req.Function == "surprises" && !req.Test,
	}
	if req.Function == "restarts" { // only its reaction succeeds
		outcome = Outcome{Failed: !req.Reaction, Changed: req.Reaction}
	}
	if req.Function == "passes_trial" { // fails only when it is really made
		outcome = Outcome{Changed: req.Test, Failed: !req.Test}
	}
	return outcome
}

// runIt makes the calls and returns the log of calls, and how each call ended: "id=status".
func runIt(t *testing.T, low *compile.Low, opts Options) (log, ended string) {
	t.Helper()
	f := &fake{}
	opts.Functions = f
	var ends []string
	for _, result := range Run(t.Context(), low, opts) {
		ends = append(ends, strings.ReplaceAll(result.Call.ID+"="+result.Status.String(), " ", "-"))
	}
	slices.Sort(ends)
	return strings.Join(f.log, " "), strings.Join(ends, " ")
}
