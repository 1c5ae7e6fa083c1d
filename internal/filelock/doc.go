// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package filelock locks files against other programs, and against other users of the file in this
// one.
//
// A lock ends with the program that has it, however that ends: nothing has to be cleaned up after
// one that was killed. On Unix it belongs to the open file, so that a process which inherits the
// file has the lock, too.
package filelock
