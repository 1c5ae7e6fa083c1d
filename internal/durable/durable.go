// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package durable makes sure that files are on the disk, so that they survive a power failure.
package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// Dir makes new names in a directory durable.
func Dir(path string) error {
	directory, err := os.Open(path)
	if err != nil {
		return nil //nolint:nilerr // a directory may be written to without being readable; then nothing can be synced
	}
	if err := directory.Sync(); err != nil && !isRefused(err) {
		return errors.Join(err, directory.Close())
	}
	return directory.Close()
}

// isRefused reports whether a system cannot sync directories. Such a one orders names by itself.
func isRefused(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrInvalid) || errors.Is(err, fs.ErrPermission)
}

// File makes the content of a file durable that was written and closed.
func File(path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// MakeDir is [os.MkdirAll] with names that are durable.
func MakeDir(path string, perm fs.FileMode) error {
	var above []string // directories that get a new name
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || at == filepath.Dir(at) {
			break
		}
		above = append(above, filepath.Dir(at))
	}
	err := os.MkdirAll(path, perm)
	for _, dir := range above {
		if err == nil {
			err = Dir(dir)
		}
	}
	return err
}

// Tail is how much of a file is durable to which several tasks write. The zero value is ready to
// use. Safe for concurrent use.
type Tail struct {
	mu struct {
		sync.Mutex
		written int64
		synced  int64
		failed  error         // for good: the content of the disk is unknown then
		syncing chan struct{} // closed when the syncing task has ended; nil if none syncs
	}
}

// Wrote says to which size the file was written.
func (t *Tail) Wrote(size int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mu.written = size
}

// Sync returns when the file is on the disk up to a size to which it was written before. One task
// syncs for all that wait.
func (t *Tail) Sync(file *os.File, size int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.mu.synced < size && t.mu.failed == nil {
		if others := t.mu.syncing; others != nil {
			t.mu.Unlock()
			<-others
			t.mu.Lock()
			continue
		}
		ended := make(chan struct{})
		upTo := t.mu.written // by all tasks that are waiting now
		t.mu.syncing = ended
		t.mu.Unlock()
		err := syncData(file)
		t.mu.Lock()
		t.mu.syncing, t.mu.failed = nil, err
		if err == nil {
			t.mu.synced = max(t.mu.synced, upTo)
		}
		close(ended)
	}
	if t.mu.synced >= size {
		return nil
	}
	return t.mu.failed
}
