// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statestore

// Options say how a store is opened.
type Options struct {
	// Away is called when a server that was reached is away and waited for, once until it is back. It
	// may be nil, and is called from any goroutine.
	Away func(Outage)

	// Traceless is for reading alone, and leaves no trace on the disk, not even the log that SQLite
	// has while it reads. That works while nobody writes: otherwise the problem is [ProblemBusy].
	Traceless bool
}
