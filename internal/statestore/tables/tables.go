// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package tables keeps states in the tables of a database: an SQLite file, or a schema in
// PostgreSQL.
package tables

import (
	"context"
	"database/sql"
	"time"
)

// tableStore is a [statestore.Store] in the tables of a database, but for closing that.
type tableStore struct{ database }

// database is where the tables of a [tableStore] are.
type database interface {
	// location names it in errors.
	location() string

	// exists reports whether there are tables, and fails if there cannot be any.
	exists(ctx context.Context) (bool, error)

	// create makes the tables if there are none (rule S7).
	create(ctx context.Context) error

	// read runs a function in a transaction that sees one version of the tables. Where there are none,
	// it is not called; where the connection is lost, it is called again, and begins anew.
	read(ctx context.Context, fn func(*transaction) error) error

	// write runs a function in a transaction that no other writer overlaps. It does not stop when ctx
	// ends: the changes must not be lost to an interrupt.
	write(ctx context.Context, fn func(context.Context, *transaction) error) error

	// clock returns the time in the database where locks have leases, the zero time where they have
	// none. The clocks of the machines that have locks are never compared.
	clock(ctx context.Context, tx *transaction) (time.Time, error)

	// ended is closed with the store, and may be nil where locks have no leases.
	ended() <-chan struct{}

	// writeInTurn is write for a caller that has put an element into turn, which has room for one:
	// goroutines that write queue there.
	writeInTurn(ctx context.Context, fn func(context.Context, *transaction) error) error
	turn() chan struct{}

	// checkStructure has the database verify its own structures. Those whose names end with Once need
	// not repeat a check that has found nothing.
	checkStructure(ctx context.Context, tx *transaction) error
	checkStructureOnce(ctx context.Context, tx *transaction) error
	checkOnce(ctx context.Context, tx *transaction) error

	// newest returns the newest values of the records that changes are for, by key, without those that
	// were never stored. The keys are those of the changes, sorted, as indexes are.
	newest(ctx context.Context, tx *transaction, deployment string, keys []string, changes map[string][]byte) (map[string]*newest, error)

	// changeRows makes changes to rows of records.
	changeRows(ctx context.Context, tx *transaction, deployment string, serial int64, rows *rowChanges) error

	// corrupt returns the error about damage. The cause may be nil.
	corrupt(what string, cause error) error

	// reserve keeps space back for the changes of the holder of a lock, if that is wanted. Nil keeps
	// none.
	reserve(ctx context.Context, lockID string, wanted bool) (*reserve, error)
}

// transaction is a transaction in tables whose format is known.
type transaction struct {
	executor
	version int64       // of the format
	found   fileVersion // if it writes

	// again reports whether the same function was called before, in a transaction of which nobody
	// knows whether it was committed: the connection was lost at that moment. Its changes may be
	// there.
	again bool
}

// settle waits until the statements so far are done, which later ones may need to be understood.
func (t *transaction) settle(ctx context.Context) error {
	var one int
	return t.QueryRowContext(ctx, `SELECT 1`).Scan(&one)
}

// sealed reports whether there are seals.
func (t *transaction) sealed() bool { return t.version > 1 }

// executor runs statements within a transaction.
type executor interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}
