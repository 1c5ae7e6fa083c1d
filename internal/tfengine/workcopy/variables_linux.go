// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package workcopy

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// inMemory returns a file that has no name and is never on a disk, or nil where that can't be had. Each time the
// path to its descriptor is opened, it is read from its start.
func inMemory(content []byte) *os.File {
	if _, err := os.Stat("/dev/fd"); err != nil {
		return nil // not mounted
	}
	descriptor, err := unix.MemfdCreate("variables", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil
	}
	file := os.NewFile(uintptr(descriptor), "variables")
	if _, err := file.Write(content); err == nil {
		if _, err = file.Seek(0, io.SeekStart); err == nil {
			// The engine's children inherit it, too, and are not to change it.
			_, err = unix.FcntlInt(file.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SEAL|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_WRITE)
		}
		if err == nil {
			return file
		}
	}
	_ = file.Close() //nolint:errcheck // not used
	return nil
}
