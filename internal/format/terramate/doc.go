// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package terramate reads trees of stack directories that name their predecessors and successors,
// and makes a graph of them for package order.
//
// A directory is a stack, and only one, if
//
//   - a file *.tsk.hcl in it has a terrastack or a stack block, or
//   - a file *.tm or *.tm.hcl in it has a stack block, or
//   - it has files of the Terraform Stacks language and no other stack of that language in the tree
//     embeds it. Such a stack is named by its path and waits for nothing but the stacks in
//     directories above it.
//
// Names of stacks are their paths from the root of the tree, as in "/network/dns".
//
// Rules:
//
//	S1. The attributes that order depends on are written out, and each of their entries has a
//	    place. Of all other expressions, only functions are evaluated, with literal arguments and
//	    with results that depend on nothing else.
//	S2. Directories and files whose names begin with a dot are not part of the tree, nor are
//	    directories with a file .tmskip and their subdirectories. Links to directories are not
//	    followed.
//	S3. A path stands for the stack in that directory and all stacks below it, and so does a query of
//	    tags for each stack that it selects, except in "wants". Where it leads upwards, to a
//	    directory that the stack is in, it does not stand in "before" and "after" for the stack
//	    itself, stacks below it, or others that refer to the directory in the same way (line A-61 of
//	    the list of behaviours).
//	S4. A stack comes after those in the directories above it.
package terramate
