// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package database

import (
	"fmt"

	"github.com/blang/semver/v4"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
	"go.temporal.io/server/common/persistence/sql"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	"go.temporal.io/server/common/resolver"
	"go.temporal.io/server/tools/common/schema"
)

// target is the schema that a database should have.
type target struct {
	files   string // the folder in the module of Temporal; empty if it has no upgrades
	version string
}

// tables is a database as the schema tool of Temporal wants it. The name is that under which the
// version is recorded, since the path of a file changes when it is moved.
type tables struct {
	sqlplugin.AdminDB
	name string
}

var _ schema.DB = (*tables)(nil)

func openTables(cfg *config.SQL, name string, logger log.Logger) (*tables, error) {
	db, err := sql.NewSQLAdminDB(sqlplugin.DbKindUnknown, cfg, resolver.NewNoopResolver(), logger, metrics.NoopMetricsHandler)
	if err != nil {
		return nil, err
	}
	return &tables{db, name}, nil
}

func (t *tables) DropAllTables() error { return t.AdminDB.DropAllTables(t.name) }

func (t *tables) ReadSchemaVersion() (string, error) { return t.AdminDB.ReadSchemaVersion(t.name) }

func (t *tables) UpdateSchemaVersion(version, minimum string) error {
	return t.AdminDB.UpdateSchemaVersion(t.name, version, minimum)
}

func (t *tables) Close() { _ = t.AdminDB.Close() } //nolint:errcheck // Every statement was its own transaction.

func (t *tables) Type() string { return "sql" }

// upgrade brings a database that has a schema to the wanted version. It leaves one of a newer
// program as it is: whether this program can use it is checked when the server starts.
func (t *tables) upgrade(to target, logger log.Logger) error {
	recorded, err := t.ReadSchemaVersion()
	if err != nil {
		return err
	}
	have, err := semver.ParseTolerant(recorded)
	if err != nil {
		return err
	}
	want, err := semver.ParseTolerant(to.version)
	if err != nil || have.GE(want) {
		return err
	}
	if to.files == "" {
		return fmt.Errorf("the schema has version %s, this program needs %s, and there is no upgrade; use a new database", recorded, to.version)
	}
	return schema.NewUpdateSchemaTask(t, &schema.UpdateConfig{SchemaName: to.files, TargetVersion: to.version}, logger).Run()
}
