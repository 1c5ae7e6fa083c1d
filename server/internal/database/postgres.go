// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package database

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/iancoleman/strcase"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jmoiron/sqlx"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/postgresql"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/postgresql/driver"
	postgresschema "go.temporal.io/server/schema/postgresql/v12"
	"go.temporal.io/server/tools/common/schema"
)

const (
	// postgresShards is how many parts of the data are written at the same time.
	postgresShards = 4

	// postgresConnections is the limit of each of the two stores and four services.
	postgresConnections = 10

	// lockKey is the key of the advisory lock of a server: "cairn" and a number.
	lockKey = 0x636169726e_01

	// lockPatience is how long the session of a server that was killed may take to end.
	lockPatience = 5 * time.Second
)

// Codes of PostgreSQL.
const (
	codeNoDatabase        = "3D000"
	codeDuplicateDatabase = "42P04"
	codeNotAllowed        = "42501"
	codeNoTable           = "42P01"
	codeNoSetting         = "42704"
)

// postgres is a PostgreSQL server, by the URL that a user gave.
type postgres struct {
	location url.URL
	name     string // of the main database
	user     string
}

func openPostgres(ctx context.Context, location string, logger log.Logger) (*Database, error) {
	p, err := parsePostgres(location)
	if err != nil {
		return nil, err
	}
	main, visibility := p.name, p.name+"_visibility"
	for _, name := range []string{main, visibility} {
		if err := p.createDatabase(ctx, name); err != nil {
			return nil, err
		}
	}
	lock, err := p.lock(ctx, main)
	if err != nil {
		return nil, err
	}
	mainStore, visibilityStore := p.store(main), p.store(visibility)
	err = errors.Join(
		preparePostgres(mainStore, target{"postgresql/v12/temporal", postgresschema.Version}, logger),
		preparePostgres(visibilityStore, target{"postgresql/v12/visibility", postgresschema.VisibilityVersion}, logger),
	)
	if err != nil {
		return nil, errors.Join(err, lock.Close(ctx))
	}
	return &Database{
		Persistence: stores(mainStore, visibilityStore, postgresShards),
		Name:        p.describe(main),
		close:       lock.Close,
	}, nil
}

func parsePostgres(location string) (*postgres, error) {
	parsed, err := url.Parse(location)
	if err != nil {
		if invalid, ok := errors.AsType[*url.Error](err); ok {
			err = invalid.Err // without the URL, which may have a password
		}
		return nil, fmt.Errorf("the location of the database is not a URL of PostgreSQL: %w", err)
	}
	name := strings.Trim(parsed.Path, "/")
	if name == "" {
		return nil, errors.New("the URL of PostgreSQL names no database; write postgres://HOST/DATABASE")
	}
	p := &postgres{location: *parsed, name: name}
	cfg, err := pgx.ParseConfig(p.url(name))
	if err != nil {
		return nil, errors.New("the location of the database is not a URL of PostgreSQL: its options, or files that they name, are wrong")
	}
	p.user = cfg.User
	return p, nil
}

// url returns the URL of a database.
func (p *postgres) url(database string) string {
	u := p.location
	u.Path, u.RawPath = "/"+database, ""
	return u.String()
}

// describe names a database without a password.
func (p *postgres) describe(database string) string {
	return "PostgreSQL database " + database + " at " + p.location.Host
}

// connect opens a connection of our own. The address is in the errors of pgx, a password is not.
func (p *postgres) connect(ctx context.Context, database string) (*pgx.Conn, error) {
	conn, err := pgx.Connect(ctx, p.url(database))
	if err != nil {
		return nil, fmt.Errorf("connecting to the %s: %w", p.describe(database), err)
	}
	return conn, nil
}

func (p *postgres) createDatabase(ctx context.Context, name string) error {
	conn, err := p.connect(ctx, name)
	if err == nil {
		return conn.Close(ctx)
	}
	if code(err) != codeNoDatabase {
		return err
	}
	statement := "CREATE DATABASE " + pgx.Identifier{name}.Sanitize()
	conn, err = p.connect(ctx, "postgres")
	if err == nil {
		_, err = conn.Exec(ctx, statement)
		err = errors.Join(err, conn.Close(ctx))
	}
	switch code(err) {
	case codeDuplicateDatabase:
		return nil
	case codeNotAllowed, codeNoDatabase:
		return fmt.Errorf("the %s does not exist, and the user %s may not create it; have an administrator run: %s OWNER %s",
			p.describe(name), p.user, statement, pgx.Identifier{p.user}.Sanitize())
	}
	return err
}

// lock takes the advisory lock of the server, which is held until the connection is closed.
func (p *postgres) lock(ctx context.Context, database string) (*pgx.Conn, error) {
	conn, err := p.connect(ctx, database)
	if err != nil {
		return nil, err
	}
	// The server must notice within a minute that the machine with the lock is gone.
	_, err = conn.Exec(ctx, "SET tcp_keepalives_idle = 20; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3")
	if err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	if _, err = conn.Exec(ctx, "SET idle_session_timeout = 0"); err != nil && code(err) != codeNoSetting { // which PostgreSQL 13 lacks
		return nil, errors.Join(err, conn.Close(ctx))
	}
	for deadline := time.Now().Add(lockPatience); ; {
		var locked bool
		if err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", lockKey).Scan(&locked); err != nil {
			return nil, errors.Join(err, conn.Close(ctx))
		}
		if locked {
			return conn, nil
		}
		if time.Now().After(deadline) {
			return nil, errors.Join(&InUseError{Name: p.describe(database)}, conn.Close(ctx))
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), conn.Close(context.WithoutCancel(ctx)))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// store returns the configuration of a store. It connects by itself, since the plugin does not
// escape all parts of its URL.
func (p *postgres) store(database string) *config.SQL {
	location := p.url(database)
	return &config.SQL{
		PluginName:      postgresql.PluginNamePGX,
		DatabaseName:    database,
		ConnectAddr:     p.location.Host,
		ConnectProtocol: "tcp",
		Connect: func(*config.SQL) (*sqlx.DB, error) {
			db, err := (&driver.PGXDriver{}).CreateConnection(location)
			if err != nil {
				return nil, err
			}
			db.SetMaxOpenConns(postgresConnections)
			db.SetMaxIdleConns(postgresConnections)
			db.MapperFunc(strcase.ToSnake) // as the plugin maps fields to columns
			return db, nil
		},
	}
}

func preparePostgres(cfg *config.SQL, to target, logger log.Logger) error {
	db, err := openTables(cfg, cfg.DatabaseName, logger)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ReadSchemaVersion()
	if code(err) == codeNoTable {
		err = beginPostgres(db, logger)
	}
	if err == nil {
		err = db.upgrade(to, logger)
	}
	if err != nil {
		return fmt.Errorf("preparing the schema of the PostgreSQL database %s: %w", cfg.DatabaseName, err)
	}
	return nil
}

// beginPostgres gives an empty database the version 0, from which upgrades create all tables. They
// can be done again where they were cut off.
func beginPostgres(db *tables, logger log.Logger) error {
	names, err := db.ListTables(db.name)
	if err != nil {
		return err
	}
	if len(names) > 0 {
		return ErrForeign
	}
	return schema.NewSetupSchemaTask(db, &schema.SetupConfig{InitialVersion: "0.0"}, logger).Run()
}

// code returns the code of an error of PostgreSQL, "" for all others.
func code(err error) string {
	if failed, ok := errors.AsType[*pgconn.PgError](err); ok {
		return failed.Code
	}
	return ""
}
