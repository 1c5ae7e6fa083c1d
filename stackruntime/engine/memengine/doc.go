// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package memengine is an engine that needs no process, no provider and no
// disk: for tests, benchmarks and programs that try out the stacks runtime.
//
// It is a test double, not a second engine: it treats a plan, a state and an input as terraform
// does with one resource type, so that the stacks runtime can be tested on it at any scale and in
// any order. It is not to grow: files, other resource types, data sources and the rest of the
// modules language are for an engine that speaks to providers.
//
// It knows one resource type, terraform_data, and treats it as terraform does, down to the state
// documents it writes. A module is a [Module] made of Go functions, in the place of a directory.
//
// Rules:
//
//   - M1. Its plans depend on the request only. Identifiers of new resources are derived from their
//     addresses, so runs can be compared.
//   - M2. The resources of one component are settled one after the other, in the order in which the
//     module has them. Components run concurrently.
//   - M3. With a provider configuration of which nothing is known, the whole component is deferred.
package memengine
