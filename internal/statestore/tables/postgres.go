// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cairnstacks/cairn/internal/postgres"
	"github.com/cairnstacks/cairn/internal/statestore"
)

// postgresStore is a [statestore.Store] in one schema of a PostgreSQL database.
//
// A transaction that writes locks the row of its deployment before it reads anything else of it, so
// that writers of one deployment queue in the server, and those of several do not. A transaction
// that only reads sees one version of all tables.
type postgresStore struct {
	tableStore
	postgres.Address

	patience *statestore.Patience

	queue  chan struct{} // held while writing, so that changes that wait go in one transaction
	server *postgresServer
	closed chan struct{} // is closed with the store
}

var (
	_ statestore.Store = (*postgresStore)(nil)
	_ database         = (*postgresStore)(nil)
)

// newPostgresStore returns the store at a URL as of libpq, whose parameter schema names the schema
// with the tables. Nothing is connected to yet.
func newPostgresStore(location string, shared *Shared, opts statestore.Options) (*postgresStore, error) {
	s := &postgresStore{queue: make(chan struct{}, 1)}
	s.tableStore, s.closed = tableStore{s}, make(chan struct{})
	var err error
	s.Address, err = postgres.Parse(location)
	if err == nil && s.Schema == "" {
		err = errors.New("it names no schema")
	}
	if err != nil {
		return nil, s.unusableURL(err)
	}
	config := s.Config
	atMost := statestore.UsualPatience
	if opts.Traceless { // for whoever peeks, such as an editor, shows something else then
		atMost = 0
		if config.ConnectTimeout == 0 {
			config.ConnectTimeout = peekingTime
		}
	}
	s.server = shared.server(s.Address.Server, config)
	s.patience = &statestore.Patience{
		Server: s.server.reach, Location: s.Shown, AtMost: atMost, Away: opts.Away, IsLost: postgres.IsLost, Reason: postgres.ConnectionReason,
	}
	return s, nil
}

func (s *postgresStore) unusableURL(cause error) error {
	return s.Fault(statestore.ProblemURL, "cannot be opened",
		"give postgres://USER@HOST:PORT/DATABASE?schema=NAME, whose parts may be missing as with psql, but for the schema", cause)
}

func (s *postgresStore) location() string { return s.Shown }

// corrupt implements [database].
func (s *postgresStore) corrupt(what string, cause error) error { return s.Corrupt(what, cause) }

func (s *postgresStore) turn() chan struct{} { return s.queue }

// ended implements [database].
func (s *postgresStore) ended() <-chan struct{} { return s.closed }

func (s *postgresStore) isClosed() bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}

// Close implements [statestore.Store].
func (s *postgresStore) Close() error {
	s.queue <- struct{}{}
	defer func() { <-s.queue }()
	if s.isClosed() {
		return nil
	}
	close(s.closed)
	return s.server.leave()
}

// exists implements [database].
func (s *postgresStore) exists(ctx context.Context) (bool, error) {
	exists := false
	err := s.read(ctx, func(*transaction) error {
		exists = true
		return nil
	})
	return exists, err
}

// create implements [database].
func (s *postgresStore) create(ctx context.Context) error {
	if exists, err := s.exists(ctx); err != nil || exists {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	begin := s.beginning("ISOLATION LEVEL READ COMMITTED")
	return s.patiently(ctx, func(bool) (bool, error) {
		return s.within(ctx, s.server.writing, begin, func(tx *postgresTransaction) error {
			// Others that make the tables wait here, and find them made.
			if _, err := tx.conn.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1)`, digest("cairn", s.Schema)); err != nil {
				return err
			}
			var schemas, tables int
			err := tx.QueryRowContext(ctx, `SELECT
				(SELECT COUNT(*) FROM pg_namespace WHERE nspname = $1), `+countTables, s.Schema).Scan(&schemas, &tables)
			if err != nil || tables > 0 {
				return err
			}
			statements := postgresTables()
			if schemas == 0 { // else an administrator has made it, for a user that may make none
				statements = append([]string{`CREATE SCHEMA ` + pgx.Identifier{s.Schema}.Sanitize()}, statements...)
			}
			_, err = simply(ctx, tx.conn, strings.Join(statements, ";\n"))
			return err
		})
	})
}

// countTables counts the tables and indexes of the schema $1, without those of others than state
// stores.
const countTables = `(SELECT COUNT(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
				WHERE n.nspname = $1 AND c.relname LIKE 'cairn\_%' AND NOT starts_with(c.relname, '` + postgres.RecordsTable + `'))`

// postgresTables are the statements of schema, with other indexes of records: PostgreSQL has no
// indexes of values of more than some 2 700 bytes, and keys may be longer.
func postgresTables() []string {
	var statements []string
	for _, statement := range schema {
		statement = strings.Replace(statement, ",\n\t\tPRIMARY KEY (deployment, state_key, valid_from)", "", 1)
		statements = append(statements, strings.Replace(statement, "(deployment, state_key)", "(deployment, sha256(state_key))", 1))
	}
	return append(statements, `CREATE UNIQUE INDEX cairn_record_valid ON cairn_record (deployment, sha256(state_key), valid_from)`,
		fmt.Sprintf(`INSERT INTO cairn_schema (version) VALUES (%d)`, schemaVersion))
}

// postgresQuery returns a statement as PostgreSQL runs it best.
func postgresQuery(query string, writes bool) string {
	if query == selectDeployment && writes {
		return query + ` FOR UPDATE`
	}
	return strings.Replace(query, "state_key = $2", "sha256(state_key) = sha256($2) AND state_key = $2", 1)
}

// read implements [database].
func (s *postgresStore) read(ctx context.Context, fn func(*transaction) error) error {
	if s.isClosed() {
		return statestore.ErrClosed
	}
	begin := s.beginning("ISOLATION LEVEL REPEATABLE READ, READ ONLY") + `; ` + selectSchema
	attempt := func() (version int64, err error) {
		begun := false
		_, err = s.within(ctx, s.server.reading, begin, func(tx *postgresTransaction) error {
			begun = true
			if version, err = s.checkVersion(ctx, tx); err != nil {
				return err
			}
			return fn(&transaction{executor: tx, version: version})
		})
		if !begun && postgres.IsMissingTable(err) {
			return schemaVersion, s.checkEmpty(ctx)
		}
		return version, err
	}
	return s.patiently(ctx, func(bool) (bool, error) {
		version, err := attempt()
		if version < schemaVersion && postgres.IsMissingTable(err) {
			// A table that an upgrade drops is missing at once, for transactions that were begun
			// before as well.
			_, err = attempt()
		}
		return false, err
	})
}

// checkEmpty fails if there are tables, as only tables that one may not use look as if they were
// missing.
func (s *postgresStore) checkEmpty(ctx context.Context) error {
	var tables int
	var usable bool
	err := s.server.reading.QueryRowContext(ctx, `SELECT `+countTables+`,
		NOT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1 AND NOT has_schema_privilege(oid, 'USAGE'))`, s.Schema).Scan(&tables, &usable)
	switch {
	case err != nil || tables == 0:
		return err
	case !usable:
		return s.NoPrivilege(nil)
	}
	return s.Corrupt("its table cairn_schema is missing", nil)
}

// checkVersion returns the version of the format, and fails if it is none that can be read.
func (s *postgresStore) checkVersion(ctx context.Context, tx *postgresTransaction) (int64, error) {
	found := tx.found
	switch version, err := strconv.ParseInt(found, 10, 64); {
	case isMoved(version):
		return 0, s.moved(ctx, tx)
	case found == "":
		return 0, s.corrupt("the version of its format is missing", nil)
	case err != nil || version < firstPostgresVersion:
		return 0, s.corrupt("its format has the impossible version "+found, nil)
	case version > schemaVersion:
		return 0, s.Fault(statestore.ProblemNewer, newerFormat(version), "use a newer cairn", nil)
	default:
		return version, nil
	}
}

// firstPostgresVersion is the first version of the format in which a cairn made tables here.
const firstPostgresVersion = 3

// write implements [database].
func (s *postgresStore) write(ctx context.Context, fn func(context.Context, *transaction) error) error {
	s.queue <- struct{}{}
	defer func() { <-s.queue }()
	return s.writeInTurn(ctx, fn)
}

// writeInTurn implements [database].
func (s *postgresStore) writeInTurn(ctx context.Context, fn func(context.Context, *transaction) error) error {
	if s.isClosed() {
		return statestore.ErrClosed
	}
	ctx = context.WithoutCancel(ctx)
	return s.patiently(ctx, func(again bool) (bool, error) {
		maybeCommitted, err := s.writeOnce(ctx, again, fn)
		if errors.Is(err, errFormerTables) {
			if err := s.upgrade(ctx); err != nil {
				return false, err
			}
			maybeCommitted, err = s.writeOnce(ctx, again, fn)
		}
		return maybeCommitted, err
	})
}

// writeOnce runs a function in a transaction. It returns errFormerTables, without having called it,
// where the tables have to be upgraded before.
func (s *postgresStore) writeOnce(
	ctx context.Context, again bool, fn func(context.Context, *transaction) error,
) (maybeCommitted bool, err error) {
	// Who changes the version waits for this transaction, and then it is seen by all others.
	begin := s.beginning("ISOLATION LEVEL READ COMMITTED") + `; ` + durably + `; ` + selectSchema + ` FOR SHARE`
	begun := false
	maybeCommitted, err = s.within(ctx, s.server.writing, begin, func(tx *postgresTransaction) error {
		begun = true
		version, err := s.checkVersion(ctx, tx)
		switch {
		case err != nil:
			return err
		case version < schemaVersion:
			return errFormerTables
		}
		tx.writes = true
		// No two transactions have found the same version.
		found := fileVersion{others: s.server.transactions.Add(1)}
		return fn(ctx, &transaction{executor: tx, version: version, found: found, again: again})
	})
	if !begun && postgres.IsMissingTable(err) {
		err = s.Fault(statestore.ProblemReplaced, "was removed while it was in use", "put its schema back and run the command again", nil)
	}
	return maybeCommitted, err
}

// patiently calls a function that runs a transaction, again after conflicts, and while the server
// is away. It tells the function whether a call before may have been committed.
func (s *postgresStore) patiently(ctx context.Context, attempt func(again bool) (maybeCommitted bool, err error)) error {
	again := false
	err := s.patience.Call(ctx, func() error {
		maybeCommitted, err := attempt(again)
		again = again || maybeCommitted && err != nil && postgres.IsLost(err)
		return err
	}, postgres.IsConflict)
	return s.Explain(ctx, err)
}

// durably has a commit wait for the disk where the server is set up not to (rule S1). Other
// settings, which may also wait for a standby, stay.
const durably = `SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'`

// beginning returns the statements that begin a transaction. Others wait for one that writes: it
// ends by itself if this machine stops in the middle, and nobody waits for longer than that.
func (s *postgresStore) beginning(mode string) string {
	return fmt.Sprintf(`BEGIN %s; SET LOCAL search_path TO %s; SET LOCAL lock_timeout TO '90s'; SET LOCAL idle_in_transaction_session_timeout TO '60s'`,
		mode, pgx.Identifier{s.Schema}.Sanitize())
}

// clock implements [database].
func (s *postgresStore) clock(ctx context.Context, tx *transaction) (time.Time, error) {
	var now int64
	err := tx.QueryRowContext(ctx, `SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::BIGINT`).Scan(&now)
	return time.UnixMicro(now).UTC(), err
}

// checkStructure implements [database]. The server makes sure of its own structures.
func (s *postgresStore) checkStructure(context.Context, *transaction) error { return nil }

// checkStructureOnce implements [database].
func (s *postgresStore) checkStructureOnce(context.Context, *transaction) error { return nil }

// checkOnce implements [database].
func (s *postgresStore) checkOnce(ctx context.Context, tx *transaction) error {
	checked := s.server.isChecked(s.Schema)
	if checked.Load() {
		return nil
	}
	check := func(tx *transaction) error { return s.checkAll(ctx, tx) }
	var err error
	if tx.executor.(*postgresTransaction).writes {
		err = s.read(ctx, check) // for each statement that writes may see another version of the tables
	} else {
		err = check(tx)
	}
	checked.Store(err == nil)
	return err
}

// reserve implements [database]. The space of the server is its own business.
func (s *postgresStore) reserve(context.Context, string, bool) (*reserve, error) {
	return nil, nil //nolint:nilnil // keeps none
}
