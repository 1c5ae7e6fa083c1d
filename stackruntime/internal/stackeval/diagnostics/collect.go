// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package diagnostics

import (
	"cmp"
	"reflect"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"
)

// Sink collects diagnostics from many tasks.
type Sink struct {
	mu struct {
		sync.Mutex
		diags hcl.Diagnostics
	}
}

func (s *Sink) Add(diags hcl.Diagnostics) {
	if len(diags) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.diags = s.mu.diags.Extend(diags)
}

func (s *Sink) All() hcl.Diagnostics {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.mu.diags)
}

// Tidy sorts diagnostics by place and drops repetitions.
func Tidy(diags hcl.Diagnostics) hcl.Diagnostics {
	slices.SortStableFunc(diags, compareDiagnostics)
	return slices.CompactFunc(diags, func(a, b *hcl.Diagnostic) bool {
		return compareDiagnostics(a, b) == 0 && reflect.DeepEqual(a.Extra, b.Extra)
	})
}

func compareDiagnostics(a, b *hcl.Diagnostic) int {
	differ := cmp.Or(
		compareRanges(a.Subject, b.Subject),
		cmp.Compare(a.Severity, b.Severity),
		cmp.Compare(a.Summary, b.Summary),
		cmp.Compare(a.Detail, b.Detail),
	)
	if differ != 0 {
		return differ // without making texts of addresses, which costs more than all else
	}
	return cmp.Compare(diagnosticAddress(a), diagnosticAddress(b))
}

// diagnosticAddress is the component a diagnostic is about; empty for none.
func diagnosticAddress(diag *hcl.Diagnostic) string {
	if about, ok := diag.Extra.(interface{ Address() string }); ok {
		return about.Address()
	}
	return ""
}

// compareRanges orders by file, line and column; nil comes last.
func compareRanges(a, b *hcl.Range) int {
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
		cmp.Compare(a.Start.Byte, b.Start.Byte),
		cmp.Compare(a.End.Byte, b.End.Byte),
	)
}
