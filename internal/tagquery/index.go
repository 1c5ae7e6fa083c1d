// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tagquery

import "slices"

// Index finds the subjects that queries match, without asking about each if it can.
type Index struct {
	subjects []Subject
	byTag    map[string][]int
}

// NewIndex makes an index of subjects, which are known by their positions. The tags of each have to
// include "dir:PATH" with its directory.
func NewIndex(subjects []Subject) *Index {
	x := &Index{subjects: subjects, byTag: map[string][]int{}}
	for i, subject := range subjects {
		for tag := range subject.Tags {
			x.byTag[tag] = append(x.byTag[tag], i)
		}
	}
	return x
}

// Matches returns the sorted positions of the subjects that a query matches.
func (x *Index) Matches(q Query) []int {
	tags, ok := q.AnyOf(func(tag string) int { return len(x.byTag[tag]) })
	if !ok {
		return x.search(q)
	}
	var found []int
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

// search asks about everything.
func (x *Index) search(q Query) []int {
	var found []int
	for i, subject := range x.subjects {
		if q.Match(subject) {
			found = append(found, i)
		}
	}
	return found
}
