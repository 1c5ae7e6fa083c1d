// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package identity decides which diagnostics are the same, and in which order they are reported.
//
// Two are the same if they have the same place, severity and text, and are about the same component
// instance. The order is that of places: by file, line and column. Diagnostics without a place come
// last.
//
// A slice of diagnostics belongs to one goroutine. Only [Sort] and [Distinct] change theirs.
package identity

import (
	"cmp"
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// Addressed is the Extra of diagnostics about one component instance, directly or in a value that
// it wraps (see [hcl.DiagnosticExtraUnwrapper]).
type Addressed interface {
	Address() string
}

// Address returns the component instance that a diagnostic is about; empty for none.
func Address(diag *hcl.Diagnostic) string {
	if about, ok := hcl.DiagnosticExtra[Addressed](diag); ok {
		return about.Address()
	}
	return ""
}

// Compare orders diagnostics by place, severity, text and component instance. It is 0 for the same.
func Compare(a, b *hcl.Diagnostic) int {
	differ := cmp.Or(
		ComparePlaces(a.Subject, b.Subject),
		cmp.Compare(a.Severity, b.Severity),
		cmp.Compare(a.Summary, b.Summary),
		cmp.Compare(a.Detail, b.Detail),
	)
	if differ != 0 {
		return differ // without making texts of addresses, which costs more than all else
	}
	return cmp.Compare(Address(a), Address(b))
}

// ComparePlaces orders ranges by file, start and end; nil comes last. Ranges of languages other
// than HCL have no bytes, others no lines.
func ComparePlaces(a, b *hcl.Range) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return cmp.Or(
		cmp.Compare(a.Filename, b.Filename),
		cmp.Compare(a.Start.Line, b.Start.Line),
		cmp.Compare(a.Start.Column, b.Start.Column),
		cmp.Compare(a.Start.Byte, b.Start.Byte),
		cmp.Compare(a.End.Byte, b.End.Byte),
	)
}

// Sort sorts diagnostics, and drops all but the first of those that are the same.
func Sort(diags hcl.Diagnostics) hcl.Diagnostics {
	slices.SortStableFunc(diags, Compare)
	return slices.CompactFunc(diags, func(a, b *hcl.Diagnostic) bool { return Compare(a, b) == 0 })
}

// ID has the properties by which diagnostics are the same, whichever component instance they are
// about.
type ID struct {
	Severity        hcl.DiagnosticSeverity
	Summary, Detail string
	Subject         hcl.Range
}

// Of returns the identity of a diagnostic.
func Of(diag *hcl.Diagnostic) ID {
	id := ID{Severity: diag.Severity, Summary: diag.Summary, Detail: diag.Detail}
	if diag.Subject != nil {
		id.Subject = *diag.Subject
	}
	return id
}

// Distinct drops all but the first of diagnostics with the same [ID], and leaves their order.
func Distinct(diags hcl.Diagnostics) hcl.Diagnostics {
	known := make(map[ID]bool, len(diags))
	return slices.DeleteFunc(diags, func(diag *hcl.Diagnostic) bool {
		id := Of(diag)
		again := known[id]
		known[id] = true
		return again
	})
}

// Without returns the diagnostics that have the [ID] of none of the known ones. It takes linear
// time, as a generated configuration may have hundreds of thousands of warnings.
func Without(diags, known hcl.Diagnostics) hcl.Diagnostics {
	if len(known) == 0 {
		return diags
	}
	isKnown := make(map[ID]bool, len(known))
	for _, diag := range known {
		isKnown[Of(diag)] = true
	}
	return slices.DeleteFunc(slices.Clone(diags), func(diag *hcl.Diagnostic) bool { return isKnown[Of(diag)] })
}
