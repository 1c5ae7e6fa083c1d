// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package gated

import (
	"slices"

	"github.com/cairnstacks/cairn/internal/order/tagquery"
)

// tagIndex finds dirspaces by queries without asking about each.
type tagIndex struct {
	subjects []tagquery.Subject
	byTag    map[string][]int
}

// newTagIndex makes an index of all tags of the dirspaces. Without a function for them, it is of those that are known
// before stacks are.
func newTagIndex(dirspaces []*Dirspace, tags func(dirspace int) []string) *tagIndex {
	index := &tagIndex{byTag: map[string][]int{}}
	for i, d := range dirspaces {
		all := append(slices.Clone(d.Tags), "dir:"+d.Dir, "workspace:"+d.Workspace)
		if tags != nil {
			all = tags(i)
		}
		subject := tagquery.Subject{Dir: d.Dir, Tags: map[string]bool{}}
		for _, tag := range all {
			if !subject.Tags[tag] {
				subject.Tags[tag] = true
				index.byTag[tag] = append(index.byTag[tag], i)
			}
		}
		index.subjects = append(index.subjects, subject)
	}
	return index
}

// matches returns the dirspaces that a query matches, in their order.
func (x *tagIndex) matches(q tagquery.Query) []int {
	var found []int
	tags, ok := q.AnyOf()
	if !ok {
		for i, subject := range x.subjects {
			if q.Match(subject) {
				found = append(found, i)
			}
		}
		return found
	}
	for _, tag := range tags {
		for _, i := range x.byTag[tag] {
			if q.Match(x.subjects[i]) {
				found = append(found, i)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
