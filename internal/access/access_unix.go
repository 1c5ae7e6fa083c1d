// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package access

import "golang.org/x/sys/unix"

// Writable reports whether this process may write to a file, or make files in a directory. A
// missing one is not writable.
func Writable(path string) bool {
	return unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS) == nil
}

// Readable reports whether this process may read a file.
func Readable(path string) bool {
	return unix.Faccessat(unix.AT_FDCWD, path, unix.R_OK, unix.AT_EACCESS) == nil
}
