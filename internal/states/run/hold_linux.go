// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package run

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// openFiles is where the system has a link to each open file of this process.
const openFiles = "/proc/self/fd"

// canHold reports whether it has: not in each container.
var canHold = sync.OnceValue(func() bool {
	_, err := os.Stat(openFiles)
	return err == nil
})

// hold returns another path of a directory, which leads there until release, whatever somebody puts
// in the place of it or of those above it. Dir must not have links in it: one that has come there
// is an error.
func hold(dir string) (held string, release func(), err error) {
	if !canHold() {
		return dir, func() {}, nil
	}
	fd, err := openInside(unix.AT_FDCWD, "/")
	for name := range strings.SplitSeq(strings.Trim(filepath.Clean(dir), "/"), "/") {
		if name == "" || err != nil {
			continue
		}
		outer := fd
		fd, err = openInside(outer, name)
		_ = unix.Close(outer) //nolint:errcheck // nothing was written
	}
	if err != nil {
		return "", nil, &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	return filepath.Join(openFiles, strconv.Itoa(fd)), func() { _ = unix.Close(fd) }, nil //nolint:errcheck // as above
}

// openInside opens a directory in another one, only to have it: that takes no right to read it.
func openInside(outer int, name string) (int, error) {
	for {
		fd, err := unix.Openat(outer, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}
