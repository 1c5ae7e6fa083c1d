// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package session is one run of a command: its streams and shared options, the stack that it has
// opened, and how it speaks to a person or a program - notes, diagnostics with remedies, questions,
// displays on a terminal, interrupts, and its log.
//
// Only this package and the commands, which use it, read from a terminal and write to it.
package session
