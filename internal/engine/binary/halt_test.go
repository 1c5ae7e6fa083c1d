// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"slices"
	"testing"

	"github.com/hashicorp/hcl/v2"
)

// An interrupted engine's error about itself is dropped only where another one names the unfinished
// change.
func TestWithoutHalt(t *testing.T) {
	halted := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "execution halted"}
	canceled := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Create time sleep error", Detail: "context canceled"}
	warning := &hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: "Deprecated"}
	for name, test := range map[string]struct{ diags, want hcl.Diagnostics }{
		"another error": {hcl.Diagnostics{halted, warning, canceled}, hcl.Diagnostics{warning, canceled}},
		"only warnings": {hcl.Diagnostics{halted, warning}, hcl.Diagnostics{halted, warning}},
		"alone":         {hcl.Diagnostics{halted}, hcl.Diagnostics{halted}},
	} {
		if got := withoutHalt(test.diags); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}
