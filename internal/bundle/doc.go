// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package bundle keeps the source packages of a stack: the git repositories, archives and packages
// of registries that its sources, and those of its modules, name.
//
// A [Fetcher] gets packages into a directory next to the stack and records its choices in a lock
// file. A [Bundle] finds sources in that directory and never uses the network. Both are resolvers
// for the packages that load stacks and modules.
//
// Rules:
//
//	B1. The lock file decides. A package in the directory that differs from the lock file is not
//	    used; one that is fetched again must have the locked content, or that is an error.
//	B2. Of the versions in the lock file that satisfy a constraint, the newest is used; the
//	    registry is asked only if there is none. So the choice doesn't depend on the order in
//	    which sources are found.
//	B3. A package's directory never changes: other content has another name. A command that is
//	    running keeps its files while another one upgrades.
//	B4. Nothing in a package leads out of it: no name, no link.
//	B5. Locations that a registry gives can have secrets in them. They are not stored and not shown.
//	B6. A package of another stack is used only where the same would be fetched, and as a copy.
package bundle
