// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"context"
	"database/sql"
	"errors"
)

// writing is the connection that all writes of a store go through. It parses each statement once,
// as parsing costs more than running it. It is used by the holder of the store's turn.
type writing struct {
	db       *sql.DB // that conn is one of
	conn     *sql.Conn
	prepared map[string]*sql.Stmt

	found fileVersion // by the transaction that was begun last
}

// fileVersion stands for the content of a file: if it is the same in two transactions of a
// [writing], so is the file.
type fileVersion struct {
	others int64 // changes whenever another connection has changed the file, be it of this process or of another one
	own    int64 // number of own transactions before
}

var _ executor = (*writing)(nil)

const (
	beginWriting  = `BEGIN IMMEDIATE`
	commitWriting = `COMMIT`
	endWriting    = `ROLLBACK`
	dataVersion   = `PRAGMA data_version`
)

// writingTo returns the connection for writes to db. The caller has the turn.
func (s *sqliteStore) writingTo(ctx context.Context, db *sql.DB) (*writing, error) {
	if s.writing != nil && s.writing.db == db {
		return s.writing, nil
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	s.writing = &writing{db: db, conn: conn, prepared: map[string]*sql.Stmt{}}
	return s.writing, nil
}

// begin begins a transaction that no other writer overlaps.
func (w *writing) begin(ctx context.Context) error {
	if _, err := w.ExecContext(ctx, beginWriting); err != nil {
		return err
	}
	if err := w.QueryRowContext(ctx, dataVersion).Scan(&w.found.others); err != nil {
		w.rollback(ctx)
		return err
	}
	return nil
}

// commit ends a transaction. After an error nothing of it stays.
func (w *writing) commit(ctx context.Context) error {
	_, err := w.ExecContext(ctx, commitWriting)
	if err != nil {
		w.rollback(ctx)
	}
	w.found.own++
	return err
}

// rollback ends a transaction that has failed. After some errors, such as a full disk, SQLite has
// ended it already; either way nothing of it stays, and the first error is the one to report.
func (w *writing) rollback(ctx context.Context) {
	_, _ = w.conn.ExecContext(ctx, endWriting) //nolint:errcheck // see above
}

// close gives the connection back. It may be called for nil.
func (w *writing) close() error {
	if w == nil {
		return nil
	}
	var errs []error
	for _, statement := range w.prepared {
		errs = append(errs, statement.Close())
	}
	return errors.Join(append(errs, w.conn.Close())...)
}

func (w *writing) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	if statement := w.prepared[query]; statement != nil {
		return statement, nil
	}
	statement, err := w.conn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	w.prepared[query] = statement
	return statement, nil
}

// ExecContext implements [executor].
func (w *writing) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	statement, err := w.statement(ctx, query) //nolint:sqlclosecheck // closed with the connection
	if err != nil {
		return nil, err
	}
	return statement.ExecContext(ctx, args...)
}

// QueryContext implements [executor].
func (w *writing) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	statement, err := w.statement(ctx, query) //nolint:sqlclosecheck // closed with the connection
	if err != nil {
		return nil, err
	}
	return statement.QueryContext(ctx, args...)
}

// QueryRowContext implements [executor].
func (w *writing) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	statement, err := w.statement(ctx, query) //nolint:sqlclosecheck // closed with the connection
	if err != nil {
		return w.conn.QueryRowContext(ctx, query, args...) // which reports the fault
	}
	return statement.QueryRowContext(ctx, args...)
}
