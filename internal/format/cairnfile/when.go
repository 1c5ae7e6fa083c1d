// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

import (
	"fmt"
	"slices"
	"strings"
)

// When returns the condition under which a task runs, apart from waiting, as "if prod fails"; "" if
// it always does.
func (m *Model) When(task *Leaf) string {
	type kind struct {
		rel    Relation
		policy Policy
	}
	var kinds []kind
	names := map[kind][]string{}
	for r := range m.rulesOn(task) {
		if !r.rel.IsReaction() {
			continue
		}
		k := kind{r.rel, r.policy}
		if !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
		for _, t := range r.targets {
			names[k] = append(names[k], t.block.Name)
		}
	}
	var parts []string
	for _, k := range kinds {
		parts = append(parts, when(k.rel, k.policy, names[k]))
	}
	return strings.Join(parts, " and ")
}

func when(rel Relation, policy Policy, names []string) string {
	if len(names) == 0 {
		return "not at all, as there is nothing that it reacts to"
	}
	slices.Sort(names)
	names = slices.Compact(names)
	which, several := names[0], len(names) > 1
	one := which
	if several {
		which = strings.Join(names, ", ")
		one = "one of " + which
	}
	switch {
	case rel == OnFail && policy == All && several:
		return fmt.Sprintf("if all of %s fail", which)
	case rel == OnFail:
		return fmt.Sprintf("if %s fails", one)
	case rel == OnChanges:
		return fmt.Sprintf("if %s has changed", one)
	case rel == Listen:
		return fmt.Sprintf("at the end, if %s has changed", one)
	}
	return fmt.Sprintf("if %s is to change", one)
}
