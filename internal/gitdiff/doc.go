// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package gitdiff finds out with git what has changed, as a [Diff], and which stacks of a tree that concerns, and why. The packages of other
// formats find out the latter for their own stacks.
//
// A stack of a tree has changed if, since the base, something has changed
//
//   - in its directory, unless it is in that of a stack further inside,
//   - in a local module or embedded stack that it uses, at any depth, also by the source in its terragrunt.hcl, or
//   - of the files that it watches, or that its terragrunt.hcl includes.
//
// A file .tmtriggers/STACK/FILE that is new or has changed says that a stack counts as changed all the same, or that it does not.
//
// Rules:
//
//	G1. What is compared is the commit where the work left the base, and the files as they are now: what is not
//	    committed and what git does not know yet count, what git ignores does not.
//	G2. Git is run, never imitated, and never writes: no lock is taken, and of what a repository configures, no monitors of
//	    files and no programs that show differences are run.
//	G3. The repository is that of the directory. GIT_DIR and the like, which git sets for its hooks, do not choose another one.
package gitdiff
