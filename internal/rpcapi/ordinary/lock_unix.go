// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package ordinary

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// tryReadLock locks a file against writers, until it is closed, and reports false if one of them
// has it locked. It is the lock of the engine: it belongs to processes, not to open files as those
// of package filelock do.
func tryReadLock(file *os.File) (bool, error) {
	err := syscall.FcntlFlock(file.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: syscall.F_RDLCK, Whence: io.SeekStart})
	if errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EAGAIN) {
		return false, nil
	}
	return err == nil, err
}
