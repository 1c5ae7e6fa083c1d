// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package durable

import (
	"errors"
	"os"
	"syscall"
)

// syncData writes the content of a file to the disk, without metadata that reading does not need,
// such as the time of the change.
func syncData(file *os.File) error {
	conn, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var syncErr error
	err = conn.Control(func(fd uintptr) {
		for {
			if syncErr = syscall.Fdatasync(int(fd)); !errors.Is(syncErr, syscall.EINTR) {
				return
			}
		}
	})
	if errors.Is(syncErr, syscall.EINVAL) { // the file system has no such thing
		syncErr = nil
	}
	return errors.Join(err, os.NewSyscallError("fdatasync", syncErr))
}
