// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package resource works on the objects of resource instances through their providers: it reads
// them, plans changes and applies these. It checks all answers of providers.
//
// Which instances there are, and the order of the operations on them, is decided by the phases:
// packages planning and applying.
//
// The steps, and their order, are those of terraform 1.11, which providers rely on.
package resource
