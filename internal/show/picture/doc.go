// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package picture draws graphs in columns as SVG.
//
// A [Picture] describes the contents of a drawing; the places are those of package layout. The
// drawing is for light and dark backgrounds, and needs no other file and no script. Pointing at
// something shows its tooltip. Texts are the caller's, in which characters that steer a terminal or
// turn the direction of writing are made visible.
package picture
