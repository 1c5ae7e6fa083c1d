// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package diagnostics has the evaluator's treatment of diagnostics on any subject: it names the
// component and the place that they are about, gathers them from many tasks, merges those that say
// the same, and sorts them.
package diagnostics

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// Bug reports a fault that only a mistake of ours can lead to.
func Bug(summary string, format string, args ...any) *hcl.Diagnostic {
	return failure.New(summary, "%s This is a bug in cairn; please report it.", fmt.Sprintf(format, args...))
}

// About adds to diagnostics from an engine which component they are about.
func About(diags hcl.Diagnostics, addr stackaddrs.AbsComponentInstance) hcl.Diagnostics {
	var addressed hcl.Diagnostics
	for _, diag := range diags {
		here := *diag
		here.Extra = fault.Address{Component: addr, Inner: diag.Extra}
		addressed = append(addressed, &here)
	}
	return addressed
}

// PlacedAt gives diagnostics that name no place a usable one. Diagnostics of the
// engine may be shared between components, so they are copied.
func PlacedAt(diags hcl.Diagnostics, place hcl.Range) hcl.Diagnostics {
	var placed hcl.Diagnostics
	for _, diag := range diags {
		if diag.Subject == nil {
			here := *diag
			here.Subject = &place
			diag = &here
		}
		placed = append(placed, diag)
	}
	return placed
}

// mostEnumerated is how many addresses a message has at most.
const mostEnumerated = 5

// Enumerate writes a list of addresses, of which there is at least one.
func Enumerate[A any](addrs []A) string {
	texts := make([]string, 0, mostEnumerated)
	for _, addr := range addrs[:min(len(addrs), mostEnumerated)] {
		texts = append(texts, fmt.Sprint(addr))
	}
	if more := len(addrs) - len(texts); more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(texts, ", "), more)
	}
	if last := len(texts) - 1; last > 0 {
		return strings.Join(texts[:last], ", ") + " and " + texts[last]
	}
	return texts[0]
}
