// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package database opens the databases in which a server of Temporal keeps its data, and creates or
// upgrades their schemas from the files that the module of Temporal embeds.
//
// A location is one of:
//
//	memory              SQLite in memory, gone with the process
//	postgres://…        PostgreSQL: the named database, and another one with the suffix _visibility
//	PATH                a file of SQLite
//
// Rules:
//
//	D1. A file or a PostgreSQL database serves one process at a time: a second one gets [*InUseError].
//	D2. What was not made by this package is not changed, apart from empty databases.
//	D3. Errors have no passwords in them.
package database

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
)

// Memory is the location of a database that ends with the process.
const Memory = "memory"

// Database is an open database.
type Database struct {
	// Persistence is the configuration of the server's stores.
	Persistence config.Persistence

	// Name describes the database to people, without a password.
	Name string

	close func(context.Context) error
}

// InUseError says that another process uses the database.
type InUseError struct {
	Name string
}

func (e *InUseError) Error() string {
	return e.Name + " is in use by another cairn-server"
}

// ErrForeign is why a database is left alone.
var ErrForeign = errors.New("it has tables of another program")

// Open opens a database and brings its schema to the version of this program.
//
// Errors:
//   - [*InUseError]: another process uses it.
//   - [ErrForeign]: it belongs to another program.
func Open(ctx context.Context, location string, logger log.Logger) (*Database, error) {
	switch {
	case location == Memory:
		return openMemory(), nil
	case strings.HasPrefix(location, "postgres://"), strings.HasPrefix(location, "postgresql://"):
		return openPostgres(ctx, location, logger)
	default:
		return openFile(location, logger)
	}
}

// Close gives back the right to use the database. The server must have stopped.
func (d *Database) Close(ctx context.Context) error {
	if d.close == nil {
		return nil
	}
	return d.close(ctx)
}

func openMemory() *Database {
	sql := &config.SQL{
		PluginName:        sqlite.PluginName,
		DatabaseName:      fmt.Sprintf("cairn-server-%d", rand.Uint64()), //nolint:gosec // only tells servers of one process apart
		ConnectAttributes: map[string]string{"mode": "memory", "cache": "shared"},
	}
	return &Database{Persistence: stores(sql, sql, 1), Name: "memory"}
}

// stores returns the configuration of the two stores. The number of shards of a database can never
// change.
func stores(primary, visibility *config.SQL, shards int32) config.Persistence {
	return config.Persistence{
		DefaultStore:     "default",
		VisibilityStore:  "visibility",
		NumHistoryShards: shards,
		DataStores: map[string]config.DataStore{
			"default":    {SQL: primary},
			"visibility": {SQL: visibility},
		},
	}
}
