// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package run has the functions of states that cairn can run on this machine: for commands, files,
// packages and services of Debian and its kind, and for tests. All others are programs in a folder
// of the user, see [Host.Folder].
//
// All faults of calls that show beforehand are found by [Host.Check], so that a run with mistakes
// does not begin. In test mode functions look and do not touch; the conditions "onlyif" and
// "unless" are run in test mode, too, since they decide whether a call would be made.
package run
