// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package stackruntime runs stack configurations: it validates them, plans the
// whole stack at once, carries out plans, and evaluates expressions against a
// state.
//
// A caller brings a configuration (package stackconfig), an engine for the
// modules of the components (package engine), and for most operations a prior
// state (package stackstate). It gets back a plan (package stackplan) or, while
// applying, a stream of changes of the state. Nothing here starts a process,
// opens a database or writes a file.
//
// Problems are reported as diagnostics, sorted by place, each problem once. When the context of an
// operation ends, work that has begun is finished or interrupted gently by the engine, finished
// changes are still reported, and an error diagnostic says that the operation is not complete.
package stackruntime
