// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package live draws on a terminal, where the lines of what is done scroll away above a display of
// what is running.
//
// A [Display] keeps the bottom of the terminal; what it shows there is made anew for each frame,
// usually by a [Table]. The terminal is only written to: standard input is left alone, except that
// the display can be suspended while somebody is asked something.
package live
