// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// fileSystem is the part of a file system that loading needs. Names are absolute.
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

// buffered is a file system with texts in place of some files.
type buffered struct {
	fileSystem
	buffers map[string][]byte
}

// withBuffers returns a file system in which texts stand for files.
func withBuffers(fsys fileSystem, buffers map[string][]byte) fileSystem {
	if len(buffers) == 0 {
		return fsys
	}
	return buffered{fsys, buffers}
}

func (b buffered) ReadFile(name string) ([]byte, error) {
	if text, ok := b.buffers[name]; ok {
		return text, nil
	}
	return b.fileSystem.ReadFile(name)
}

// ReadDir also has the files of which there are only texts. A directory that is not there has none.
func (b buffered) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := b.fileSystem.ReadDir(name)
	if err != nil {
		return nil, err
	}
	listed := make(map[string]bool, len(entries))
	for _, entry := range entries {
		listed[entry.Name()] = true
	}
	for path, text := range b.buffers {
		if base := filepath.Base(path); filepath.Dir(path) == name && !listed[base] {
			entries = append(entries, fs.FileInfoToDirEntry(bufferInfo{base, int64(len(text))}))
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

func (b buffered) Stat(name string) (fs.FileInfo, error) {
	if text, ok := b.buffers[name]; ok {
		return bufferInfo{filepath.Base(name), int64(len(text))}, nil
	}
	return b.fileSystem.Stat(name)
}

// bufferInfo describes a file that is only a text.
type bufferInfo struct {
	name string
	size int64
}

func (i bufferInfo) Name() string     { return i.name }
func (i bufferInfo) Size() int64      { return i.size }
func (bufferInfo) Mode() fs.FileMode  { return 0o644 }
func (bufferInfo) ModTime() time.Time { return time.Time{} }
func (bufferInfo) IsDir() bool        { return false }
func (bufferInfo) Sys() any           { return nil }
