// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package tempdir makes directories for temporary files that do not stay when their process is
// killed: the next one of the same kind removes them. Each has a file that is locked for as long as
// the process lives.
package tempdir

import (
	"cmp"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/cairnstacks/cairn/internal/filelock"
)

const lockFile = "lock"

// Kind is the purpose of directories.
type Kind struct {
	Parent string       // "" for the directory for temporary files of the system
	Prefix string       // of their names
	Log    *slog.Logger // nil for none

	// Keep reports whether something in a directory that was left is needed. Where it is nil, nothing
	// is.
	Keep func(dir string) bool
}

// Dir is a directory of this process, which other users cannot read.
type Dir struct {
	Path string
	lock *os.File // in it
}

// Make makes a directory. The caller removes it.
func (k Kind) Make() (*Dir, error) {
	var failed error
	for range 10 { // another process may take it for one that was left, until the file is locked
		path, err := os.MkdirTemp(k.Parent, k.Prefix)
		if err != nil {
			return nil, err
		}
		lock, err := lockIn(path)
		if lock != nil {
			made := &Dir{path, lock}
			own.Store(made, nil)
			return made, nil
		}
		failed = err
	}
	return nil, errors.Join(errors.New("no directory for temporary files could be locked"), failed)
}

// Remove removes the directory with all that is in it, also if that was begun before.
func (d *Dir) Remove() error {
	if err := d.lock.Close(); err != nil && !errors.Is(err, os.ErrClosed) { // first, since some systems remove no file that is open
		return err
	}
	own.Delete(d)
	return os.RemoveAll(d.Path)
}

// own are the directories of this process.
var own sync.Map // of *Dir

// RemoveOwn removes all directories of this process. It is for a program that ends without
// unwinding.
func RemoveOwn() {
	own.Range(func(dir, _ any) bool {
		_ = dir.(*Dir).Remove() //nolint:errcheck // the next process tries again
		return true
	})
}

// Replace removes the directories of processes that were killed, and makes one.
func (k Kind) Replace() (*Dir, error) {
	k.RemoveLeft()
	return k.Make()
}

// lockIn locks a directory that was just made. Without an error, the result is nil if somebody has
// removed it meanwhile, or is about to.
func lockIn(dir string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	locked, err := filelock.TryLock(file)
	if err == nil && locked && filelock.InPlace(file) {
		return file, nil
	}
	return nil, errors.Join(err, file.Close())
}

// RemoveLeft removes the directories of processes that were killed. It leaves alone those that
// belong to another user, are in use, or are to be kept. A directory that cannot be removed is
// logged.
func (k Kind) RemoveLeft() {
	parent := cmp.Or(k.Parent, os.TempDir())
	entries, err := os.ReadDir(parent)
	if err != nil {
		return // the process that needs a directory there reports it
	}
	for _, entry := range entries {
		dir := filepath.Join(parent, entry.Name())
		if !strings.HasPrefix(entry.Name(), k.Prefix) {
			continue
		}
		info, err := entry.Info()
		if err != nil || !info.IsDir() || !isOwn(info) {
			continue
		}
		if err := k.removeUnlocked(dir); err != nil {
			k.log().Warn("directory of a process that has ended is not removed", "dir", dir, "error", err.Error())
		}
	}
}

func (k Kind) log() *slog.Logger {
	if k.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return k.Log
}

func (k Kind) removeUnlocked(dir string) (err error) {
	name := filepath.Join(dir, lockFile)
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil // it is being made or removed, or is of a version that has locked nothing
	}
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if locked, err := filelock.TryLock(file); err != nil || !locked {
		return err
	}
	if k.Keep != nil && k.Keep(dir) {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries { // the lock comes last, so that the next process goes on if this one is killed
		if entry.Name() != lockFile {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, entry.Name())))
		}
	}
	if err != nil {
		return err
	}
	k.log().Info("removed the directory of a process that has ended", "dir", dir)
	return os.RemoveAll(dir)
}
