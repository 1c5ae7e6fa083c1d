// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Check implements [statestore.Store].
func (s *tableStore) Check(ctx context.Context) error {
	return s.read(ctx, func(tx *transaction) error { return s.checkAll(ctx, tx) })
}

// checkAll reads everything there is, and fails if any of it is damaged.
func (s *tableStore) checkAll(ctx context.Context, tx *transaction) error {
	if err := s.checkStructure(ctx, tx); err != nil {
		return err
	}
	names, err := readDeployments(ctx, tx)
	if err != nil {
		return err
	}
	for _, name := range names {
		d, err := s.findDeployment(ctx, tx, name)
		if err != nil {
			return err
		}
		if d == nil {
			return s.corrupt(fmt.Sprintf("the deployment %q is there and is not found", name), nil)
		}
		if _, err := s.checkVersions(ctx, tx, d); err != nil {
			return err
		}
	}
	var what, whose string
	err = tx.QueryRowContext(ctx, tx.query(selectOrphans)).Scan(&what, &whose)
	switch {
	case err == nil:
		return s.corrupt(fmt.Sprintf("it has %s of a deployment %q, which is missing", what, whose), nil)
	case !errors.Is(err, sql.ErrNoRows):
		return err
	}
	return nil
}

// readDeployments returns the names of all deployments.
func readDeployments(ctx context.Context, tx *transaction) ([]string, error) {
	return readTexts(ctx, tx, selectDeployments)
}

// readTexts returns the only column of a query.
func readTexts(ctx context.Context, tx *transaction, query string) ([]string, error) {
	var texts []string
	err := eachRow(ctx, tx, func(row scanner) error {
		var text string
		err := row.Scan(&text)
		texts = append(texts, text)
		return err
	}, query)
	return texts, err
}

// checkVersions returns the serials of a deployment after it has verified them,
// all records, and that each serial has the records it should.
func (s *tableStore) checkVersions(ctx context.Context, tx *transaction, d *deploymentRow) ([]*versionRow, error) {
	changes, err := s.checkRecords(ctx, tx, d)
	if err != nil {
		return nil, err
	}
	versions, err := s.readVersions(ctx, tx, d)
	if err != nil {
		return nil, err
	}
	var now recordSum
	for _, v := range versions {
		now = now.plus(changes[v.Serial])
		delete(changes, v.Serial)
		if v.Total != now.number {
			return nil, s.miscount(d, v, now.number)
		}
		if tx.sealed() && v.records != now.digest {
			return nil, s.otherRecords(d, v)
		}
		v.records = now.digest
	}
	for serial := range changes {
		return nil, s.corrupt(fmt.Sprintf("deployment %q has records of serial %d, which is missing", d.name, serial), nil)
	}
	return versions, nil
}

func (s *tableStore) miscount(d *deploymentRow, v *versionRow, number int64) error {
	return s.corrupt(fmt.Sprintf("serial %d of deployment %q should have %d records but %d are there",
		v.Serial, d.name, v.Total, number), nil)
}

func (s *tableStore) otherRecords(d *deploymentRow, v *versionRow) error {
	return s.corrupt(fmt.Sprintf("the records of serial %d of deployment %q are not those that were written", v.Serial, d.name), nil)
}

// recordSum stands for a set of records, or for how a set changes.
type recordSum struct{ number, digest int64 }

func (c recordSum) plus(d recordSum) recordSum {
	return recordSum{c.number + d.number, c.digest + d.digest}
}

func (c recordSum) minus(d recordSum) recordSum {
	return recordSum{c.number - d.number, c.digest - d.digest}
}

// checkRecords verifies all records of a deployment, and returns by serial how
// the set of valid records changes.
func (s *tableStore) checkRecords(ctx context.Context, tx *transaction, d *deploymentRow) (map[int64]recordSum, error) {
	changes := map[int64]recordSum{}
	err := s.eachRecord(ctx, tx, func(r *record) {
		one := recordSum{1, r.digest()}
		changes[r.validFrom] = changes[r.validFrom].plus(one)
		if r.validTo.Valid {
			changes[r.validTo.Int64] = changes[r.validTo.Int64].minus(one)
		}
	}, selectRecords, d.name)
	return changes, err
}
