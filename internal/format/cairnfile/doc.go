// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package cairnfile reads cairn.workspace.hcl, which lists the stacks and tasks of a repository,
// and the order to run them in.
//
// The file has blocks of three types: a stack is a directory with a configuration, and the settings
// to run it with; a task is a command; a group holds stacks, tasks and other groups. Names are
// unique over all blocks, so that rules can refer to them without their types. The document
// docs/order-workspace.md describes the format for users.
//
// The model:
//
//   - A [Workspace] is the file as written, checked as far as one file allows.
//   - Its [Model] has all references resolved: of each leaf (a stack or a task) the groups that
//     hold it, and of each rule the leaves and groups that it means.
//   - [Model.Graph] makes a graph of it for package order, with one node for each leaf, or with its
//     plan and its apply as nodes of their own. [Graph.Decide] and [Graph.Limits] go with it when
//     it is run.
//   - [Model.Changes] finds the leaves that a diff of git modifies, and [Model.Select] the
//     selection of a filter, with the leaves that go along.
//
// Rules:
//
//	W1. A rule of a group holds for each of its members at any depth, but never between members of
//	    the group.
//	W2. A reference by name means one block. All others (path, tag, glob, regular expression) mean
//	    leaves, and never the leaf that refers, nor a member of the group that does.
//	W3. Nothing is evaluated but inputs, when a stack is planned: no variables, no functions. The
//	    references of inputs are written out, and known before.
//	W4. A stack with several deployments, of which its block names none, is a group with a stack for
//	    each. So its attributes and rules hold for each of them, and its name means all.
package cairnfile
