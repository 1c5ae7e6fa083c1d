// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package tempdir

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwn reports whether a file belongs to this user: in the directory for temporary files, anybody
// can make one of any name.
func isOwn(info fs.FileInfo) bool {
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == os.Geteuid()
}
