// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package records

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/cairnstacks/cairn/internal/postgres"
	"github.com/cairnstacks/cairn/internal/statestore"
)

// postgresStore has a record in a row of a table.
type postgresStore struct {
	address  postgres.Address
	table    string // with its schema, quoted
	patience *statestore.Patience
	pool     *sql.DB
}

// table is the name of the table. Stores of states in the same schema do not look at tables of
// names that begin with it.
const table = postgres.RecordsTable

func openPostgres(location string, away func(statestore.Outage)) (*postgresStore, error) {
	address, err := postgres.Parse(location)
	if err == nil && address.Schema == "" {
		err = errors.New("it names no schema")
	}
	if err != nil {
		return nil, unusable(address.Shown, err)
	}
	return &postgresStore{
		address: address,
		table:   pgx.Identifier{address.Schema, table}.Sanitize(),
		patience: &statestore.Patience{
			Server: &statestore.Reach{}, Location: address.Shown, AtMost: statestore.UsualPatience, Away: away,
			IsLost: postgres.IsLost, Reason: postgres.ConnectionReason,
		},
		pool: postgres.OpenPool(address.Config),
	}, nil
}

// request runs a function, again while the server is away. Where there is no table it returns
// false, and no error.
func (s *postgresStore) request(ctx context.Context, do func() error) (hasTable bool, err error) {
	err = s.patience.Call(ctx, func() error {
		err := do()
		if err == nil || !postgres.IsLost(err) {
			s.patience.Server.Reached()
		}
		return err
	}, postgres.IsConflict)
	if err != nil && postgres.IsMissingTable(err) {
		return false, nil
	}
	return true, explain(s.address.Explain(ctx, err))
}

// settings have a commit wait for the disk where the server is set up not to (rule K2), and nobody
// wait forever for another transaction.
const settings = `SELECT set_config('lock_timeout', '90s', true),
	CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', true) END`

// Put implements [Store].
func (s *postgresStore) Put(ctx context.Context, name string, content []byte) error {
	if err := checkName(name); err != nil {
		return err
	}
	if content == nil {
		content = []byte{} // which is not null
	}
	written, hasTable, err := s.insert(ctx, name, content)
	if err == nil && !hasTable {
		if err := s.create(ctx); err != nil {
			return err
		}
		if written, hasTable, err = s.insert(ctx, name, content); err == nil && !hasTable {
			return &Error{
				s.address.Shown, statestore.ProblemReplaced, "was removed while it was in use", "start a new run", nil,
			}
		}
	}
	if err != nil || written {
		return err
	}
	return compare(ctx, s, name, content)
}

// insert adds a row unless there is one of that name.
func (s *postgresStore) insert(ctx context.Context, name string, content []byte) (written, hasTable bool, err error) {
	hasTable, err = s.request(ctx, func() error {
		conn, err := s.pool.Conn(ctx)
		if err != nil {
			return err
		}
		defer conn.Close() //nolint:errcheck // It goes back to the pool, which closes it if it is broken.
		return postgres.Raw(conn, func(c *pgx.Conn) error {
			batch := &pgx.Batch{} // which is one transaction
			batch.Queue(settings)
			batch.Queue(`INSERT INTO `+s.table+` (name, content) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`, name, content)
			results := c.SendBatch(ctx, batch)
			_, err := results.Exec()
			if err == nil {
				tag, insertErr := results.Exec()
				written, err = tag.RowsAffected() > 0, insertErr
			}
			return errors.Join(err, results.Close())
		})
	})
	return written, hasTable, err
}

// create makes the table, and the schema if there is none, unless somebody else does.
func (s *postgresStore) create(ctx context.Context) error {
	return explain(s.address.Explain(ctx, s.patience.Call(ctx, func() error {
		tx, err := s.pool.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() //nolint:errcheck // It is committed, or has failed already.
		var schemas, tables int
		// Others that make the table wait here, and find it made.
		if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, s.table); err != nil {
			return err
		}
		err = tx.QueryRowContext(ctx, `SELECT
			(SELECT COUNT(*) FROM pg_namespace WHERE nspname = $1),
			(SELECT COUNT(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = $2)`,
			s.address.Schema, table).Scan(&schemas, &tables)
		if err != nil || tables > 0 {
			return err
		}
		if schemas == 0 { // else an administrator has made it, for a user that may make none
			if _, err := tx.ExecContext(ctx, `CREATE SCHEMA `+pgx.Identifier{s.address.Schema}.Sanitize()); err != nil {
				return err
			}
		}
		// The order of names is that of their bytes, as everywhere.
		_, err = tx.ExecContext(ctx, `CREATE TABLE `+s.table+
			` (name text COLLATE "C" PRIMARY KEY, content bytea NOT NULL, written timestamptz NOT NULL DEFAULT now())`)
		if err != nil {
			return err
		}
		return tx.Commit()
	}, postgres.IsConflict)))
}

// Get implements [Store].
func (s *postgresStore) Get(ctx context.Context, name string) (content []byte, err error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	hasTable, err := s.request(ctx, func() error {
		return s.pool.QueryRowContext(ctx, `SELECT content FROM `+s.table+` WHERE name = $1`, name).Scan(&content)
	})
	if !hasTable || errors.Is(err, sql.ErrNoRows) {
		return nil, ofRecord(name, ErrMissing)
	}
	return content, err
}

// GetAll implements [Store].
func (s *postgresStore) GetAll(ctx context.Context, names []string) ([][]byte, error) {
	for _, name := range names {
		if err := checkName(name); err != nil {
			return nil, err
		}
	}
	var found map[string][]byte
	_, err := s.request(ctx, func() error {
		found = make(map[string][]byte, len(names))
		rows, err := s.pool.QueryContext(ctx, `SELECT name, content FROM `+s.table+` WHERE name = ANY($1)`, names)
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // Its error is that of the rows.
		for rows.Next() {
			var name string
			var content []byte
			if err := rows.Scan(&name, &content); err != nil {
				return err
			}
			found[name] = content
		}
		return rows.Err()
	})
	if err != nil {
		return nil, err
	}
	contents := make([][]byte, len(names))
	for i, name := range names {
		content, ok := found[name]
		if !ok {
			return nil, ofRecord(name, ErrMissing)
		}
		contents[i] = content
	}
	return contents, nil
}

// within is the condition of names that begin with a prefix: the slash at its end is followed by
// the digit 0.
const within = ` WHERE name >= $1 AND name < $2`

func bounds(prefix string) (from, to string) { return prefix, prefix[:len(prefix)-1] + "0" }

// List implements [Store].
func (s *postgresStore) List(ctx context.Context, prefix string) (names []string, err error) {
	if err := checkPrefix(prefix); err != nil {
		return nil, err
	}
	from, to := bounds(prefix)
	_, err = s.request(ctx, func() error {
		names = nil
		rows, err := s.pool.QueryContext(ctx, `SELECT name FROM `+s.table+within+` ORDER BY name`, from, to)
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // Its error is that of the rows.
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			names = append(names, name)
		}
		return rows.Err()
	})
	return names, err
}

// Remove implements [Store].
func (s *postgresStore) Remove(ctx context.Context, prefix string) error {
	if err := checkPrefix(prefix); err != nil {
		return err
	}
	from, to := bounds(prefix)
	_, err := s.request(ctx, func() error {
		_, err := s.pool.ExecContext(ctx, `DELETE FROM `+s.table+within, from, to)
		return err
	})
	return err
}

// Close implements [Store].
func (s *postgresStore) Close() error { return s.pool.Close() }
