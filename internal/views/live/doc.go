// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package live draws on a terminal, where the lines of finished work scroll away above a display of
// running work.
//
// A [Display] keeps the bottom of the terminal; its lines there are made anew for each frame,
// usually by a [Table]. The terminal is only written to: standard input is left alone, except that
// the display can be suspended while somebody is asked something.
package live
