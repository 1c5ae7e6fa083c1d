// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package memengine is an engine that needs no process, no provider and no
// disk: for tests, benchmarks and programs that try out the stacks runtime.
//
// It is a test double, not a second engine: it treats a plan, a state and an input as terraform
// does with one resource type, so that the stacks runtime can be tested on it at any scale and in
// any order. Its reader of .tf files is there for tests whose stacks run on both engines. It is not
// to grow: other resource types, data sources and the rest of the modules language are for an
// engine that speaks to providers.
//
// It knows one resource type, terraform_data, and treats it as terraform does,
// down to the state documents it writes. A module is either a directory with
// .tf files, which may contain variables, locals, outputs, terraform_data
// resources, check blocks and calls of local modules, or a [Module] made of Go functions.
//
// Rules:
//
//   - M1. Its plans depend on the request only. Identifiers of new resources are derived from their
//     addresses, so runs can be compared.
//   - M2. The instances of one component are settled one after the other, in an
//     order that respects their references. Components run concurrently.
//   - M3. Any further content of a module is refused with a diagnostic, never ignored.
//   - M4. Where the number of a resource's instances is not known, all of it is
//     deferred, and all resources that depend on it. With a provider configuration
//     of which nothing is known, the whole component is.
//
// It calls modules from local directories, once each, and as a whole: a cycle
// through different values of two modules is refused. It has no data sources,
// provisioners, imports or moves.
package memengine
