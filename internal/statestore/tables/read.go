// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"time"

	"github.com/cairnstacks/cairn/internal/statestore"
)

// Read implements [statestore.Store].
func (s *tableStore) Read(ctx context.Context, deployment string) (*statestore.Snapshot, error) {
	snapshot := emptySnapshot()
	err := s.read(ctx, func(tx *transaction) error {
		snapshot = emptySnapshot()
		d, err := s.readDeployment(ctx, tx, deployment)
		if err != nil || d.base.Serial == 0 {
			return err
		}
		return s.readSnapshot(ctx, tx, snapshotQuery{d, d.base.Serial, selectCurrent, nil}, snapshot)
	})
	if err != nil {
		return nil, err
	}
	return snapshot, nil
}

// ReadSerial implements [statestore.Store].
func (s *tableStore) ReadSerial(ctx context.Context, deployment string, serial int64) (*statestore.Snapshot, error) {
	snapshot := emptySnapshot()
	var newest int64
	err := s.read(ctx, func(tx *transaction) error {
		snapshot = emptySnapshot()
		d, err := s.readDeployment(ctx, tx, deployment)
		if err != nil {
			return err
		}
		newest = d.base.Serial
		if serial < 0 || serial > newest {
			return nil
		}
		snapshot.Lineage = d.base.Lineage
		if serial == 0 {
			return nil
		}
		return s.readSnapshot(ctx, tx, snapshotQuery{d, serial, selectAtTime, []any{serial}}, snapshot)
	})
	if err != nil {
		return nil, err
	}
	if serial < 0 || serial > newest {
		return nil, &statestore.SerialError{Location: s.location(), Deployment: deployment, Serial: serial, Newest: newest}
	}
	return snapshot, nil
}

// Revisions implements [statestore.Store].
func (s *tableStore) Revisions(ctx context.Context, deployment string, keys []string) (map[string]statestore.Revisions, error) {
	var past map[string]statestore.Revisions
	err := s.read(ctx, func(tx *transaction) error {
		past = map[string]statestore.Revisions{}
		d, err := s.readDeployment(ctx, tx, deployment)
		if err != nil || d.base.Serial == 0 {
			return err
		}
		for _, key := range keys {
			var of statestore.Revisions
			err := s.eachRecord(ctx, tx, func(r *record) {
				of.Add(statestore.Revision{Serial: r.validFrom, Value: r.value})
				if r.validTo.Valid {
					of.Add(statestore.Revision{Serial: r.validTo.Int64})
				}
			}, selectPast, deployment, []byte(key))
			if err != nil {
				return err
			}
			if len(of) > 0 {
				past[key] = of
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return past, nil
}

func emptySnapshot() *statestore.Snapshot { return &statestore.Snapshot{Records: map[string][]byte{}} }

// snapshotQuery finds the records of one serial.
type snapshotQuery struct {
	deployment *deploymentRow
	serial     int64
	query      string
	at         []any // arguments of the query after the deployment
}

// readSnapshot collects the records of q, and makes sure that they are all
// there and unharmed (rule S9).
func (s *tableStore) readSnapshot(ctx context.Context, tx *transaction, q snapshotQuery, into *statestore.Snapshot) error {
	var have recordSum
	err := s.eachRecord(ctx, tx, func(r *record) {
		into.Records[string(r.key)] = r.value
		have = have.plus(recordSum{1, r.digest()})
	}, q.query, q.deployment.name, q.at...)
	if err != nil {
		return err
	}
	version, err := s.readVersion(ctx, tx, q.deployment, q.serial)
	switch {
	case err != nil:
		return err
	case version.Total != have.number:
		return s.miscount(q.deployment, version, have.number)
	case tx.sealed() && version.records != have.digest:
		return s.otherRecords(q.deployment, version)
	}
	into.Lineage, into.Version = q.deployment.base.Lineage, version.Version
	return nil
}

// Deployments implements [statestore.Store].
func (s *tableStore) Deployments(ctx context.Context) ([]string, error) {
	var found []string
	err := s.read(ctx, func(tx *transaction) error {
		found = nil
		names, err := readDeployments(ctx, tx)
		if err != nil {
			return err
		}
		for _, name := range names {
			d, err := s.findDeployment(ctx, tx, name)
			if err != nil {
				return err
			}
			if d != nil && d.base.Serial > 0 {
				found = append(found, name)
			}
		}
		return nil
	})
	slices.Sort(found) // whatever the database thinks of the order of letters
	return found, err
}

// Newest implements [statestore.Store].
func (s *tableStore) Newest(ctx context.Context) (map[string]statestore.Newest, error) {
	newest := map[string]statestore.Newest{}
	err := s.read(ctx, func(tx *transaction) (err error) {
		newest, err = readNewest(ctx, tx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return newest, nil
}

func readNewest(ctx context.Context, tx *transaction) (map[string]statestore.Newest, error) {
	newest := map[string]statestore.Newest{}
	err := eachRow(ctx, tx, func(row scanner) error {
		var name string
		var one statestore.Newest
		err := row.Scan(&name, &one.Lineage, &one.Serial, &one.Finished)
		newest[name] = one
		return err
	}, selectNewestSerials)
	return newest, err
}

// History implements [statestore.Store].
func (s *tableStore) History(ctx context.Context, deployment string) ([]statestore.Version, error) {
	var history []statestore.Version
	err := s.read(ctx, func(tx *transaction) error {
		history = nil
		d, err := s.readDeployment(ctx, tx, deployment)
		if err != nil {
			return err
		}
		versions, err := s.readVersions(ctx, tx, d)
		for _, v := range versions {
			history = append(history, v.Version)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return history, nil
}

// readVersions returns all serials of a deployment, oldest first.
func (s *tableStore) readVersions(ctx context.Context, tx *transaction, d *deploymentRow) ([]*versionRow, error) {
	versions, err := scanVersions(ctx, tx, d)
	if err != nil {
		return nil, err
	}
	for i, v := range versions {
		if v.Serial != int64(i+1) {
			return nil, s.corrupt(fmt.Sprintf("serial %d of deployment %q is missing", i+1, d.name), nil)
		}
		if tx.sealed() {
			if err := s.checkSeal(ctx, tx, d, v); err != nil {
				return nil, err
			}
		}
	}
	if int64(len(versions)) != d.base.Serial {
		return nil, s.corrupt(fmt.Sprintf("deployment %q has %d serials but is at serial %d", d.name, len(versions), d.base.Serial), nil)
	}
	return versions, nil
}

func scanVersions(ctx context.Context, tx *transaction, d *deploymentRow) ([]*versionRow, error) {
	var versions []*versionRow
	err := eachRow(ctx, tx, func(row scanner) error {
		version, err := scanVersion(row)
		versions = append(versions, &versionRow{Version: version})
		return err
	}, selectVersions, d.name)
	return versions, err
}

// scanVersion reads the versionColumns of one row.
func scanVersion(row scanner) (statestore.Version, error) {
	var v statestore.Version
	var started int64
	var finished sql.NullInt64
	err := row.Scan(&v.Serial, &v.Operation, &v.Owner, &v.Host, &started, &finished, &v.Changed, &v.Total)
	if err != nil {
		return statestore.Version{}, err
	}
	v.Started = time.UnixMicro(started).UTC()
	if finished.Valid {
		v.Finished = time.UnixMicro(finished.Int64).UTC()
	}
	return v, nil
}

// record is one row of cairn_record.
type record struct {
	deployment string
	key        []byte
	validFrom  int64
	value      []byte
	stored     int64 // checksum
	validTo    sql.NullInt64
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum covers everything that must not change once it is written.
func (r *record) checksum() int64 {
	head := make([]byte, 0, 64)
	head = append(head, r.deployment...)
	head = append(head, 0)
	head = binary.BigEndian.AppendUint64(head, uint64(r.validFrom)) //nolint:gosec // any bits will do
	head = binary.BigEndian.AppendUint64(head, uint64(len(r.key)))
	head = append(head, r.key...)
	return int64(crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, r.value))
}

// eachRecord calls a function for each row of a query for recordColumns, whose first argument is
// the deployment. A record that is not as it was written is an error.
func (s *tableStore) eachRecord(
	ctx context.Context, tx *transaction, read func(*record), query, deployment string, more ...any,
) error {
	return eachRow(ctx, tx, func(row scanner) error {
		r := &record{deployment: deployment}
		if err := row.Scan(&r.key, &r.validFrom, &r.stored, &r.value, &r.validTo); err != nil {
			return err
		}
		if r.value == nil { // how the driver returns zero bytes
			r.value = []byte{}
		}
		if r.stored != r.checksum() {
			return s.corrupt(fmt.Sprintf("the record %q of deployment %q has changed since it was written", r.key, r.deployment), nil)
		}
		read(r)
		return nil
	}, query, append([]any{deployment}, more...)...)
}
