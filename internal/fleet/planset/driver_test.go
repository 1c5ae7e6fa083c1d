// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planset

import (
	"errors"
	"fmt"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/operation/planfile"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// Only the code of the first error counts, from whichever source, and never its text.
func TestIsUnfit(t *testing.T) {
	failed := func(diag *hcl.Diagnostic) error {
		return fmt.Errorf("apply: %w", &driver.Failure{Diagnostics: hcl.Diagnostics{
			{Severity: hcl.DiagWarning, Summary: "Something else", Extra: fault.StalePlan}, diag, {Severity: hcl.DiagError, Extra: fault.StalePlan},
		}})
	}
	named := func(extra any) *hcl.Diagnostic {
		return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Whatever it says", Extra: extra}
	}
	found := &engine.DiagnosticData{Fault: fault.StalePlan}
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"an engine":          {failed(named(found)), true},
		"an engine, wrapped": {failed(named(fault.Address{Inner: found})), true},
		"the runtime":        {failed(named(fault.Address{Inner: fault.StalePlan})), true},
		"the saved plan":     {failed(planfile.Stale("It was applied.")), true},
		"another fault":      {failed(named(&engine.DiagnosticData{Fault: fault.LeftOver})), false},
		"no code":            {failed(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Stale plan"}), false},
		"nothing is known":   {&driver.Failure{}, false},
		"not from an apply":  {errors.New("stale"), false},
		"nothing went wrong": {nil, false},
	} {
		if got := isUnfit(test.err); got != test.want {
			t.Errorf("%s: got %t, want %t", name, got, test.want)
		}
	}
}
