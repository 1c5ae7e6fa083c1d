// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package stackeval is the evaluator of the stacks language.
//
// A [Main] is the root of a tree of objects which stand for the parts of a configuration. For each
// block there is one object of a type ending in Config: the block as written. For each stack
// instance that has the block there is one object of the type without a suffix, and for each result
// of its for_each one of a type ending in Instance. Every object is made once per Main, and so per
// phase, by its parent, which keeps it.
//
// Nothing is computed before it is asked for. Objects ask each other by method calls, which block
// on promises (package promising), so a usable order comes about by itself and cycles are errors.
// The references are also known beforehand (package reference): for reports of cycles that do not
// depend on who asked first, and for the components that each object requires.
//
// The objects of a block are in the file with its name. Their common aspects are in files named for
// these: how they are validated, planned and applied (walk.go, planning.go, applying.go), looked up
// (lookup.go), and expanded (expansion.go), and their requirements (required_components.go).
// Decisions that need no object are in the packages below this one: they know declarations, values,
// requests and results.
//
// Rules:
//
//   - V1. A method called Check… returns diagnostics, and the diagnostics of an object reach the
//     user through one caller: the walk, or a step before or after it. Others ask only whether
//     there were errors. The method without the prefix returns the same value, a placeholder if
//     there were errors.
//   - V2. An object reports its own mistakes only. A value from another may be a placeholder
//     (package expr), which never leads to another diagnostic.
//   - V3. Static walks visit the Config objects and see the facts that hold for every instance.
//     Dynamic walks visit the others.
//   - V4. No lock is held, and no work of the engine is under way, while waiting for a promise.
//   - V5. Results do not depend on which task ran first.
//
// The behaviour of each object is described in docs/language.md, whose sections comments cite.
package stackeval
