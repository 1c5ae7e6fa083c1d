// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"context"
	"strings"
)

// holdersVersion is the first version of the format with the table cairn_holder.
const holdersVersion = 5

// The table of locks of former versions, and the statements that differ for it.
const (
	createFormerLocks = `CREATE TABLE cairn_lock (
		deployment    TEXT   NOT NULL PRIMARY KEY REFERENCES cairn_deployment (name),
		id            TEXT   NOT NULL,
		epoch         BIGINT NOT NULL,
		operation     TEXT   NOT NULL,
		owner         TEXT   NOT NULL,
		host          TEXT   NOT NULL,
		pid           BIGINT NOT NULL,
		process_scope TEXT   NOT NULL,
		process_start TEXT   NOT NULL,
		started       BIGINT NOT NULL,
		seen          BIGINT NOT NULL,
		lease_until   BIGINT
	)`

	// Those who had a lock had the whole deployment.
	takeOverLocks = `INSERT INTO cairn_holder
		(deployment, id, epoch, parts, operation, owner, host, pid, process_scope, process_start, started, seen, lease_until)
		SELECT deployment, id, epoch, '[]', operation, owner, host, pid, process_scope, process_start, started, seen, lease_until
		FROM cairn_lock`
	dropFormerLocks = `DROP TABLE cairn_lock`
)

// query returns a statement that reads locks for the tables of the transaction.
func (t *transaction) query(statement string) string {
	if t.version >= holdersVersion {
		return statement
	}
	return strings.ReplaceAll(strings.Replace(statement, " parts,", " '[]',", 1), "cairn_holder", "cairn_lock")
}

// replaceLocks puts the table of holders, which is there, in the place of that of locks.
func replaceLocks(ctx context.Context, tx *transaction) error {
	for _, statement := range []string{takeOverLocks, dropFormerLocks} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// readFormer returns the deployments as they are in a former version, by name.
func (s *tableStore) readFormer(ctx context.Context, former *transaction) (map[string]*deploymentRow, error) {
	names, err := readDeployments(ctx, former)
	if err != nil {
		return nil, err
	}
	deployments := map[string]*deploymentRow{}
	for _, name := range names {
		if deployments[name], err = s.findDeployment(ctx, former, name); err != nil {
			return nil, err
		}
	}
	return deployments, nil
}
