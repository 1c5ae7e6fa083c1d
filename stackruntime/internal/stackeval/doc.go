// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package stackeval is the evaluator of the stacks language.
//
// A [Main] is the root of a tree of objects which stand for the parts of a
// configuration. For each block there is one object of a type ending in Config:
// what was written. For each stack instance that has the block there is one
// object of the type without a suffix, and for each result of its for_each one of
// a type ending in Instance. Every object is made once per Main, and so per phase,
// by its parent, which keeps it.
//
// Nothing is computed before it is asked for. Objects ask each other by method
// calls, which block on promises (package promising), so a usable order comes
// about by itself and cycles are errors. What refers to what is also known
// beforehand (package reference): for reports of cycles that do not depend on who
// asked first, and for the components that each object requires.
//
// The objects of a block are in the file with its name. What they have in common is in files named
// for that: how they are validated, planned and applied (walk.go, planning.go, applying.go), looked
// up (lookup.go), and expanded (expansion.go), and what they require (required_components.go). What
// can be decided without an object is in the packages below this one: they know declarations,
// values, requests and results.
//
// Rules:
//
//   - V1. A method called Check… returns diagnostics, and the diagnostics of an
//     object reach the user through one caller: the walk, or what comes before or
//     after it. Others ask only whether there were errors. The method without the
//     prefix returns the same value, a placeholder if there were errors.
//   - V2. An object reports its own mistakes only. What it gets from others may be
//     a placeholder (package expr), which never leads to another diagnostic.
//   - V3. Static walks visit the Config objects and see what is true of every
//     instance. Dynamic walks visit the others.
//   - V4. No lock is held, and no work of the engine is under way, while waiting for a promise.
//   - V5. Results do not depend on which task ran first.
//
// What each object does is said in docs/language.md, whose sections comments cite.
package stackeval
