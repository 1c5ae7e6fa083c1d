// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// TryLock locks the file until it is closed, or this program ends. It reports false if
// somebody else has it locked.
func TryLock(file *os.File) (bool, error) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, &windows.Overlapped{})
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION), errors.Is(err, windows.ERROR_IO_PENDING):
		return false, nil
	default:
		return false, &os.PathError{Op: "lock", Path: file.Name(), Err: err}
	}
}
