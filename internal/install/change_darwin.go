// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package install

import (
	"fmt"
	"io/fs"
	"syscall"
)

// changeOf names a file and when it was changed last, which programs cannot choose as they can the
// time of its content.
func changeOf(info fs.FileInfo) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprint(stat.Ino, ".", stat.Ctimespec.Sec, ".", stat.Ctimespec.Nsec)
}
