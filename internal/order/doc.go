// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package order puts work in order. It knows nothing of files and processes: readers of formats
// make a [Graph] of the work, and commands print the order or [Run] it.
//
// A node is something to be done, or an anchor: a point where others meet, such as the end of a
// group, without work of its own. An edge says that one node must be finished before another
// starts. Nodes that no edge orders are ordered by weight, then by ties, then by name, so that
// there is exactly one order on all machines.
//
// A selection is a part of the nodes. A node that is not selected is not done, but passes on its
// predecessors: if a is before m and m before b, then a is before b without m, too (line O-03 of
// the list of behaviours). Nothing is ever counted by paths, so that each operation takes time
// linear in nodes and edges, or nearly so.
package order
