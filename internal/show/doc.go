// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package show shows orders and runs.
//
//   - A [View] is an order as it is shown: as text, JSON, DOT, Mermaid or SVG.
//   - An [Output] collects what nodes print while they run, and a [Board] shows on a terminal which
//     ones do.
//   - A [Summary] is what became of a run: as text, JSON or for JUnit.
//
// Whatever is shown to people has control characters of users' files made harmless; JSON has them
// as they are.
package show
