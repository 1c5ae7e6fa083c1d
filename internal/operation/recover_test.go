// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// All errors of an apply are one warning; its warnings stay warnings.
func TestRecoveredWarnings(t *testing.T) {
	old := &hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: "Deprecated"}
	recovered := &engine.Recovered{Component: "component.a", Diagnostics: hcl.Diagnostics{
		{
			Severity: hcl.DiagError, Summary: "Creation failed", Detail: "No space is left.\n",
			Subject: &hcl.Range{Filename: "m/main.tf", Start: hcl.Pos{Line: 3}},
		},
		old,
		{Severity: hcl.DiagError, Summary: "Execution halted"},
	}}
	want := hcl.Diagnostics{{
		Severity: hcl.DiagWarning,
		Summary:  "Interrupted apply recovered",
		Detail: "An earlier apply of component.a was cut off. The changes that it had made until then are now saved in the state. It ended " +
			"with:\n\n" +
			"Creation failed (m/main.tf:3): No space is left.\n\nExecution halted",
	}, old}
	if diff := cmp.Diff(want, recoveredWarnings(recovered, false)); diff != "" {
		t.Errorf("recoveredWarnings (-want +got):\n%s", diff)
	}
}
