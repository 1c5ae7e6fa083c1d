// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package wire

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	terraform1pb "github.com/cairnstacks/cairn/proto/terraform1"
)

// Clients get so many diagnostics that a message holds them, errors rather than warnings, and the
// number of all others.
func TestVeryManyDiagnostics(t *testing.T) {
	var diags hcl.Diagnostics
	for n := range 100_000 {
		diags = append(diags, &hcl.Diagnostic{
			Severity: hcl.DiagWarning,
			Summary:  "W",
			Subject:  &hcl.Range{Filename: "f", Start: hcl.Pos{Byte: n, Line: n}},
		})
	}
	diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "E"})
	messages := Diagnostics(diags, nil)
	if len(messages) != 501 || messages[0].Severity != terraform1pb.Diagnostic_ERROR {
		t.Fatalf("%d messages, of which the first is %v", len(messages), messages[0])
	}
	if last := messages[500]; last.Severity != terraform1pb.Diagnostic_WARNING ||
		!strings.HasPrefix(last.Detail, "There are 99501 more problems") {
		t.Errorf("the last one is %v", last)
	}
}
