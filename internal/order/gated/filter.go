// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package gated

import (
	"strings"

	"github.com/cairnstacks/cairn/internal/order/stackdir"
	"github.com/cairnstacks/cairn/internal/order/tagquery"
)

// Filter narrows a change. The zero value lets everything pass.
type Filter struct {
	Below string // path of a directory, with a slash at its beginning; "" stands for the root
	stackdir.TagFilter
	Query tagquery.Query
}

// Only returns what [ChangeOptions] need of a filter.
func (l *Layout) Only(f Filter) func(dirspace int) bool {
	below := strings.TrimPrefix(f.Below, "/")
	return func(d int) bool {
		dir := l.Dirspaces[d].Dir
		return (below == "" || dir == below || strings.HasPrefix(dir, below+"/")) &&
			l.Matches(f.Query, d) && f.TagFilter.Passes(l.Tags(d))
	}
}
