// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package reference

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// CheckCycles reports each group of items that depend on each other.
//
// The promises of an evaluation find every circular dependency, too, but which one they find first
// depends on which task ran first.
func (g *Graph) CheckCycles() hcl.Diagnostics {
	var cycles []cycle
	for _, group := range Groups(slices.Values(g.all), func(i *item) []*item { return i.uses }) {
		if len(group) > 1 || slices.Contains(group[0].uses, group[0]) {
			slices.SortFunc(group, compareItems)
			cycles = append(cycles, group)
		}
	}
	slices.SortFunc(cycles, func(a, b cycle) int { return compareItems(a[0], b[0]) })
	var diags hcl.Diagnostics
	for _, c := range cycles {
		diags = diags.Append(c.diagnostic())
	}
	return diags
}

// cycle is a group of items that depend on each other, by name.
type cycle []*item

// inOrder follows the references round from the first item, where the group is
// a single cycle; otherwise the order stays that of the names.
func (c cycle) inOrder() []*item {
	chain := []*item{c[0]}
	for len(chain) < len(c) {
		next := c.usedInside(chain[len(chain)-1])
		if len(next) != 1 || slices.Contains(chain, next[0]) {
			return c
		}
		chain = append(chain, next[0])
	}
	return chain
}

// usedInside are the members of the group that an item uses, by name.
func (c cycle) usedInside(i *item) []*item {
	var used []*item
	for _, other := range i.uses {
		if slices.Contains(c, other) && !slices.Contains(used, other) {
			used = append(used, other)
		}
	}
	slices.SortFunc(used, compareItems)
	return used
}

func (c cycle) diagnostic() *hcl.Diagnostic {
	diag := &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Items depend on each other in a circle",
		Subject:  c[0].place.Ptr(),
	}
	if len(c) == 1 {
		diag.Summary = "Item depends on itself"
	}
	var list strings.Builder
	for _, i := range c.inOrder() {
		fmt.Fprintf(&list, "\n  - %s, at %s:%d, uses ", i.name, i.place.Filename, i.place.Start.Line)
		for n, used := range c.usedInside(i) {
			if n > 0 {
				list.WriteString(" and ")
			}
			list.WriteString(used.name)
		}
	}
	diag.Detail = "None of these can be computed before the others:" + list.String() + "\nBreak the cycle by removing one of the references."
	return diag
}
