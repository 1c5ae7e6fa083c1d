// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package diagnostics

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/promising"
)

// IsCycle reports whether a diagnostic is a report of a circular dependency by one
// of the promises in it.
func IsCycle(diag *hcl.Diagnostic) bool {
	_, ok := diag.Extra.(*promising.CycleError)
	return ok
}

// ExplainCycles merges the reports of circular dependencies: every participant has made one of its
// own. Those that remain name each participant with its place. declarations returns the places of
// objects by their addresses; it is called only if there is a report.
func ExplainCycles(diags hcl.Diagnostics, declarations func() map[string]hcl.Range) hcl.Diagnostics {
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
			places = declarations()
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
