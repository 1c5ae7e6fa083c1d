// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/cairnstacks/cairn/internal/access"
	"github.com/cairnstacks/cairn/internal/statestore"
)

// sqliteStore is a [statestore.Store] in one SQLite file.
type sqliteStore struct {
	tableStore
	path        string        // absolute
	busyTimeout time.Duration // how long to wait for other writers
	traceless   bool          // reads only, and leaves nothing next to the file

	// queue is held while writing, so that goroutines queue here and not in
	// SQLite's busy handler, which waits by polling.
	queue chan struct{}

	shared *sharedFile // with other stores of this process; nil for none

	writing *writing // of the holder of the turn; nil until first used

	mu struct {
		sync.Mutex
		closed bool
		db     *sql.DB     // nil until first used
		file   fs.FileInfo // of the file that db has open
	}
}

var (
	_ statestore.Store = (*sqliteStore)(nil)
	_ database         = (*sqliteStore)(nil)
)

func newSQLiteStore(path string) *sqliteStore {
	s := &sqliteStore{path: path, busyTimeout: 5 * time.Second, queue: make(chan struct{}, 1)}
	s.tableStore = tableStore{s}
	return s
}

func (s *sqliteStore) location() string { return s.path }

func (s *sqliteStore) turn() chan struct{} { return s.queue }

// clock implements [database]. Locks of a file have no leases: nothing that a process does in vain
// for want of its lock is worse than the work of two at a time (rule S4).
func (s *sqliteStore) clock(context.Context, *transaction) (time.Time, error) {
	return time.Time{}, nil
}

func (s *sqliteStore) ended() <-chan struct{} { return nil }

// newest implements [database]. Within the process, a query for each record is the fastest way.
func (s *sqliteStore) newest(
	ctx context.Context, tx *transaction, deployment string, keys []string, changes map[string][]byte,
) (map[string]*newest, error) {
	return newestOfEach(ctx, tx, deployment, keys, changes)
}

// changeRows implements [database].
func (s *sqliteStore) changeRows(ctx context.Context, tx *transaction, deployment string, serial int64, rows *rowChanges) error {
	return changeEachRow(ctx, tx, deployment, serial, rows)
}

// Close implements [statestore.Store].
func (s *sqliteStore) Close() error {
	s.queue <- struct{}{}
	defer func() { <-s.queue }()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.closed = true
	if s.mu.db == nil {
		return nil
	}
	err := errors.Join(s.writing.close(), s.disconnect(s.mu.db))
	s.writing = nil
	s.mu.db = nil
	return s.explain(context.Background(), err)
}

// read runs fn in a transaction that sees one version of the file. Where
// nothing is stored yet, fn is not called.
func (s *sqliteStore) read(ctx context.Context, fn func(*transaction) error) error {
	exists, err := s.exists(ctx)
	if err != nil || !exists {
		return err
	}
	if s.needsImmutable() {
		return s.readImmutable(ctx, fn)
	}
	if s.traceless {
		return s.changedMeanwhile(nil)
	}
	db, err := s.open(ctx)
	if err != nil {
		return err
	}
	return s.readFrom(ctx, db, fn)
}

func (s *sqliteStore) readFrom(ctx context.Context, db *sql.DB, fn func(*transaction) error) error {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return s.explain(ctx, err)
	}
	err = s.readWithin(ctx, &transaction{executor: tx}, fn)
	if rollbackErr := tx.Rollback(); err == nil && !errors.Is(rollbackErr, sql.ErrTxDone) {
		err = rollbackErr
	}
	return s.explain(ctx, err)
}

// readWithin is readFrom within tx.
func (s *sqliteStore) readWithin(ctx context.Context, tx *transaction, fn func(*transaction) error) error {
	version, err := s.currentVersion(ctx, tx)
	if err != nil {
		return err
	}
	tx.version = version
	if !tx.sealed() { // then there is no cheaper way to know that nothing is missing
		if err := s.checkAll(ctx, tx); err != nil {
			return err
		}
	}
	return fn(tx)
}

// write runs fn in a transaction that no other writer overlaps. It does not stop when ctx ends: the
// changes of fn must not be lost to an interrupt, and it waits for nothing but the disk and, for
// busyTimeout, other programs.
func (s *sqliteStore) write(ctx context.Context, fn func(context.Context, *transaction) error) error {
	s.queue <- struct{}{}
	defer func() { <-s.queue }()
	return s.writeInTurn(ctx, fn)
}

// writeInTurn is write for a caller that holds the turn.
func (s *sqliteStore) writeInTurn(ctx context.Context, fn func(context.Context, *transaction) error) error {
	ctx = context.WithoutCancel(ctx)
	db, err := s.open(ctx)
	if err != nil {
		return err
	}
	w, err := s.writingTo(ctx, db)
	if err != nil {
		return s.explain(ctx, err)
	}
	if err := w.begin(ctx); err != nil {
		return s.explain(ctx, err)
	}
	if err := s.writeWithin(ctx, &transaction{executor: w, found: w.found}, fn); err != nil {
		w.rollback(ctx)
		return s.explain(ctx, err)
	}
	return s.explain(ctx, w.commit(ctx))
}

// writeWithin is writeInTurn within tx. It is the one place where a file of an
// older format is brought into the present one.
func (s *sqliteStore) writeWithin(ctx context.Context, tx *transaction, fn func(context.Context, *transaction) error) error {
	version, err := s.currentVersion(ctx, tx)
	if err != nil {
		return err
	}
	tx.version = version
	if version < schemaVersion {
		if err := s.upgrade(ctx, tx); err != nil {
			return err
		}
	}
	return fn(ctx, tx)
}

// rollback ends a transaction that has failed. After some errors, such as a
// full disk, SQLite has ended it already; either way nothing of it stays, and
// the first error is the one to report.
func rollback(tx *sql.Tx) {
	_ = tx.Rollback() //nolint:errcheck // see above
}

// exists reports whether there is a state file, and fails if the file at its place cannot be one.
func (s *sqliteStore) exists(context.Context) (bool, error) {
	s.mu.Lock()
	closed := s.mu.closed
	s.mu.Unlock()
	if closed {
		return false, statestore.ErrClosed
	}

	// The log is looked for first: another process may be making both.
	_, logErr := os.Lstat(s.path + "-wal")
	info, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := s.missing(); err != nil {
			return false, err
		}
		if logErr == nil {
			return false, s.fault(statestore.ProblemCorrupt,
				"is missing while "+s.path+"-wal, which holds its last changes, is still there",
				"put the file back; if the state is not wanted any more, move the -wal and -shm files away, too", nil)
		}
		return false, nil
	case err != nil:
		return false, s.missingOr(err)
	case !info.Mode().IsRegular():
		return false, s.fault(statestore.ProblemNotState, "is not a regular file", "give the path of a file", nil)
	case !access.Readable(s.path):
		return false, s.fault(statestore.ProblemAccess,
			"may not be read by "+statestore.CurrentOwner(),
			"run as its owner or give this user permission to read and write it", nil)
	case info.Size() == 0:
		return false, s.fault(statestore.ProblemNotState,
			"is an empty file, which a cairn state never is: it may have been truncated",
			"restore it from a backup; if it never held a state, delete it", nil)
	}
	return true, nil
}

// missingOr prefers the explanation of a missing directory to err.
func (s *sqliteStore) missingOr(err error) error {
	if missing := s.missing(); missing != nil {
		return missing
	}
	return s.noAccess(err)
}

// open returns the connections to the existing file, opening them if need be.
func (s *sqliteStore) open(ctx context.Context) (*sql.DB, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.closed {
		return nil, statestore.ErrClosed
	}
	info, err := os.Stat(s.path)
	if s.mu.db != nil {
		// Writing on into a file that has no name any more would lose it all.
		if err != nil || !os.SameFile(info, s.mu.file) {
			return nil, s.replaced()
		}
		return s.mu.db, nil
	}
	if err != nil {
		return nil, s.missingOr(err)
	}
	db, err := s.connect(ctx, "rw")
	if err != nil {
		return nil, err
	}
	s.mu.db, s.mu.file = db, info
	return db, nil
}

// connect opens a file and makes sure that it is ours and in our format. The database is closed by
// disconnect.
func (s *sqliteStore) connect(ctx context.Context, mode string) (*sql.DB, error) {
	if err := s.announce(); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", s.dsn(s.path, mode))
	if err != nil {
		withdraw(s.path)
		return nil, fmt.Errorf("state %s: %w", s.path, err)
	}
	// Writers queue; readers rarely come in numbers.
	db.SetMaxOpenConns(4)
	if err := s.checkSchema(ctx, db); err != nil {
		return nil, errors.Join(err, s.disconnect(db))
	}
	return db, nil
}

func (s *sqliteStore) disconnect(db *sql.DB) error {
	defer withdraw(s.path)
	return db.Close()
}

// dsn returns the driver's name for a file. Mode is SQLite's rw, or
// immutable for a file that nobody changes; neither makes a file.
func (s *sqliteStore) dsn(path, mode string) string {
	q := url.Values{
		"mode":          {mode},
		"_busy_timeout": {fmt.Sprint(s.busyTimeout.Milliseconds())},
		"_foreign_keys": {"1"},
		"_synchronous":  {"FULL"},
		"_txlock":       {"immediate"},
		"_defensive":    {"1"},
		"_dqs":          {"0"},
		"_error_rc":     {"1"},
		"_pragma":       {"trusted_schema(0)"},
	}
	if mode == "immutable" {
		q.Set("mode", "ro")
		q.Set("immutable", "1")
	}
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: q.Encode()}
	return u.String()
}

// checkSchema fails for any database but a state in a format we know.
func (s *sqliteStore) checkSchema(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return s.explain(ctx, err)
	}
	defer rollback(tx)
	have, err := readSchema(ctx, tx)
	if err != nil {
		return s.explain(ctx, err)
	}
	if _, ours := have["cairn_schema"]; !ours {
		if len(have) > 0 {
			return s.corrupt("its table cairn_schema is missing", nil)
		}
		return s.fault(statestore.ProblemNotState,
			"is not a cairn state but another program's SQLite database",
			"check the path; cairn writes into no database it has not made", nil)
	}
	version, err := readSchemaVersion(ctx, tx)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return s.corrupt("the version of its format is missing", nil)
	case err != nil:
		return s.explain(ctx, err)
	case isMoved(version):
		return s.explain(ctx, s.moved(ctx, tx))
	case version > schemaVersion:
		return s.fault(statestore.ProblemNewer, newerFormat(version), "use a newer cairn", nil)
	case version < 1:
		return s.corrupt(fmt.Sprintf("its format has the impossible version %d", version), nil)
	}
	for name, want := range tables(version) {
		if have[name] != want {
			return s.corrupt("its table or index "+name+" is missing or is not as cairn made it", nil)
		}
	}
	return nil
}

// readSchema returns the statements that made our tables and indexes in the database, by name.
func readSchema(ctx context.Context, tx executor) (map[string]string, error) {
	have := map[string]string{}
	err := eachRow(ctx, tx, func(row scanner) error {
		var name, statement string
		err := row.Scan(&name, &statement)
		have[name] = strings.Join(strings.Fields(statement), " ")
		return err
	}, `SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name LIKE 'cairn%'`)
	return have, err
}

// scanner is a row.
type scanner interface{ Scan(into ...any) error }

// eachRow calls a function for each row that a query finds, until the first error.
func eachRow(ctx context.Context, tx executor, read func(scanner) error, query string, args ...any) error {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err says it
	for rows.Next() {
		if err := read(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// tables returns the result of readSchema for an unharmed file in a format.
func tables(version int64) map[string]string {
	want := map[string]string{}
	for _, statement := range append(slices.Clone(schema), createFormerLocks) {
		words := strings.Fields(statement)
		name := words[slices.IndexFunc(words, func(word string) bool { return strings.HasPrefix(word, "cairn_") })]
		want[name] = strings.Join(words, " ")
	}
	if version < 2 {
		delete(want, "cairn_seal")
	}
	if version < 3 {
		delete(want, "cairn_secret")
	}
	if version < holdersVersion {
		delete(want, "cairn_holder")
	} else {
		delete(want, "cairn_lock")
	}
	return want
}

// currentVersion returns the version of the format within a transaction, as the states may have
// been moved since the file was opened.
func (s *sqliteStore) currentVersion(ctx context.Context, tx *transaction) (int64, error) {
	version, err := readSchemaVersion(ctx, tx)
	if err == nil && isMoved(version) {
		err = s.moved(ctx, tx)
	}
	return version, err
}

func readSchemaVersion(ctx context.Context, tx interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
},
) (int64, error) {
	var version int64
	err := tx.QueryRowContext(ctx, selectSchema).Scan(&version)
	return version, err
}

// checkStructure has SQLite verify its own structures, and that indexes and
// tables agree.
func (s *sqliteStore) checkStructure(ctx context.Context, tx *transaction) error {
	findings, err := readTexts(ctx, tx, `PRAGMA integrity_check(5)`)
	if err != nil {
		return err
	}
	if findings = slices.DeleteFunc(findings, func(finding string) bool { return finding == "ok" }); len(findings) > 0 {
		return s.corrupt(strings.Join(findings, "; "), nil)
	}
	return nil
}
