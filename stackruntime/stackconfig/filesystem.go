// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"io/fs"
	"os"
	"path/filepath"
)

// fileSystem is what loading needs of a file system. Names are absolute.
type fileSystem interface {
	ReadDir(name string) ([]fs.DirEntry, error) // sorted by name
	ReadFile(name string) ([]byte, error)
	Stat(name string) (fs.FileInfo, error)

	// RealPath resolves symbolic links, so that two names of one directory can be
	// seen to be the same.
	RealPath(name string) (string, error)
}

type osFileSystem struct{}

func (osFileSystem) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }
func (osFileSystem) ReadFile(name string) ([]byte, error)       { return os.ReadFile(name) }
func (osFileSystem) Stat(name string) (fs.FileInfo, error)      { return os.Stat(name) }
func (osFileSystem) RealPath(name string) (string, error)       { return filepath.EvalSymlinks(name) }
