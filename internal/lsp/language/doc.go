// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package language answers the questions of an editor about files of the Terraform Stacks language,
// and about cairn.workspace.hcl: the completions at a place, the meaning of a name, its declaration
// and uses, its renaming.
//
// A [View] is the knowledge about a stack: its files as they are in the editor, and the modules of
// its components. [New] makes a [Stack] of it, whose methods are the questions. Places are offsets
// in a file, results are plain data with ranges.
//
// Rules:
//
//	L1. Answers depend on the view only: nothing is read, started or changed.
//	L2. There is an answer at any place of any text, in time linear in the size of the stack. Nothing
//	    is assumed to parse: package syntax returns as much as there is.
//	L3. The uses of a name are found once ([Stack.occurrences]). Definition, references, hover and
//	    rename share them, so that they agree.
//	L4. Documentation of blocks and arguments is that of package schema.
package language
