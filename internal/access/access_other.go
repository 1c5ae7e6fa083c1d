// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build !unix

package access

import "os"

// Writable reports whether a file or directory exists and lacks the read-only attribute.
func Writable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().Perm()&0o200 != 0
}

// Readable reports true: whether it was right shows when the file is opened.
func Readable(string) bool { return true }
