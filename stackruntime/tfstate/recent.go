// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tfstate

import (
	"bytes"
	"hash/maphash"
	"sync/atomic"
)

// recent are documents that were parsed not long ago: while a component is planned or applied, one
// state is parsed several times in different places. It is known by its whole text.
var recent [64]atomic.Pointer[Document]

var recentSeed = maphash.MakeSeed()

// mostRecent is the largest text that is kept: one more parsing of a larger one costs less than its
// memory.
const mostRecent = 64 << 10

func recentPlace(text []byte) *atomic.Pointer[Document] {
	return &recent[maphash.Bytes(recentSeed, text)%uint64(len(recent))]
}

// parsedBefore returns the document of a text if it is one of the recent ones, else nil.
func parsedBefore(text []byte) *Document {
	if len(text) > mostRecent {
		return nil
	}
	if d := recentPlace(text).Load(); d != nil && bytes.Equal(d.src, text) {
		return d
	}
	return nil
}

// keepRecent keeps a document that shares no memory with the text that its caller has.
func keepRecent(d *Document) {
	if len(d.src) <= mostRecent {
		recentPlace(d.src).Store(d)
	}
}
