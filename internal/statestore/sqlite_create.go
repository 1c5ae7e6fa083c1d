// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statestore

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// create makes the state file if there is none (rule S7).
//
// The file is made complete under another name and then given its own, so
// that nobody ever sees a half-made one, an empty file is always an accident,
// and of several processes that create it one wins and the others use its file.
func (s *sqliteStore) create(ctx context.Context) error {
	exists, err := s.exists()
	if err != nil {
		return err
	}
	directory := filepath.Dir(s.path)
	if exists {
		if !s.mayWrite() {
			return s.readOnly(nil)
		}
		return nil
	}
	if !writable(directory) {
		return &StoreError{
			Location: s.path,
			Problem:  ProblemReadOnly,
			Detail:   "cannot be made: the directory " + directory + " is read-only for " + currentOwner(),
			Remedy:   "give this user write permission on the directory, or keep the state elsewhere with -state=PATH",
		}
	}

	draft := filepath.Join(directory, "."+filepath.Base(s.path)+".new-"+rand.Text())
	err = s.initialise(ctx, draft)
	if err == nil {
		err = publish(draft, s.path)
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if removeErr := os.Remove(draft + suffix); removeErr != nil && !errors.Is(removeErr, fs.ErrNotExist) {
			err = errors.Join(err, removeErr)
		}
	}
	if err == nil || errors.As(err, new(*StoreError)) {
		return err
	}
	return &StoreError{
		Location: s.path,
		Problem:  ProblemIO,
		Detail:   "cannot be made",
		Remedy:   "check the directory " + directory,
		Err:      err,
	}
}

// initialise makes an empty state at path, readable by its owner only whatever
// the umask.
func (s *sqliteStore) initialise(ctx context.Context, path string) (err error) {
	// SQLite gives its log the permissions of the file it finds.
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(file.Chmod(0o600), file.Close()); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", s.dsn(path, "rw"))
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	defer func() {
		// The last connection moves the log into the file and deletes it.
		err = errors.Join(err, s.explain(ctx, db.Close()))
	}()

	// Where the file system cannot do a write-ahead log SQLite keeps the old
	// journal, which serves as well but for concurrent reading.
	var mode string
	if err := db.QueryRowContext(ctx, `PRAGMA journal_mode = WAL`).Scan(&mode); err != nil {
		return s.explain(ctx, err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return s.explain(ctx, err)
	}
	for _, statement := range schema {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			rollback(tx)
			return s.explain(ctx, err)
		}
	}
	if _, err := tx.ExecContext(ctx, insertSchema, schemaVersion); err != nil {
		rollback(tx)
		return s.explain(ctx, err)
	}
	return s.explain(ctx, tx.Commit())
}

// publish gives draft the name path unless that exists by now.
func publish(draft, path string) error {
	err := os.Link(draft, path)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		// A file system without links. Two processes may both get here; the
		// one whose file is replaced notices before it writes (sqliteStore.open).
		if _, statErr := os.Lstat(path); statErr == nil {
			return nil
		}
		if renameErr := os.Rename(draft, path); renameErr != nil {
			return fmt.Errorf("%w; %w", err, renameErr)
		}
	}
	return syncDirectory(filepath.Dir(path))
}

// syncDirectory makes new names in a directory durable.
func syncDirectory(path string) error {
	directory, err := os.Open(path)
	if err != nil {
		return nil //nolint:nilerr // a directory may be written to without being readable; then nothing can be synced
	}
	// Not every system can sync a directory; those order names by themselves.
	if err := directory.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrInvalid) {
		return errors.Join(err, directory.Close())
	}
	return directory.Close()
}
