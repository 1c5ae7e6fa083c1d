// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

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
	"github.com/cairnstacks/cairn/internal/statestore"
)

// explain turns the error of a database call into one that names the fault of the file and the
// remedy. Errors of our own pass through.
func (s *sqliteStore) explain(ctx context.Context, err error) error {
	if err == nil || errors.As(err, new(*statestore.StoreError)) {
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
	switch code := cause.Code(); {
	case code == sqlite3.SQLITE_READONLY_DBMOVED:
		return s.replaced()
	// Where there is no space for the -shm file, SQLite reports an I/O error, not a full disk.
	case code == sqlite3.SQLITE_IOERR_SHMSIZE || code&0xff == sqlite3.SQLITE_FULL:
		return s.fullDisk(cause)
	case code&0xff == sqlite3.SQLITE_NOTADB:
		return s.fault(statestore.ProblemNotState,
			"is not a cairn state: the file is not an SQLite database, or its beginning was overwritten",
			"check the path; if this was a state, restore it from a backup", cause)
	case code&0xff == sqlite3.SQLITE_CORRUPT:
		return s.corrupt("the database is malformed", cause)
	case code&0xff == sqlite3.SQLITE_ERROR || code&0xff == sqlite3.SQLITE_CONSTRAINT:
		return s.corrupt("its tables are not as cairn made them", cause)
	case code&0xff == sqlite3.SQLITE_READONLY, code&0xff == sqlite3.SQLITE_PERM, code&0xff == sqlite3.SQLITE_AUTH:
		return s.readOnly(cause)
	case code&0xff == sqlite3.SQLITE_CANTOPEN && !s.mayWrite():
		return s.fault(statestore.ProblemReadOnly, "cannot be read without write permission: its last changes are in "+s.path+
			"-wal, left by a command that was killed, and must be put in order first",
			"run any cairn command as the owner of the file once", cause)
	case code&0xff == sqlite3.SQLITE_CANTOPEN:
		return s.fault(statestore.ProblemAccess, "cannot be opened",
			"check the owner and permissions of "+s.path+", of "+s.path+"-wal and of their directory", cause)
	case code&0xff == sqlite3.SQLITE_BUSY || code&0xff == sqlite3.SQLITE_LOCKED:
		return s.fault(statestore.ProblemBusy,
			"is in use: another program has held SQLite's write lock on it for longer than "+s.busyTimeout.String(),
			"end that program (an open SQLite shell, a backup, a hanging cairn) and run the command again", cause)
	}
	return s.unusable(cause)
}

func (s *sqliteStore) unusable(cause error) error {
	return s.fault(statestore.ProblemIO, "cannot be used", "check the disk and the file system", cause)
}

// fault is a fault of this file. The cause may be nil.
func (s *sqliteStore) fault(problem statestore.Problem, detail, remedy string, cause error) error {
	return &statestore.StoreError{Location: s.path, Problem: problem, Detail: detail, Remedy: remedy, Err: cause}
}

func (s *sqliteStore) fullDisk(cause error) error {
	return s.fault(statestore.ProblemFull,
		"cannot be written: no space is left in "+filepath.Dir(s.path),
		"free some space and run the command again; everything stored so far is intact", cause)
}

// full explains an error of the file system that may be a full disk.
func (s *sqliteStore) full(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return s.fullDisk(err)
	}
	return err
}

func (s *sqliteStore) corrupt(what string, cause error) error {
	return s.fault(statestore.ProblemCorrupt,
		"is damaged: "+what,
		"keep a copy of the file and of the files next to it, then restore a backup; sqlite3's .recover may save the rest", cause)
}

// readOnly explains why the file can be read but not changed.
func (s *sqliteStore) readOnly(cause error) error {
	directory := filepath.Dir(s.path)
	switch _, err := os.Stat(s.path); {
	case err == nil && !access.Writable(s.path):
		return s.fault(statestore.ProblemReadOnly, "can be read but not changed: the file is read-only for "+statestore.CurrentOwner(),
			"run as its owner or give this user write permission on the file and its directory", cause)
	case !access.Writable(directory):
		return s.fault(statestore.ProblemReadOnly,
			"can be read but not changed: the directory "+directory+" is read-only for "+statestore.CurrentOwner()+
				", and SQLite keeps its log next to the file",
			"give this user write permission on the directory, or keep the state elsewhere", cause)
	}
	return s.fault(statestore.ProblemReadOnly, "can be read but not changed",
		"check the permissions of the file, of "+s.path+"-wal and of "+s.path+"-shm", cause)
}

func (s *sqliteStore) replaced() error {
	return s.fault(statestore.ProblemReplaced,
		"was moved, deleted or replaced while it was in use",
		"put the right file back in its place and run the command again", nil)
}

// missing explains a path that leads to no file, or returns nil where a
// file could be made there.
func (s *sqliteStore) missing() error {
	directory := filepath.Dir(s.path)
	info, err := os.Stat(directory)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s.fault(statestore.ProblemNoDirectory,
			"cannot be kept there: the directory "+directory+" does not exist",
			"make the directory or correct the path", nil)
	case err != nil:
		return s.noAccess(err)
	case !info.IsDir():
		return s.fault(statestore.ProblemNoDirectory,
			"cannot be kept there: "+directory+" is not a directory",
			"correct the path", nil)
	}
	return nil
}

func (s *sqliteStore) noAccess(err error) error {
	return s.fault(statestore.ProblemAccess, "cannot be reached", "check the path and its permissions", err)
}
