// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cairnstacks/cairn/internal/access"
	"github.com/cairnstacks/cairn/internal/durable"
	"github.com/cairnstacks/cairn/internal/statestore"
)

// create makes the state file if there is none (rule S7).
//
// The file is made complete under another name and then given its own, so
// that nobody ever sees a half-made one, an empty file is always an accident,
// and of several processes that create it one wins and the others use its file.
func (s *sqliteStore) create(ctx context.Context) error {
	exists, err := s.exists(ctx)
	if err != nil {
		return err
	}
	directory := filepath.Dir(s.path)
	if exists {
		if !s.mayWrite() {
			return s.readOnly(nil)
		}
		s.removeDrafts()
		return nil
	}
	if !access.Writable(directory) {
		return s.fault(statestore.ProblemReadOnly,
			"cannot be made: the directory "+directory+" is read-only for "+statestore.CurrentOwner(),
			"give this user write permission on the directory, or keep the state elsewhere", nil)
	}

	s.removeDrafts()
	draft := filepath.Join(directory, s.draftPrefix()+draftSuffix(statestore.CurrentProcess()))
	err = s.initialise(ctx, draft)
	if err == nil {
		err = publish(draft, s.path)
	}
	err = errors.Join(err, removeDraft(draft))
	if err == nil || errors.As(err, new(*statestore.StoreError)) {
		return err
	}
	return s.fault(statestore.ProblemIO, "cannot be made", "check the directory "+directory, err)
}

// draftPrefix is how the names of files begin that are to become the state.
func (s *sqliteStore) draftPrefix() string { return "." + filepath.Base(s.path) + ".new-" }

// draftLifetime is how long making a state takes at most, by far.
const draftLifetime = time.Hour

// draftSuffix returns a name that no other draft has, and that names the process that makes it.
func draftSuffix(p statestore.ProcessIdentity) string { return processSuffix(p, rand.Text()) }

// processSuffix returns a name for a file of a process.
func processSuffix(p statestore.ProcessIdentity, of string) string {
	return fmt.Sprintf("%d_%s_%x_%s", p.PID, p.Start, uint64(digest(p.Scope)), of) //nolint:gosec // any bits will do
}

// processOf returns the process that made a file, as far as the name by processSuffix says.
func processOf(suffix string) statestore.ProcessIdentity {
	here := statestore.CurrentProcess()
	fields := strings.Split(suffix, "_")
	if len(fields) < 4 || fields[2] != fmt.Sprintf("%x", uint64(digest(here.Scope))) { //nolint:gosec // as above
		return statestore.ProcessIdentity{} // of another machine or boot
	}
	pid, err := strconv.Atoi(fields[0])
	if err != nil {
		return statestore.ProcessIdentity{}
	}
	return statestore.ProcessIdentity{Scope: here.Scope, PID: pid, Start: fields[1]}
}

// removeDrafts removes the drafts of processes that were killed. Where it cannot be seen that they
// are gone, it waits for long; a process that is at work all the same then finds its draft gone,
// and says so.
func (s *sqliteStore) removeDrafts() {
	directory := filepath.Dir(s.path)
	entries, err := os.ReadDir(directory)
	if err != nil {
		return // a directory may be written to without being readable
	}
	for _, entry := range entries {
		suffix, isDraft := strings.CutPrefix(entry.Name(), s.draftPrefix())
		info, err := entry.Info()
		if !isDraft || err != nil || !info.Mode().IsRegular() {
			continue
		}
		if processOf(suffix).Status() == statestore.ProcessGone || time.Since(info.ModTime()) > draftLifetime {
			_ = os.Remove(filepath.Join(directory, entry.Name())) //nolint:errcheck // the next one may succeed
		}
	}
}

// removeDraft removes a draft with all that SQLite keeps next to it.
func removeDraft(path string) error {
	var errs []error
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(path + suffix); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// initialise makes an empty state at path, readable by its owner only whatever
// the umask. Without an error the one file is all there is of it, and whole.
func (s *sqliteStore) initialise(ctx context.Context, path string) error {
	// SQLite gives its journal the permissions of the file it finds.
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return s.full(err)
	}
	if err := errors.Join(file.Chmod(0o600), file.Close()); err != nil {
		return s.full(err)
	}
	if err := s.fillDraft(ctx, path); err != nil {
		return err
	}
	// Closing a database does not report writes that fail.
	for _, suffix := range []string{"-wal", "-journal"} {
		if _, err := os.Lstat(path + suffix); !errors.Is(err, fs.ErrNotExist) {
			return s.full(syscall.ENOSPC)
		}
	}
	db, err := sql.Open("sqlite", s.dsn(path, "immutable"))
	if err != nil {
		return err
	}
	err = s.checkSchema(ctx, db)
	if err == nil {
		err = s.readFrom(ctx, db, func(tx *transaction) error { return s.checkAll(ctx, tx) })
	}
	return errors.Join(err, s.explain(ctx, db.Close()))
}

// fillDraft makes the tables. They go into the file itself, as a log would have
// to be moved there on closing.
func (s *sqliteStore) fillDraft(ctx context.Context, path string) (err error) {
	db, err := sql.Open("sqlite", s.dsn(path, "rw"))
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	defer func() { err = errors.Join(err, s.explain(ctx, db.Close())) }()
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
	if err := tx.Commit(); err != nil {
		return s.explain(ctx, err)
	}
	// Where the file system cannot do a write-ahead log SQLite keeps the old
	// journal, which serves as well but for concurrent reading.
	var mode string
	return s.explain(ctx, db.QueryRowContext(ctx, `PRAGMA journal_mode = WAL`).Scan(&mode))
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
	return durable.Dir(filepath.Dir(path))
}
