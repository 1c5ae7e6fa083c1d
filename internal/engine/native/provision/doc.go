// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package provision runs provisioners: commands on this machine and on others, and copies of files
// to others.
//
// The output of a command is passed on line by line. If any of its arguments is sensitive or
// ephemeral, nothing of it is shown, not even the command in the message of its failure; with the
// argument quiet, the command is not shown. Arguments of connections do not hide the work on the
// machine: they are not shown themselves where they are sensitive or ephemeral.
package provision
