// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package telemetry sends traces and metrics by OpenTelemetry, as the standard environment
// variables ask for it.
//
// The spans of a command are a tree: the command, units of a run over many stacks, operations on a
// stack, pieces of work on component instances, module instances, calls of providers. Each finds
// its parent in the context, and so does this package: no other way leads here, and no code that
// makes a span knows whether anybody receives it.
//
// Rules:
//
//   - T1. Where nothing is asked for, there is no [Telemetry], and a span costs one look into the
//     context.
//   - T2. Attributes are names, addresses, kinds and numbers, never values, and no text of a
//     provider, which may quote them.
//   - T3. A span ends once. What ends after its parent, such as work that was broken off, still has
//     its place in the tree.
//   - T4. Sending never changes how a command ends. If it fails, [Telemetry.Close] says so, after
//     at most five seconds.
package telemetry
