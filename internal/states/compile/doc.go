// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package compile orders the states of SLS files.
//
// An SLS file names things, each by an id, and says which functions of which modules are to be
// called for them. [Load] reads a tree of such files as [High] data: ids with their modules in the
// order of loading. [Compile] makes [Low] data of it: one [Call] for each function and name, sorted
// by their order numbers, with all requisites resolved.
//
// Files are YAML and nothing else: templates are not rendered. A file that needs it is refused.
//
// Nothing is called here: package schedule makes the calls, each after its requisites.
package compile
