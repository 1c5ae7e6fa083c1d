// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build !unix

package statestore

import "os"

// writable reports whether a file or directory lacks the read-only attribute.
func writable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().Perm()&0o200 != 0
}

// readable reports true: whether it was right shows when the file is opened.
func readable(string) bool { return true }
