// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package gitdiff finds changes with git, as a [Diff], and their effects on [Units]: directories
// that use modules, and watch files. It knows no format; the packages of formats map their
// declarations to units.
//
// Rules:
//
//	G1. The sides of a comparison are the commit where the work left the base, and the files as they
//	    are now: uncommitted changes and files that git does not know yet count, ignored files do
//	    not.
//	G2. Git is run, never imitated, and never writes: no lock is taken, and of the configuration of a
//	    repository, no monitors of files and no programs that show differences are run.
//	G3. The repository is that of the directory. GIT_DIR and the like, which git sets for its hooks,
//	    do not choose another one.
package gitdiff
