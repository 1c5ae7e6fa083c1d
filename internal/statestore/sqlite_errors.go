// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statestore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/cairnstacks/cairn/internal/access"
)

// explain turns the error of a database call into one that names the fault of the file and the
// remedy. Errors of our own pass through.
func (s *sqliteStore) explain(ctx context.Context, err error) error {
	if err == nil || errors.As(err, new(*StoreError)) {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	cause, ok := errors.AsType[*sqlite.Error](err)
	switch {
	case !ok && strings.HasPrefix(err.Error(), "sql: Scan error"): // which has no type
		return s.corrupt("one of its entries is of another kind than cairn writes", err)
	case !ok:
		return err
	}
	e := &StoreError{Location: s.path, Err: cause}
	switch code := cause.Code(); {
	case code == sqlite3.SQLITE_READONLY_DBMOVED:
		return s.replaced()
	// Where there is no space for the -shm file, SQLite reports an I/O error, not a full disk.
	case code == sqlite3.SQLITE_IOERR_SHMSIZE || code&0xff == sqlite3.SQLITE_FULL:
		return s.fullDisk(cause)
	case code&0xff == sqlite3.SQLITE_NOTADB:
		e.Problem = ProblemNotState
		e.Detail = "is not a cairn state: the file is not an SQLite database, or its beginning was overwritten"
		e.Remedy = "check the path; if this was a state, restore it from a backup"
	case code&0xff == sqlite3.SQLITE_CORRUPT:
		return s.corrupt("the database is malformed", cause)
	case code&0xff == sqlite3.SQLITE_ERROR || code&0xff == sqlite3.SQLITE_CONSTRAINT:
		return s.corrupt("its tables are not as cairn made them", cause)
	case code&0xff == sqlite3.SQLITE_READONLY, code&0xff == sqlite3.SQLITE_PERM, code&0xff == sqlite3.SQLITE_AUTH:
		return s.readOnly(cause)
	case code&0xff == sqlite3.SQLITE_CANTOPEN && !s.mayWrite():
		e.Problem = ProblemReadOnly
		e.Detail = "cannot be read without write permission: its last changes are in " + s.path +
			"-wal, left by a command that was killed, and must be put in order first"
		e.Remedy = "run any cairn command as the owner of the file once"
	case code&0xff == sqlite3.SQLITE_CANTOPEN:
		e.Problem = ProblemAccess
		e.Detail = "cannot be opened"
		e.Remedy = "check the owner and permissions of " + s.path + ", of " + s.path + "-wal and of their directory"
	case code&0xff == sqlite3.SQLITE_BUSY || code&0xff == sqlite3.SQLITE_LOCKED:
		e.Problem = ProblemBusy
		e.Detail = "is in use: another program has held SQLite's write lock on it for longer than " + s.busyTimeout.String()
		e.Remedy = "end that program (an open SQLite shell, a backup, a hanging cairn) and run the command again"
	default:
		e.Problem = ProblemIO
		e.Detail = "cannot be used"
		e.Remedy = "check the disk and the file system"
	}
	return e
}

func (s *sqliteStore) fullDisk(cause error) error {
	return &StoreError{
		Location: s.path,
		Problem:  ProblemFull,
		Detail:   "cannot be written: no space is left in " + filepath.Dir(s.path),
		Remedy:   "free some space and run the command again; everything stored so far is intact",
		Err:      cause,
	}
}

// full explains an error of the file system that may be a full disk.
func (s *sqliteStore) full(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return s.fullDisk(err)
	}
	return err
}

func (s *sqliteStore) corrupt(what string, cause error) error {
	return &StoreError{
		Location: s.path,
		Problem:  ProblemCorrupt,
		Detail:   "is damaged: " + what,
		Remedy:   "keep a copy of the file and of the files next to it, then restore a backup; sqlite3's .recover may save the rest",
		Err:      cause,
	}
}

// readOnly explains why the file can be read but not changed.
func (s *sqliteStore) readOnly(cause error) error {
	e := &StoreError{Location: s.path, Problem: ProblemReadOnly, Err: cause}
	directory := filepath.Dir(s.path)
	switch _, err := os.Stat(s.path); {
	case err == nil && !access.Writable(s.path):
		e.Detail = "can be read but not changed: the file is read-only for " + currentOwner()
		e.Remedy = "run as its owner or give this user write permission on the file and its directory"
	case !access.Writable(directory):
		e.Detail = "can be read but not changed: the directory " + directory + " is read-only for " + currentOwner() +
			", and SQLite keeps its log next to the file"
		e.Remedy = "give this user write permission on the directory, or keep the state elsewhere"
	default:
		e.Detail = "can be read but not changed"
		e.Remedy = "check the permissions of the file, of " + s.path + "-wal and of " + s.path + "-shm"
	}
	return e
}

func (s *sqliteStore) replaced() error {
	return &StoreError{
		Location: s.path,
		Problem:  ProblemReplaced,
		Detail:   "was moved, deleted or replaced while it was in use",
		Remedy:   "put the right file back in its place and run the command again",
	}
}

// missing explains a path that leads to no file, or returns nil where a
// file could be made there.
func (s *sqliteStore) missing() error {
	directory := filepath.Dir(s.path)
	info, err := os.Stat(directory)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &StoreError{
			Location: s.path,
			Problem:  ProblemNoDirectory,
			Detail:   "cannot be kept there: the directory " + directory + " does not exist",
			Remedy:   "make the directory or correct the path",
		}
	case err != nil:
		return s.noAccess(err)
	case !info.IsDir():
		return &StoreError{
			Location: s.path,
			Problem:  ProblemNoDirectory,
			Detail:   "cannot be kept there: " + directory + " is not a directory",
			Remedy:   "correct the path",
		}
	}
	return nil
}

func (s *sqliteStore) noAccess(err error) error {
	return &StoreError{
		Location: s.path,
		Problem:  ProblemAccess,
		Detail:   "cannot be reached",
		Remedy:   "check the path and its permissions",
		Err:      err,
	}
}
