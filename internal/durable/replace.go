// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package durable

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace puts a new file, which only its owner can read, in the place of the one at the path.
// Symbolic links are followed; a target that is not a regular file is written to as it is. After an
// error, an earlier file at the path is still there and no half file is left behind.
func Replace(path string, write func(io.Writer) error) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return writeInPlace(path, write)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp") // mode 0600
	if err != nil {
		return err
	}
	if err := writeSynced(f, write); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return Dir(filepath.Dir(path))
}

// writeSynced writes, brings the content to disk and closes the file.
func writeSynced(f *os.File, write func(io.Writer) error) error {
	buffered := bufio.NewWriterSize(f, 1<<20)
	err := write(buffered)
	if err == nil {
		err = buffered.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// writeInPlace writes to a device or a pipe.
func writeInPlace(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
