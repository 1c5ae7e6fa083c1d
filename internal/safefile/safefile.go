// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package safefile reads files that anybody may have put where they are, and replaces files as a
// whole.
package safefile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// TemporaryPrefix begins the names of files that are to replace others. Those that a killed program
// leaves keep them.
const TemporaryPrefix = ".new-"

// Replace writes a file as a whole: no reader sees half of it, and of several writers one wins. It
// is not on the disk then.
func Replace(name string, data []byte, mode fs.FileMode) error {
	temporary, err := os.CreateTemp(filepath.Dir(name), TemporaryPrefix+"*") // of mode 0600
	if err != nil {
		return err
	}
	_, err = temporary.Write(data)
	if err == nil && mode != 0o600 {
		err = temporary.Chmod(mode)
	}
	err = errors.Join(err, temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	return nil
}

// ErrNotRegular is the error for files without plain content: reading a pipe or a device could take
// forever.
var ErrNotRegular = errors.New("it is not an ordinary file")

// Reason returns the text of an error without the path, which may be relative to a directory that
// users do not see.
func Reason(err error) string {
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		return pathError.Err.Error()
	}
	return err.Error()
}

// OS is the whole file system, with paths as the operating system has them.
type OS struct{}

var _ fs.StatFS = OS{}

// Open implements [fs.FS].
func (OS) Open(name string) (fs.File, error) { return os.Open(name) }

// Stat implements [fs.StatFS].
func (OS) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// Open opens a regular file. Links are followed as far as the file system lets them lead; that of
// an [os.Root] keeps them inside.
//
// Errors: a [*fs.PathError], of [ErrNotRegular] among others.
func Open(fsys fs.FS, name string) (fs.File, error) {
	info, err := fs.Stat(fsys, name) // before it is opened, which waits for somebody to write to a pipe
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: ErrNotRegular}
	}
	return fsys.Open(name)
}

// Read reads a regular file as [Open] opens it, but not more than limit bytes and one, by which the
// caller sees that there are more.
func Read(fsys fs.FS, name string, limit int) ([]byte, error) {
	file, err := Open(fsys, name)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // nothing was written
	return io.ReadAll(io.LimitReader(file, int64(limit)+1))
}
