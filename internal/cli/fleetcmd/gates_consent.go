// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fleetcmd

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/fleet/rollout"
)

// consents are answers that are for more than the plan that was asked for.
type consents struct {
	asked  map[int]bool            // units that were asked for
	groups map[string]consentGiven // by the name of a group or stack
}

// consentGiven is consent to a whole group, except for its units that have other requirements that
// nobody checks than the unit asked for.
type consentGiven struct{ requirements []string }

// groupsOf returns the groups that a unit is a part of: groups of a workspace file, or a stack of
// several directories.
func groupsOf(u *rollout.Unit) []string {
	if u.Stack != "" {
		return append([]string{u.Stack}, u.Groups...)
	}
	return u.Groups
}

// agreed returns the group of a unit that was agreed to as a whole, "" if none was.
func (g *gates) agreed(u *rollout.Unit) string {
	for _, group := range groupsOf(u) {
		if given, ok := g.consents.groups[group]; ok && slices.Equal(given.requirements, u.Requirements) {
			return group
		}
	}
	return ""
}

// groupsToAskFor returns the groups of a unit that have others that are still to be asked for, the
// one with the fewest of these first.
func (g *gates) groupsToAskFor(unit int) []string {
	if g.asked == nil {
		g.asked = map[int]bool{}
	}
	g.asked[unit] = true
	others := map[string]int{}
	for _, other := range g.work.Chosen() {
		u := &g.work.Units[other]
		if g.asked[other] || u.Task != nil || !g.asksFor(other) || !slices.Equal(u.Requirements, g.work.Units[unit].Requirements) {
			continue
		}
		for _, group := range groupsOf(u) {
			others[group]++
		}
	}
	own := groupsOf(&g.work.Units[unit])
	maps.DeleteFunc(others, func(group string, _ int) bool { return !slices.Contains(own, group) })
	return slices.SortedFunc(maps.Keys(others), func(a, b string) int { return cmp.Or(cmp.Compare(others[a], others[b]), cmp.Compare(a, b)) })
}

// accepts reports whether an answer is consent, and remembers consent to a group.
func (g *gates) accepts(answer string, u *rollout.Unit, groups []string) bool {
	answer = strings.TrimSpace(answer)
	if answer == "yes" {
		return true
	}
	group, ok := strings.CutPrefix(answer, "yes ")
	if !ok || !slices.Contains(groups, strings.TrimSpace(group)) {
		return false
	}
	if g.consents.groups == nil {
		g.consents.groups = map[string]consentGiven{}
	}
	g.consents.groups[strings.TrimSpace(group)] = consentGiven{u.Requirements}
	return true
}
