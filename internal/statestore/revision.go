// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statestore

import "bytes"

// Revision is a value that a record has had from a serial on.
type Revision struct {
	Serial int64
	Value  []byte // nil: from this serial on there is no such record

	// Earlier says that the value may be older: the serials before this one were dropped.
	Earlier bool
}

// Revisions are those of one record, oldest first. Each differs from the one before.
type Revisions []Revision

// Add adds the value that a record has at the end of a serial, which is none before those added
// already. The last one of a serial counts.
func (r *Revisions) Add(revision Revision) {
	all := *r
	if n := len(all); n > 0 && all[n-1].Serial == revision.Serial {
		revision.Earlier = revision.Earlier || all[n-1].Earlier
		all = all[:n-1]
	}
	if n := len(all); n == 0 && revision.Value == nil || n > 0 && sameValue(all[n-1].Value, revision.Value) {
		*r = all
		return
	}
	*r = append(all, revision)
}

// sameValue reports whether two values are the same, where none differs from an empty one.
func sameValue(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }
