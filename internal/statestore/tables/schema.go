// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import "fmt"

// schemaVersion is the version of the tables below, stored in cairn_schema. Version 1 has no seals.
// In version 2 those of deployments do not cover their secrets, whose table may be missing. Up to
// version 3 a deployment has one lock, in the table cairn_lock. The first lock brings tables of a
// former version into the present one.
const schemaVersion = 5

// The versions of tables whose states have been moved. They have one more, cairn_moved, and nothing
// but its row is read, whatever the format of the others.
const (
	formerMovedVersion = 4
	movedVersion       = 6
)

// isMoved reports whether the states in tables of a version have been moved.
func isMoved(version int64) bool { return version == formerMovedVersion || version == movedVersion }

// newerFormat is the detail of [statestore.ProblemNewer].
func newerFormat(version int64) string {
	return fmt.Sprintf("was written by a newer cairn: its format is version %d, this cairn knows %d", version, schemaVersion)
}

// schema holds for SQLite and PostgreSQL alike, as do the statements that
// follow: BYTEA columns are given bytes only, which SQLite stores as they are;
// both know partial indexes and $1. Times are microseconds since 1970, UTC.
// Keys are bytes because nothing may ever make a record impossible to save, be
// it a NUL in an instance key.
//
// A deployment has a holder for each lock; parts is a JSON array of those that are locked, which is
// empty for the whole deployment.
//
// A lock's lease_until is for databases that several machines share; a file's
// lock has no lease (rule S4). Its seal does not cover it, so that it is renewed by one statement.
//
// A record is valid from the serial that wrote it up to, but not including, the
// one that replaced or deleted it: valid_to is null while it is current.
//
// A seal covers everything about one serial but the records' values, which have
// checksums of their own: records is the sum over those that are valid at its
// end. The seal of serial 0 covers the deployment itself, its locks and its secret.
//
// Existing files are compared with these statements, spaces aside, so none may
// change without a new version.
var schema = []string{
	`CREATE TABLE cairn_schema (
		version BIGINT NOT NULL
	)`,
	`CREATE TABLE cairn_deployment (
		name    TEXT   NOT NULL PRIMARY KEY,
		lineage TEXT   NOT NULL,
		serial  BIGINT NOT NULL,
		epoch   BIGINT NOT NULL
	)`,
	createHolders,
	`CREATE TABLE cairn_version (
		deployment TEXT   NOT NULL REFERENCES cairn_deployment (name),
		serial     BIGINT NOT NULL,
		operation  TEXT   NOT NULL,
		owner      TEXT   NOT NULL,
		host       TEXT   NOT NULL,
		started    BIGINT NOT NULL,
		finished   BIGINT,
		changed    BIGINT NOT NULL,
		total      BIGINT NOT NULL,
		PRIMARY KEY (deployment, serial)
	)`,
	`CREATE TABLE cairn_record (
		deployment TEXT   NOT NULL REFERENCES cairn_deployment (name),
		state_key  BYTEA  NOT NULL,
		valid_from BIGINT NOT NULL,
		valid_to   BIGINT,
		checksum   BIGINT NOT NULL,
		value      BYTEA  NOT NULL,
		PRIMARY KEY (deployment, state_key, valid_from)
	)`,
	`CREATE UNIQUE INDEX cairn_record_current ON cairn_record (deployment, state_key) WHERE valid_to IS NULL`,
	createSeals,
	createSecrets,
}

const createHolders = `CREATE TABLE cairn_holder (
		deployment    TEXT   NOT NULL REFERENCES cairn_deployment (name),
		id            TEXT   NOT NULL,
		epoch         BIGINT NOT NULL,
		parts         TEXT   NOT NULL,
		operation     TEXT   NOT NULL,
		owner         TEXT   NOT NULL,
		host          TEXT   NOT NULL,
		pid           BIGINT NOT NULL,
		process_scope TEXT   NOT NULL,
		process_start TEXT   NOT NULL,
		started       BIGINT NOT NULL,
		seen          BIGINT NOT NULL,
		lease_until   BIGINT,
		PRIMARY KEY (deployment, id)
	)`

const createSeals = `CREATE TABLE cairn_seal (
		deployment TEXT   NOT NULL REFERENCES cairn_deployment (name),
		serial     BIGINT NOT NULL,
		records    BIGINT NOT NULL,
		checksum   BIGINT NOT NULL,
		PRIMARY KEY (deployment, serial)
	)`

const createSecrets = `CREATE TABLE cairn_secret (
		deployment TEXT  NOT NULL PRIMARY KEY REFERENCES cairn_deployment (name),
		secret     BYTEA NOT NULL
	)`

const (
	createMoved = `CREATE TABLE cairn_moved (
		location TEXT   NOT NULL,
		moved    BIGINT NOT NULL
	)`
	insertMoved = `INSERT INTO cairn_moved (location, moved) VALUES ($1, $2)`
	selectMoved = `SELECT location, moved FROM cairn_moved`

	insertSchema = `INSERT INTO cairn_schema (version) VALUES ($1)`
	selectSchema = `SELECT version FROM cairn_schema`
	updateSchema = `UPDATE cairn_schema SET version = $1`

	insertDeployment  = `INSERT INTO cairn_deployment (name, lineage, serial, epoch) VALUES ($1, '', 0, 0)`
	updateEpoch       = `UPDATE cairn_deployment SET epoch = $2 WHERE name = $1`
	selectDeployment  = `SELECT lineage, serial, epoch FROM cairn_deployment WHERE name = $1`
	updateBase        = `UPDATE cairn_deployment SET lineage = $2, serial = $3 WHERE name = $1`
	selectDeployments = `SELECT name FROM cairn_deployment ORDER BY name`

	// A serial that is missing counts as unfinished, so that a reader of the state finds that.
	selectNewestSerials = `SELECT d.name, d.lineage, d.serial, v.finished IS NOT NULL
		FROM cairn_deployment d LEFT JOIN cairn_version v ON v.deployment = d.name AND v.serial = d.serial WHERE d.serial > 0`

	selectSeal = `SELECT records, checksum FROM cairn_seal WHERE deployment = $1 AND serial = $2`
	putSeal    = `INSERT INTO cairn_seal (deployment, serial, records, checksum) VALUES ($1, $2, $3, $4)
		ON CONFLICT (deployment, serial) DO UPDATE SET records = excluded.records, checksum = excluded.checksum`

	// Rows that belong to no deployment. Each kind of row is looked for in its own table.
	selectOrphans = `SELECT 'locks', deployment FROM cairn_holder WHERE deployment NOT IN (SELECT name FROM cairn_deployment)
		UNION SELECT 'history', deployment FROM cairn_version WHERE deployment NOT IN (SELECT name FROM cairn_deployment)
		UNION SELECT 'records', deployment FROM cairn_record WHERE deployment NOT IN (SELECT name FROM cairn_deployment)
		LIMIT 1`

	selectHolders = `SELECT id, epoch, parts, operation, owner, host, pid, process_scope, process_start, started, seen, lease_until
		FROM cairn_holder WHERE deployment = $1 ORDER BY epoch`
	selectLocked = `SELECT DISTINCT deployment FROM cairn_holder`
	insertHolder = `INSERT INTO cairn_holder
		(deployment, id, epoch, parts, operation, owner, host, pid, process_scope, process_start, started, seen)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11)`
	deleteHolder = `DELETE FROM cairn_holder WHERE deployment = $1 AND id = $2`
	touchHolder  = `UPDATE cairn_holder SET seen = $3 WHERE deployment = $1 AND id = $2`
	leaseHolder  = `UPDATE cairn_holder SET lease_until = $3 WHERE deployment = $1 AND id = $2`

	insertVersion = `INSERT INTO cairn_version
		(deployment, serial, operation, owner, host, started, changed, total)
		VALUES ($1, $2, $3, $4, $5, $6, 0, $7)`
	versionColumns = `serial, operation, owner, host, started, finished, changed, total`
	selectVersion  = `SELECT ` + versionColumns + ` FROM cairn_version WHERE deployment = $1 AND serial = $2`
	selectVersions = `SELECT ` + versionColumns + ` FROM cairn_version WHERE deployment = $1 ORDER BY serial`
	countVersion   = `UPDATE cairn_version SET changed = $3, total = $4 WHERE deployment = $1 AND serial = $2`
	finishVersion  = `UPDATE cairn_version SET finished = $3 WHERE deployment = $1 AND serial = $2`

	recordColumns = `state_key, valid_from, checksum, value, valid_to`
	selectCurrent = `SELECT ` + recordColumns + ` FROM cairn_record WHERE deployment = $1 AND valid_to IS NULL`
	selectAtTime  = `SELECT ` + recordColumns + ` FROM cairn_record
		WHERE deployment = $1 AND valid_from <= $2 AND (valid_to IS NULL OR valid_to > $2)`
	selectRecords = `SELECT ` + recordColumns + ` FROM cairn_record WHERE deployment = $1`
	selectPast    = `SELECT ` + recordColumns + ` FROM cairn_record
		WHERE deployment = $1 AND state_key = $2 ORDER BY valid_from`

	// Of one key, the value that is valid last; others were ended before it was written.
	selectNewest = `SELECT valid_from, valid_to, checksum, LENGTH(value), value = $3 FROM cairn_record
		WHERE deployment = $1 AND state_key = $2 ORDER BY valid_from DESC LIMIT 1`
	insertRecord = `INSERT INTO cairn_record (deployment, state_key, valid_from, checksum, value)
		VALUES ($1, $2, $3, $4, $5)`
	replaceRecord = `UPDATE cairn_record SET checksum = $4, value = $5
		WHERE deployment = $1 AND state_key = $2 AND valid_from = $3`
	removeRecord = `DELETE FROM cairn_record WHERE deployment = $1 AND state_key = $2 AND valid_from = $3`
	endRecord    = `UPDATE cairn_record SET valid_to = $3
		WHERE deployment = $1 AND state_key = $2 AND valid_to IS NULL`
	countEnded = `SELECT COUNT(*) FROM cairn_record
		WHERE deployment = $1 AND state_key = $2 AND valid_to = $3`
)
