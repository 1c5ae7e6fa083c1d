// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package changeexec runs changes that other parts of an operation wait for:
// each change is a task, its result a promise. All changes are registered
// before the first begins, so that nobody asks for one too early.
//
// The order in which changes happen is not decided here: a change waits for the results of others
// by itself, and the promises see to it that a cycle is an error instead of a deadlock. A change
// that panics or ends its goroutine fails its promise, so that nobody waits for it forever. How
// many changes run at the same time is for their functions to limit, by waiting only for events
// that happen whatever becomes of the promises (rule P4 of package promising).
//
// Everything in the project that has to be done in the order of dependencies is
// such changes: the applies of the component instances of one stack, and the work
// on many stacks.
package changeexec
