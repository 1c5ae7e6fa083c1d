// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package show shows orders and runs.
//
//   - A [View] is an order as it is shown: as text, JSON, DOT, Mermaid or SVG.
//   - An [Output] collects the output of running nodes, and a [Board] shows the running nodes on a
//     terminal.
//   - A [Summary] is the outcome of a run: as text, JSON or for JUnit.
//
// Whatever is shown to people has control characters of users' files made harmless; JSON has them
// as they are.
package show
