// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terrateam

import (
	"github.com/cairnstacks/cairn/internal/fleet"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/tagquery"
)

// chosen returns the filter of a request, for [ChangeOptions].
//
// Errors: names that no dirspace has.
func (l *Layout) chosen(r fleet.Request) (func(dirspace int) bool, error) {
	only := l.Only(Filter{Below: r.Within(), TagFilter: r.TagFilter, Query: r.Matches(l.subjects())})
	names := make([]string, len(l.Dirspaces))
	for d := range l.Dirspaces {
		names[d] = l.shown(d, r.Shown)
	}
	named, err := r.Named(names)
	if err != nil || named == nil {
		return only, err
	}
	return func(d int) bool { return named[names[d]] && only(d) }, nil
}

// shown returns the name of a dirspace for users.
func (l *Layout) shown(dirspace int, dir func(string) string) string {
	in := l.Dirspaces[dirspace]
	name := dir(in.Dir)
	if in.Workspace != rollout.DefaultWorkspace {
		name += " (" + in.Workspace + ")"
	}
	return name
}

// along returns the additions to a change by the graph of everything, except those that tags
// forbid.
func (l *Layout) along(r fleet.Request, change *Change) map[int]fleet.Added {
	if !r.Along.Any() {
		return nil
	}
	selected := map[int]bool{}
	for d, is := range change.inChange {
		selected[d] = is
	}
	graph := l.Change(l.All(""), ChangeOptions{}).graph
	added := r.Along.Add(fleet.Walk{
		Graph: graph.Graph,
		Unit: func(n int) int {
			if graph.Node(n).Anchor {
				return fleet.NoUnit
			}
			return graph.work[n].Dirspace
		},
		Name: func(d int) string { return l.shown(d, r.Shown) },
	}, selected)
	without := tagquery.TagFilter{NoTags: r.NoTags}
	for d := range added {
		if !without.Passes(l.Tags(d)) {
			delete(added, d)
		}
	}
	return added
}

// because gives additions the reasons for which they were added: a change may have reached them
// otherwise before.
func (c *Change) because(added map[int]fleet.Added) {
	for _, stack := range c.Stacks {
		for i := range stack.Dirspaces {
			if why, ok := added[stack.Dirspaces[i].Dirspace]; ok {
				stack.Dirspaces[i].Reason, stack.Dirspaces[i].Place = why.Text, why.Place
			}
		}
	}
}
