// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package cmdline is a command line: a tree of commands with their options and arguments, their
// help texts, and scripts with which shells complete them. It reads arguments and runs nothing.
//
// A [Program] is a tree of commands. [Program.Parse] finds the command that arguments name, with
// its own arguments: an [Invocation]. Commands put the values of their options into a session, a
// type of the program's own, which it makes for each parse.
//
// Rules:
//
//	C1. Options are written -x=v, --x=v or -x v, as for terraform, and may stand after positional
//	    arguments, up to "--".
//	C2. Options that all commands have may stand before the name of a command; all others stand after
//	    it.
//	C3. A mistake is named as it was typed, with a suggestion.
package cmdline
