// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// Check implements [Store].
func (s *sqliteStore) Check(ctx context.Context) error {
	return s.read(ctx, func(tx *sql.Tx) error {
		if err := s.quickCheck(ctx, tx); err != nil {
			return err
		}
		deployments, err := readDeployments(ctx, tx)
		if err != nil {
			return err
		}
		for _, d := range deployments {
			if err := s.checkDeployment(ctx, tx, d); err != nil {
				return err
			}
		}
		return nil
	})
}

// quickCheck has SQLite verify its own structures.
func (s *sqliteStore) quickCheck(ctx context.Context, tx *sql.Tx) error {
	rows, err := tx.QueryContext(ctx, `PRAGMA quick_check(5)`)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err says it
	var findings []string
	for rows.Next() {
		var finding string
		if err := rows.Scan(&finding); err != nil {
			return err
		}
		if finding != "ok" {
			findings = append(findings, finding)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if len(findings) > 0 {
		return s.corrupt(strings.Join(findings, "; "), nil)
	}
	return nil
}

// deploymentBase is a deployment and where it stands.
type deploymentBase struct {
	name string
	base Base
}

func readDeployments(ctx context.Context, tx *sql.Tx) ([]deploymentBase, error) {
	rows, err := tx.QueryContext(ctx, selectDeployments)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err says it
	var all []deploymentBase
	for rows.Next() {
		var d deploymentBase
		if err := rows.Scan(&d.name, &d.base.Lineage, &d.base.Serial); err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, rows.Err()
}

// checkDeployment verifies all records, and for each serial their number.
func (s *sqliteStore) checkDeployment(ctx context.Context, tx *sql.Tx, d deploymentBase) error {
	for r, err := range scanRecords(ctx, tx, d.name, selectRecords) {
		if err != nil {
			return err
		}
		if !r.intact() {
			return s.corrupt(fmt.Sprintf("the record %q of deployment %q has changed since it was written", r.key, d.name), nil)
		}
	}
	var serial, want, have int64
	switch err := tx.QueryRowContext(ctx, selectMiscount, d.name).Scan(&serial, &want, &have); {
	case err == nil:
		return s.corrupt(fmt.Sprintf("serial %d of deployment %q should have %d records but %d are there", serial, d.name, want, have), nil)
	case !errors.Is(err, sql.ErrNoRows):
		return err
	}
	var versions int64
	if err := tx.QueryRowContext(ctx, countVersions, d.name).Scan(&versions); err != nil {
		return err
	}
	if versions != d.base.Serial {
		return s.corrupt(fmt.Sprintf("deployment %q has %d serials but is at serial %d", d.name, versions, d.base.Serial), nil)
	}
	return nil
}
