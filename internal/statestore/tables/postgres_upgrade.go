// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"context"
	"errors"
)

// errFormerTables is returned by a transaction that wants to write into tables of an older version.
var errFormerTables = errors.New("the tables are of an older version")

// upgrade brings tables of an older version into the present format. It is a transaction of its
// own: the check of all tables before a lock reads them on another connection, which would wait for
// one that replaces them.
func (s *postgresStore) upgrade(ctx context.Context) error {
	// Waits for all who write, as they share a lock of the version, and for others that upgrade.
	begin := s.beginning("ISOLATION LEVEL READ COMMITTED") + `; ` + durably + `; ` + selectSchema + ` FOR UPDATE`
	_, err := s.within(ctx, s.server.writing, begin, func(tx *postgresTransaction) error {
		version, err := s.checkVersion(ctx, tx)
		if err != nil || version == schemaVersion {
			return err
		}
		former, now := &transaction{executor: tx, version: version}, &transaction{executor: tx, version: schemaVersion}
		deployments, err := s.readFormer(ctx, former)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, createHolders); err != nil {
			return err
		}
		if err := now.settle(ctx); err != nil {
			return err
		}
		if err := replaceLocks(ctx, now); err != nil {
			return err
		}
		for _, d := range deployments {
			if err := sealDeployment(ctx, now, d); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, updateSchema, schemaVersion)
		return err
	})
	return err
}
