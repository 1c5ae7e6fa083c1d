// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package compile orders and runs the states of SLS files.
//
// An SLS file names things, each by an id, and says which functions of which modules are to be called for them. [Load]
// reads a tree of such files as [High] data: ids with their modules in the order of loading. [Compile] makes [Low] data
// of it: one [Call] for each function and name, sorted by their order numbers, with all requisites resolved.
// [Low.Run] takes the calls in that order, each after its requisites, and decides by what became of these whether it
// is made.
//
// Files are YAML and nothing else: templates are not rendered. A file that needs it is refused.
//
// What a function does is not known here: see [Functions], and package run for those that cairn has.
package compile
