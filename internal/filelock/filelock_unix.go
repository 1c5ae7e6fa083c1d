// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// TryLock locks the file until it is closed, or this program ends. It reports false if
// somebody else has it locked.
func TryLock(file *os.File) (bool, error) { return try(file, syscall.LOCK_EX) }

// Held reports whether somebody has locked the file. It keeps nobody else from asking the same.
func Held(file *os.File) (bool, error) {
	shared, err := try(file, syscall.LOCK_SH)
	if !shared || err != nil {
		return err == nil, err
	}
	return false, syscall.Flock(int(file.Fd()), syscall.LOCK_UN)
}

func try(file *os.File, kind int) (bool, error) {
	for {
		err := syscall.Flock(int(file.Fd()), kind|syscall.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, syscall.EINTR):
			return false, &os.PathError{Op: "lock", Path: file.Name(), Err: err}
		}
	}
}
