// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package binary plans and applies component instances with the terraform or tofu binary.
//
// There is one process for a plan and one for an apply. Only if the number of instances of
// something is not known yet, a second one plans the blocks that don't depend on it; of a destroy
// plan, a second one refreshes and a third one plans. Everything else that a component needs is
// done without the binary: the module is read from its source, init's work is shared by all
// components, planned outputs are read from the plan file and final ones from the state.
//
// The module of a component is the root module of a working copy (package workcopy), so that state
// and addresses are those of plain terraform.
//
// # Directories
//
// All files are below the working directory given to [New]:
//
//	engine.json     the version that the binary printed
//	init/           the directory in which providers were installed, for all components (package prepare)
//	schemas/        schemas of providers (package schemacache), unless Options.SchemaDir is another place
//	valid/HASH      a module with this content is valid
//	data/HASH/      the files that init would have left behind for one module
//	written/NAME/   files that the module of one component instance has written below its directory
//	runs/NAME/      the run of one component instance (package rundir); removed when it succeeded
//
// All of them may hold secrets, and only their owner can read them. The rules for directories of
// runs are those of package rundir.
package binary
