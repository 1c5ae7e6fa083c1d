// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package claims decides which block of the configuration gets which of the instances that there
// are: those of the prior state or, while applying, of the plan (docs/language.md, section 4.4).
//
// [Existing] are these instances. A [Target] is the selection of them that a removed block names.
// [Assign] decides among the blocks, and a [Move] is the moved block to suggest for an instance
// that none of them claims.
package claims
