// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package proto has the protocol buffer definitions of the formats that cairn
// stores and, below it, the Go code generated from them.
//
// Rules:
//
//   - P1. A field is never renumbered and its number never reused; a field that is no longer
//     written is reserved.
//   - P2. Stored messages have the version of their format, in a field that every later version can
//     read.
package proto

//go:generate go -C internal/protogen run . ../..
