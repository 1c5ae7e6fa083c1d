// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package driver

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/process"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// That a plan cannot be read is the reason why a stack has failed, in one line.
func TestPlanUnreadable(t *testing.T) {
	dir := t.TempDir()
	damaged := filepath.Join(dir, "damaged")
	if err := os.WriteFile(damaged, []byte("no plan"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{damaged, filepath.Join(dir, "missing")} {
		err := NewStack(StackOptions{PlanFile: file}).keep(t.Context(), &Plan{})
		if err == nil {
			t.Errorf("%s: no error", file)
			continue
		}
		failed := &Failure{Diagnostics: failure.Diagnostics(err)}
		if text := failed.Error(); !strings.HasPrefix(text, "exit code 1: ") || strings.Contains(text, "<nil>") || strings.Contains(text, "\n") {
			t.Errorf("%s: %s", file, text)
		}
	}
}

func TestFailureNamesFirstError(t *testing.T) {
	failed := &Failure{Diagnostics: hcl.Diagnostics{
		{Severity: hcl.DiagWarning, Summary: "Deprecated"},
		{Severity: hcl.DiagError, Summary: "Wrong"},
		{Severity: hcl.DiagError, Summary: "Worse"},
	}}
	var exit *process.ExitError
	if got, want := failed.Error(), "exit code 1: Wrong"; got != want || !errors.As(failed, &exit) || exit.Code != 1 {
		t.Errorf("Error() = %q, want %q, and exit code 1 of a process", got, want)
	}
	if text := (&process.ExitError{Code: 1}).Error(); text != "exit code 1" {
		t.Errorf("an exit code is shown as %q", text)
	}
}

// The first error of a program is named with its place, in one line, whatever else it has said.
func TestFailureNamesPlace(t *testing.T) {
	end := process.NewExitError(3, "exit status 3")
	at := func(line int) *hcl.Range { return &hcl.Range{Filename: "main.tf", Start: hcl.Pos{Line: line}} }
	for want, diags := range map[string]hcl.Diagnostics{
		"exit code 3":                   {{Severity: hcl.DiagWarning, Summary: "Old"}},
		"exit code 3: Wrong at main.tf": {{Severity: hcl.DiagError, Summary: "Wrong", Subject: at(0)}},
		"exit code 3: Wrong and more at main.tf:2": {
			{Severity: hcl.DiagWarning, Summary: "Old", Subject: at(1)}, {Severity: hcl.DiagError, Summary: "Wrong\n and more", Subject: at(2)},
		},
	} {
		if got := (&Failure{Diagnostics: diags, End: end}).Error(); got != want {
			t.Errorf("Error() = %q, want %q", got, want)
		}
	}
}

// Outputs have changed unless they are known to be the same.
func TestOutputsChanged(t *testing.T) {
	zone := func(value cty.Value) map[string]cty.Value { return map[string]cty.Value{"zone": value} }
	east, secret := cty.StringVal("east"), cty.StringVal("east").Mark(marks.Sensitive)
	for name, test := range map[string]struct {
		outputs outputs
		want    bool
	}{
		"same":           {outputs{zone(east), zone(east), true}, false},
		"same secret":    {outputs{zone(secret), zone(secret), true}, false},
		"none":           {outputs{known: true}, false},
		"other":          {outputs{zone(east), zone(cty.StringVal("west")), true}, true},
		"other secret":   {outputs{zone(secret), zone(cty.StringVal("west").Mark(marks.Sensitive)), true}, true},
		"became secret":  {outputs{zone(east), zone(secret), true}, true},
		"other name":     {outputs{zone(east), map[string]cty.Value{"place": east}, true}, true},
		"new":            {outputs{nil, zone(east), true}, true},
		"gone":           {outputs{zone(east), nil, true}, true},
		"not known":      {outputs{}, true},
		"not read again": {outputs{before: zone(east)}, true},
	} {
		if got := test.outputs.changed(); got != test.want {
			t.Errorf("%s: changed() = %t, want %t", name, got, test.want)
		}
	}
}
