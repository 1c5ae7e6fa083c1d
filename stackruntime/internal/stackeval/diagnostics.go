// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/promising"
)

// diagnosticSink collects diagnostics from many tasks.
type diagnosticSink struct {
	mu struct {
		sync.Mutex
		diags hcl.Diagnostics
	}
}

func (s *diagnosticSink) add(diags hcl.Diagnostics) {
	if len(diags) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.diags = s.mu.diags.Extend(diags)
}

func (s *diagnosticSink) all() hcl.Diagnostics {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.mu.diags)
}

// tidy sorts diagnostics by place and drops repetitions.
func tidy(diags hcl.Diagnostics) hcl.Diagnostics {
	slices.SortStableFunc(diags, compareDiagnostics)
	return slices.CompactFunc(diags, func(a, b *hcl.Diagnostic) bool {
		return compareDiagnostics(a, b) == 0 && reflect.DeepEqual(a.Extra, b.Extra)
	})
}

func compareDiagnostics(a, b *hcl.Diagnostic) int {
	return cmp.Or(
		compareRanges(a.Subject, b.Subject),
		cmp.Compare(a.Severity, b.Severity),
		cmp.Compare(a.Summary, b.Summary),
		cmp.Compare(a.Detail, b.Detail),
		cmp.Compare(diagnosticAddress(a), diagnosticAddress(b)),
	)
}

// diagnosticAddress is the component a diagnostic is about; empty for none.
func diagnosticAddress(diag *hcl.Diagnostic) string {
	if about, ok := diag.Extra.(interface{ Address() string }); ok {
		return about.Address()
	}
	return ""
}

// compareRanges orders by file, line and column; what has no place comes last.
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

// isCycle reports whether a diagnostic is a report of a circular dependency by one
// of the promises in it.
func isCycle(diag *hcl.Diagnostic) bool {
	_, ok := diag.Extra.(*promising.CycleError)
	return ok
}

// explainCycles merges the reports of circular dependencies: every participant
// has made one of its own. Those that remain name each participant with its place.
func (m *Main) explainCycles(diags hcl.Diagnostics) hcl.Diagnostics {
	var reported []*promising.CycleError
	var places map[string]hcl.Range
	return slices.DeleteFunc(diags, func(diag *hcl.Diagnostic) bool {
		cycle, ok := diag.Extra.(*promising.CycleError)
		if !ok {
			return false
		}
		for _, other := range reported {
			if cycle.SameCycle(other) {
				return true
			}
		}
		reported = append(reported, cycle)
		if places == nil {
			places = m.config.places()
		}
		describeCycle(diag, cycle.RotatedNames(), places)
		return false
	})
}

func describeCycle(diag *hcl.Diagnostic, names []string, places map[string]hcl.Range) {
	if len(names) == 1 {
		diag.Summary = "Item depends on itself"
	} else {
		diag.Summary = "Items depend on each other in a circle"
	}
	var list strings.Builder
	for _, name := range names {
		place, ok := placeOf(name, places)
		if !ok {
			fmt.Fprintf(&list, "\n  - %s", name)
			continue
		}
		fmt.Fprintf(&list, "\n  - %s, at %s:%d", name, place.Filename, place.Start.Line)
		if diag.Subject == nil {
			diag.Subject = place.Ptr()
		}
	}
	diag.Detail = "None of these can be computed before the others:" + list.String() + "\nBreak the cycle by removing one of the references."
}

// placeOf finds the declaration that a promise belongs to: names of aspects are
// an address with words behind it (docs/language.md, section 4.1).
func placeOf(name string, places map[string]hcl.Range) (hcl.Range, bool) {
	for {
		if place, ok := places[name]; ok {
			return place, true
		}
		i := strings.LastIndexByte(name, ' ')
		if i < 0 {
			return hcl.Range{}, false
		}
		name = name[:i]
	}
}

// places are the declarations of the stack and those below it, by address.
func (s *StackConfig) places() map[string]hcl.Range {
	places := make(map[string]hcl.Range)
	s.collectPlaces(places)
	return places
}

func (s *StackConfig) collectPlaces(places map[string]hcl.Range) {
	for v := range maps.Values(s.variables) {
		places[v.addr.String()] = v.decl.Range
	}
	for l := range maps.Values(s.locals) {
		places[l.addr.String()] = l.decl.Range
	}
	for o := range maps.Values(s.outputs) {
		places[o.addr.String()] = o.decl.Range
	}
	for p := range maps.Values(s.providers) {
		places[p.addr.String()] = p.decl.Range
	}
	for c := range maps.Values(s.components) {
		places[c.addr.String()] = c.decl.Range
	}
	for c := range maps.Values(s.calls) {
		places[c.addr.String()] = c.decl.Range
		if c.child != nil {
			c.child.collectPlaces(places)
		}
	}
}

// bugDiagnostic reports what only a mistake of ours can lead to.
func bugDiagnostic(summary string, format string, args ...any) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  summary,
		Detail:   fmt.Sprintf(format, args...) + " This is a bug in cairn; please report it.",
	}
}
