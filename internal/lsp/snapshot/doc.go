// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package snapshot has stacks as an editor shows them: files on the disk, with the texts of those
// that are open in their place.
//
// A [Workspace] knows the open files. [Workspace.Stack] returns a [Snapshot] of the stack in a
// directory: its files and those of the stacks that it embeds, parsed; the configuration; the
// modules of its components, described from their source. No process is started for any of it: only
// [Workspace.Ask] starts some.
//
// Rules:
//
//  1. A snapshot does not change, nor may its results be changed. An edit leads to a new one. Any
//     number of goroutines may use one.
//  2. Unchanged parts of a snapshot are in the next one: an edit inside a block parses that block,
//     and validating leaves out components for which nothing has changed. Modules are read when
//     they are first asked for, and again when their files have changed.
//  3. A file with syntax errors has the tree of its understandable parts. [Snapshot.Declared] also
//     has the declarations of its last correct version.
//  4. Paths are absolute, and without symbolic links in the directories. [Workspace.Path] makes
//     them so.
//
// It does not watch files: a caller that learns of changes reports them ([Workspace.Changed]).
package snapshot
