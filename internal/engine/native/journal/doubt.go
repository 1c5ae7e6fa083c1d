// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package journal

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// intentions are the actions that were intended for objects.
type intentions map[intention]engine.Action

// intention names an object, by the address of its resource instance and, if it is deposed, its
// key.
type intention struct{ object, deposed string }

// addresses returns the resource instances, sorted.
func (all intentions) addresses() []string {
	var found []string
	for one := range all {
		found = append(found, one.object)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// explain returns an error about intentions of which nothing more is known, if there are any.
func (all intentions) explain() hcl.Diagnostics {
	if len(all) == 0 {
		return nil
	}
	order := slices.SortedFunc(maps.Keys(all), func(a, b intention) int {
		return cmp.Or(strings.Compare(a.object, b.object), strings.Compare(a.deposed, b.deposed))
	})
	var text strings.Builder
	text.WriteString("These changes were begun, and may have been made or not:\n")
	for _, one := range order {
		text.WriteString("\n  " + string(all[one]) + " " + one.object)
		if one.deposed != "" {
			text.WriteString(" (deposed object " + one.deposed + ")")
		}
	}
	text.WriteString("\n\nCompare the objects with the real ones before you plan again.")
	return hcl.Diagnostics{{
		Severity: hcl.DiagError,
		Summary:  "Unknown outcome of changes",
		Detail:   text.String(),
		Extra:    &engine.DiagnosticData{InDoubt: all.addresses()},
	}}
}
