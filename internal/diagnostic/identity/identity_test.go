// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package identity_test

import (
	"fmt"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/diagnostic/identity"
)

func TestWithout(t *testing.T) {
	at := func(line int) *hcl.Range { return &hcl.Range{Filename: "main.tf", Start: hcl.Pos{Line: line}} }
	warning := func(summary string, at *hcl.Range) *hcl.Diagnostic {
		return &hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: summary, Subject: at}
	}
	known := hcl.Diagnostics{warning("Known", at(1)), warning("Without a place", nil)}
	said := hcl.Diagnostics{
		warning("Known", at(1)), warning("Known", at(2)), warning("New", at(1)), warning("Without a place", nil),
		{Severity: hcl.DiagError, Summary: "Known", Subject: at(1)},
	}
	var left []string
	for _, diag := range identity.Without(said, known) {
		left = append(left, diag.Error())
	}
	if got, want := fmt.Sprint(left), fmt.Sprint([]string{said[1].Error(), said[2].Error(), said[4].Error()}); got != want {
		t.Errorf("left are %s, want %s", got, want)
	}
}

// A generated module may have 700 000 warnings, all of which a plan repeats: comparing each with
// each would take an hour and more.
func TestWithoutOfVeryMany(t *testing.T) {
	var diags hcl.Diagnostics
	for n := range 200_000 {
		diags = append(diags, &hcl.Diagnostic{
			Severity: hcl.DiagWarning, Summary: "Deprecated argument",
			Subject: &hcl.Range{Filename: "main.tf", Start: hcl.Pos{Byte: n}},
		})
	}
	if left := identity.Without(diags, diags); len(left) != 0 {
		t.Errorf("%d are left of what is known", len(left))
	}
}
