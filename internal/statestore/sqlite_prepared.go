// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statestore

import (
	"context"
	"database/sql"
)

// frequent are the statements of which each write runs several. Parsing them costs more than what they do.
var frequent = []string{
	selectSchema, selectDeployment, selectLock, touchLock, selectVersion, countVersion, selectSeal, putSeal,
	selectRecord, insertRecord, endRecord, removeRecord, replaceRecord, countEnded,
}

// prepared are frequent statements by their text, for all connections to a file. Nil has none.
type prepared map[string]*sql.Stmt

// prepare returns the prepared statements of db. In a file of an older format there are tables missing for them; then there are none until that is brought into the
// present one. The caller has the turn.
func (s *sqliteStore) prepare(ctx context.Context, db *sql.DB) prepared {
	if s.prepared.db == db {
		return s.prepared.statements
	}
	statements := prepared{}
	for _, text := range frequent {
		statement, err := db.PrepareContext(ctx, text)
		if err != nil {
			statements.close()
			return nil
		}
		statements[text] = statement
	}
	s.prepared.db, s.prepared.statements = db, statements
	return statements
}

func (p prepared) close() {
	for _, statement := range p {
		_ = statement.Close() //nolint:errcheck // nothing depends on it
	}
}

// ExecContext is that of [sql.Tx].
func (t *transaction) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if statement := t.prepared[query]; statement != nil {
		return t.StmtContext(ctx, statement).ExecContext(ctx, args...)
	}
	return t.Tx.ExecContext(ctx, query, args...)
}

// QueryRowContext is that of [sql.Tx].
func (t *transaction) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if statement := t.prepared[query]; statement != nil {
		return t.StmtContext(ctx, statement).QueryRowContext(ctx, args...)
	}
	return t.Tx.QueryRowContext(ctx, query, args...)
}
