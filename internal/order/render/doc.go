// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package render shows orders: as text, JSON, DOT and Mermaid, and the output of what is run in them.
package render
