// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package compile

import (
	"slices"
	"strings"
)

// The kinds of requisites, by the names of their arguments.
const (
	Require      = "require"
	RequireAny   = "require_any"
	Watch        = "watch"
	WatchAny     = "watch_any"
	Prereq       = "prereq"
	OnFail       = "onfail"
	OnFailAny    = "onfail_any"
	OnFailAll    = "onfail_all"
	OnChanges    = "onchanges"
	OnChangesAny = "onchanges_any"
	Listen       = "listen"
	Use          = "use"
)

// kinds are all kinds in the order in which they are checked (line C-31).
var kinds = []string{
	Require, RequireAny, Watch, WatchAny, Prereq, OnFail, OnFailAny, OnFailAll, OnChanges, OnChangesAny, Listen, Use,
}

// orders reports whether requisites of a kind are done before the call that has them. The others
// say something about its arguments, or about the end of the run.
func orders(kind string) bool { return kind != Listen && kind != Use }

// plainKind returns the kind that an argument declares, and whether it does so for the others
// ("require_in").
func plainKind(arg string) (kind string, in, ok bool) {
	kind, in = strings.CutSuffix(arg, "_in")
	for _, k := range kinds {
		if k == kind {
			return kind, in, true
		}
	}
	return "", false, false
}

func isRequisite(arg string) bool {
	_, _, ok := plainKind(arg)
	return ok
}

// Kinds returns the names of all kinds of requisites in the order in which they are checked.
func Kinds() []string { return slices.Clone(kinds) }
