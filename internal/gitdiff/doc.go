// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package gitdiff finds out with git what has changed, as a [Diff], and what that means for
// [Units]: directories that use modules, and watch files. It knows no format; the packages of
// formats map what they have to units.
//
// Rules:
//
//	G1. What is compared is the commit where the work left the base, and the files as they are now:
//	    what is not committed and what git does not know yet count, what git ignores does not.
//	G2. Git is run, never imitated, and never writes: no lock is taken, and of what a repository
//	    configures, no monitors of files and no programs that show differences are run.
//	G3. The repository is that of the directory. GIT_DIR and the like, which git sets for its hooks,
//	    do not choose another one.
package gitdiff
