// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package failure

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// Without returns the diagnostics that do not repeat known ones: that differ in their text, or in
// their place. It takes linear time, as a generated configuration may have hundreds of thousands of
// warnings.
func Without(diags, known hcl.Diagnostics) hcl.Diagnostics {
	if len(known) == 0 {
		return diags
	}
	isKnown := make(map[identity]bool, len(known))
	for _, diag := range known {
		isKnown[identify(diag)] = true
	}
	return slices.DeleteFunc(slices.Clone(diags), func(diag *hcl.Diagnostic) bool { return isKnown[identify(diag)] })
}

// identity has the properties by which diagnostics are compared.
type identity struct {
	severity        hcl.DiagnosticSeverity
	summary, detail string
	subject         hcl.Range
}

func identify(diag *hcl.Diagnostic) identity {
	id := identity{severity: diag.Severity, summary: diag.Summary, detail: diag.Detail}
	if diag.Subject != nil {
		id.subject = *diag.Subject
	}
	return id
}
