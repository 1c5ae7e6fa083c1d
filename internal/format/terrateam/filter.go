// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terrateam

import (
	"strings"

	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/tagquery"
)

// Filter narrows a change. The zero value lets everything pass.
type Filter struct {
	Below string // path of a directory, with a slash at its beginning; "" stands for the root
	tagquery.TagFilter
	Query func(dirspace int) bool // nil: any
}

// Only returns a filter as a function, for [ChangeOptions].
func (l *Layout) Only(f Filter) func(dirspace int) bool {
	below := strings.TrimPrefix(f.Below, "/")
	return func(d int) bool {
		dir, tags := l.Dirspaces[d].Dir, l.Tags(d)
		return (below == "" || dir == below || strings.HasPrefix(dir, below+"/")) &&
			f.TagFilter.Passes(tags) && (f.Query == nil || f.Query(d))
	}
}

// subjects returns the dirspaces as queries of users see them.
func (l *Layout) subjects() []tagquery.Subject {
	subjects := make([]tagquery.Subject, len(l.Dirspaces))
	for d := range l.Dirspaces {
		subjects[d] = l.subject(d, append(l.Tags(d), "kind:"+string(l.kind(d))))
	}
	return subjects
}

// kind returns the kind of a dirspace. The queries of the configuration do not know it: there
// "kind:stack" is a tag like others.
func (l *Layout) kind(dirspace int) rollout.Kind {
	if l.Dirspaces[dirspace].IsStack {
		return rollout.Components
	}
	return rollout.Root
}
