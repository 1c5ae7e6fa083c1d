// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cairnstacks/cairn/internal/postgres"
)

// postgresTransaction is a transaction on a connection of its own. Statements without results are
// sent with the next that has some, or with the end: over a network, each wait for an answer costs
// as much as many statements.
type postgresTransaction struct {
	conn   *sql.Conn
	found  string // result of the last statement with which it was begun, as text
	writes bool

	pending *pgx.Batch
	failed  error // of statements whose failure their caller was not told of
}

var _ executor = (*postgresTransaction)(nil)

// within runs fn in a transaction. It reports whether the transaction may have been committed,
// which also an error leaves open if the connection was lost at that moment.
func (s *postgresStore) within(
	ctx context.Context, pool *sql.DB, beginning string, fn func(*postgresTransaction) error,
) (maybeCommitted bool, err error) {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Close() //nolint:errcheck // It goes back to the pool, which closes it if it is broken.
	found, err := simply(ctx, conn, beginning)
	if err != nil {
		abandon(ctx, conn)
		return false, err
	}
	s.server.reach.Reached()
	tx := &postgresTransaction{conn: conn, found: found, pending: &pgx.Batch{}}
	err = fn(tx)
	if tx.failed != nil {
		err = tx.failed
	}
	if err != nil {
		abandon(ctx, conn)
		return false, err
	}
	if err := tx.commit(ctx); err != nil {
		abandon(ctx, conn)
		return true, err
	}
	return true, nil
}

// simply sends statements without parameters together. It returns the first column of the last row
// of the last of them, "" for none.
func simply(ctx context.Context, conn *sql.Conn, statements string) (found string, err error) {
	err = postgres.Raw(conn, func(c *pgx.Conn) error {
		results, err := c.PgConn().Exec(ctx, statements).ReadAll()
		if err == nil && len(results) > 0 {
			for _, row := range results[len(results)-1].Rows {
				found = string(row[0])
			}
		}
		return err
	})
	return found, err
}

// abandonTime is how long the end of a failed transaction is waited for at most.
const abandonTime = 5 * time.Second

// abandon ends a transaction that has failed. A connection on which that fails is closed, with
// which the server ends the transaction.
func abandon(ctx context.Context, conn *sql.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonTime)
	defer cancel()
	if _, err := simply(ctx, conn, `ROLLBACK`); err != nil {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn }) //nolint:errcheck // It has it closed.
	}
}

// queue adds a statement without a result.
func (t *postgresTransaction) queue(query string, args ...any) { t.pending.Queue(query, args...) }

// ExecContext implements [executor]. A failure is told by a later call, or by the end of the
// transaction.
func (t *postgresTransaction) ExecContext(_ context.Context, query string, args ...any) (sql.Result, error) {
	t.queue(postgresQuery(query, t.writes), args...)
	return driver.ResultNoRows, nil
}

// QueryContext implements [executor].
func (t *postgresTransaction) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := t.send(ctx); err != nil {
		return nil, err
	}
	return t.conn.QueryContext(ctx, postgresQuery(query, t.writes), args...)
}

// QueryRowContext implements [executor].
func (t *postgresTransaction) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if err := t.send(ctx); err != nil {
		// A row cannot be made from an error.
		t.failed = err
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		cancel()
	}
	return t.conn.QueryRowContext(ctx, postgresQuery(query, t.writes), args...)
}

// send sends the statements that wait, and returns the first failure.
func (t *postgresTransaction) send(ctx context.Context) error {
	_, err := t.sendAll(ctx)
	return err
}

// commit sends the statements that wait and commits. A transaction that has failed answers that it
// was rolled back, which is no failure of the statement.
func (t *postgresTransaction) commit(ctx context.Context) error {
	t.queue(`COMMIT`)
	answer, err := t.sendAll(ctx)
	if err == nil && answer != "COMMIT" {
		err = fmt.Errorf("the transaction was not committed: %s", answer)
	}
	return err
}

// sendAll is send. It returns the answer to the last statement.
func (t *postgresTransaction) sendAll(ctx context.Context) (answer string, err error) {
	if t.pending.Len() == 0 {
		return "", nil
	}
	batch := t.pending
	t.pending = &pgx.Batch{}
	err = postgres.Raw(t.conn, func(c *pgx.Conn) error {
		results := c.SendBatch(ctx, batch)
		for range batch.Len() {
			tag, err := results.Exec()
			if err != nil {
				return errors.Join(err, results.Close())
			}
			answer = tag.String()
		}
		return results.Close()
	})
	return answer, err
}
