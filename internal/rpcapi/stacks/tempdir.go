// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairnstacks/cairn/internal/filelock"
)

// Directories of servers have names that begin with tempPrefix, and a file that is locked for as long as the server lives.
const (
	tempPrefix = "cairn-rpcapi-"
	tempLock   = "lock"
)

// makeLocked makes a directory with a locked file in it, which is closed when the directory is no longer used.
func makeLocked(parent string) (dir string, lock *os.File, err error) {
	for range 10 { // another server may take it for one that was left, until the file is locked
		if dir, err = os.MkdirTemp(parent, tempPrefix); err != nil {
			return "", nil, err
		}
		if lock, err = lockIn(dir); lock != nil {
			return dir, lock, nil
		}
	}
	return "", nil, errors.Join(errors.New("no directory for temporary files could be locked"), err)
}

// lockIn locks a directory that was just made. Without an error, the result is nil if somebody has removed it meanwhile, or is about to.
func lockIn(dir string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(dir, tempLock), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	locked, err := filelock.TryLock(file)
	if err == nil && locked && isAt(file, filepath.Join(dir, tempLock)) {
		return file, nil
	}
	return nil, errors.Join(err, file.Close())
}

func isAt(file *os.File, path string) bool {
	open, err := file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(open, there)
}

// removeLeft removes the directories of servers that were killed. It leaves alone what belongs to another user, is in use, or has what an apply has done that came to no end:
// nobody else knows of that.
func removeLeft(parent string, log *slog.Logger) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return // whoever needs a directory there reports it
	}
	for _, entry := range entries {
		dir := filepath.Join(parent, entry.Name())
		if !strings.HasPrefix(entry.Name(), tempPrefix) {
			continue
		}
		info, err := entry.Info()
		if err != nil || !info.IsDir() || !isOwn(info) {
			continue
		}
		if err := removeUnlocked(dir, log); err != nil {
			log.Warn("directory of a server that has ended is not removed", "dir", dir, "error", err.Error())
		}
	}
}

func removeUnlocked(dir string, log *slog.Logger) (err error) {
	name := filepath.Join(dir, tempLock)
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
	if hasRuns(dir) {
		log.Warn("directory of a server that has ended is kept: an apply in it came to no end", "dir", dir)
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries { // the lock comes last, so that the next server goes on if this one is killed
		if entry.Name() != tempLock {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, entry.Name())))
		}
	}
	if err != nil {
		return err
	}
	log.Info("removed the directory of a server that has ended", "dir", dir)
	return os.RemoveAll(dir)
}

// hasRuns reports whether there is a file in one of the directories in which engines keep what applies have done, or whether that cannot be known.
func hasRuns(dir string) bool {
	errFound := errors.New("found")
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !entry.IsDir() || entry.Name() != "runs" {
			return nil
		}
		return filepath.WalkDir(path, func(_ string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				return errFound
			}
			return err
		})
	}) != nil
}
