// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package picture draws graphs in columns as SVG.
//
// A [Picture] is what is to be drawn; the places are those of package layout. The drawing is for
// light and dark backgrounds, and needs no other file and no script. Pointing at something shows
// its tooltip. Texts are those that the caller gives, with what steers a terminal or turns the
// direction of writing made visible.
package picture
