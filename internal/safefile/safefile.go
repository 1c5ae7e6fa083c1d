// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package safefile reads files that anybody may have put where they are.
package safefile

import (
	"errors"
	"io"
	"io/fs"
)

// ErrNotRegular is of what is not a file that simply has content: reading a pipe or a device could take forever.
var ErrNotRegular = errors.New("it is not an ordinary file")

// Reason says what is wrong, without the path, which may be relative to a directory that users do not see.
func Reason(err error) string {
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		return pathError.Err.Error()
	}
	return err.Error()
}

// Read reads a regular file, but not more than limit bytes and one, by which the caller sees that there are more. Links are followed as
// far as the file system lets them lead; that of an [os.Root] keeps them inside.
//
// Errors: a [*fs.PathError], of [ErrNotRegular] among others.
func Read(fsys fs.FS, name string, limit int) ([]byte, error) {
	info, err := fs.Stat(fsys, name) // before it is opened, which waits for somebody to write to a pipe
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: ErrNotRegular}
	}
	file, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // nothing was written
	return io.ReadAll(io.LimitReader(file, int64(limit)+1))
}
