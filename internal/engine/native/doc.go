// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package native is the engine that plans and applies modules of the Terraform language in this
// process: it starts providers, and no other programs.
//
// A component goes this way: package module reads its modules, deps finds their dependencies, eval
// evaluates them on promises, planning plans the change of each object (through package resource,
// which asks the providers), planned keeps the plan, applying carries it out, and journal records
// its progress. Package slots hands out the providers, whose processes all components of a session
// share, but for those that may open files of the component.
//
// Relative names lead to the directory of the component, for functions, providers and provisioners:
// a working copy as that of the binary engine, at the same place, which is made where something may
// need it.
//
// It behaves like terraform [TerraformVersion].
package native
