// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package runner

import (
	"os"
	"os/exec"

	"github.com/cairnstacks/cairn/internal/filelock"
)

// lockAlive makes a new file, locked. A process that inherits it has the lock for as long as it
// lives.
func lockAlive(name string) (*os.File, error) {
	file, err := createFile(name)
	if err != nil {
		return nil, err
	}
	locked, err := filelock.TryLock(file)
	if err == nil && !locked {
		err = &os.PathError{Op: "lock", Path: name, Err: os.ErrExist} // nobody knows of the file yet
	}
	if err != nil {
		_ = file.Close() //nolint:errcheck // nothing was written
		return nil, err
	}
	return file, nil
}

// inherit lets the process have the file, after those that it has by number.
func inherit(cmd *exec.Cmd, file *os.File) { cmd.ExtraFiles = append(cmd.ExtraFiles, file) }

// isHeld reports whether a process has the file that lockAlive has made.
func isHeld(name string) (bool, error) {
	file, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer file.Close() //nolint:errcheck // not written
	return filelock.Held(file)
}
