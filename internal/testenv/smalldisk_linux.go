// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testenv

import (
	"fmt"
	"testing"

	"golang.org/x/sys/unix"
)

// SmallDisk mounts a file system of some bytes at an existing directory until the test ends, or
// gives the one that it has mounted there before that size. It needs root.
func SmallDisk(t testing.TB, dir string, size int) {
	t.Helper()
	Root(t)
	options := fmt.Sprintf("size=%d,mode=0700", size)
	if unix.Mount("", dir, "", unix.MS_REMOUNT, options) == nil {
		return
	}
	if err := unix.Mount("cairn-test", dir, "tmpfs", 0, options); err != nil {
		Missing(t, "needs the right to mount a small file system: "+err.Error())
		return
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}
