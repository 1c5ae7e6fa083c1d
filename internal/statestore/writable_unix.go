// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package statestore

import "golang.org/x/sys/unix"

// writable reports whether this process may write to a file or into a
// directory. It opens nothing: closing any descriptor of a database file drops
// the file locks that SQLite holds in this process.
func writable(path string) bool {
	return unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS) == nil
}

// readable reports whether this process may read a file. It opens nothing
// either.
func readable(path string) bool {
	return unix.Faccessat(unix.AT_FDCWD, path, unix.R_OK, unix.AT_EACCESS) == nil
}
