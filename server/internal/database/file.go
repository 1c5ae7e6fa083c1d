// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package database

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	sqliteschema "go.temporal.io/server/schema/sqlite"
)

// The schemas of a file, by the names under which their versions are recorded.
var fileSchemas = map[string]target{
	"temporal":   {files: "sqlite/v3/temporal", version: sqliteschema.Version},
	"visibility": {version: sqliteschema.VisibilityVersion},
}

func openFile(location string, logger log.Logger) (*Database, error) {
	path, err := filepath.Abs(location)
	if err != nil {
		return nil, err
	}
	// SQLite gives its other files the mode of this one.
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the folder of the database %s does not exist; create it first", path)
	} else if err != nil {
		return nil, err
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	cfg := &config.SQL{
		PluginName:   sqlite.PluginName,
		DatabaseName: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath(),
		ConnectAttributes: map[string]string{
			"mode": "rw",
			// A task that a client was told of must survive a power cut, too.
			"synchronous":  "full",
			"journal_mode": "wal",
			// The one connection of the process keeps the lock until it ends, however it ends.
			"locking_mode": "exclusive",
		},
	}
	if err := prepareFile(cfg, logger); err != nil {
		if strings.Contains(err.Error(), "database is locked") { // the driver's error has no type that the plugin keeps
			return nil, &InUseError{Name: path}
		}
		return nil, fmt.Errorf("opening the database %s: %w", path, err)
	}
	return &Database{Persistence: stores(cfg, cfg, 1), Name: path}, nil
}

func prepareFile(cfg *config.SQL, logger log.Logger) error {
	db, err := openTables(cfg, "temporal", logger)
	if err != nil {
		return err
	}
	defer db.Close()
	names, err := db.ListTables("")
	if err != nil {
		return err
	}
	switch {
	case len(names) == 0:
		return createFile(db)
	case !slices.Contains(names, "schema_version") || !slices.Contains(names, "current_executions"):
		return ErrForeign
	}
	for name, to := range fileSchemas {
		db.name = name
		if err := db.upgrade(to, logger); err != nil {
			return err
		}
	}
	return nil
}

// createFile creates all tables in one transaction: a process that is killed leaves an empty
// database.
func createFile(db *tables) error {
	// Statements are of the same transaction because the plugin has one connection.
	if err := db.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := errors.Join(sqliteschema.SetupSchemaOnDB(db.AdminDB), db.CreateSchemaVersionTables())
	for name, to := range fileSchemas {
		db.name = name
		err = errors.Join(err, db.UpdateSchemaVersion(to.version, to.version))
	}
	if err != nil {
		return errors.Join(err, db.Exec("ROLLBACK"))
	}
	return db.Exec("COMMIT")
}
