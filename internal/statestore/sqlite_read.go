// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statestore

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"
	"os"
	"path/filepath"
	"time"
)

// needsImmutable reports whether the file must be read without SQLite's log:
// with no right to write, SQLite could neither make the log's index nor
// tidy up after itself.
func (s *sqliteStore) needsImmutable() bool {
	if s.mayWrite() {
		return false
	}
	// Someone else's log holds changes that are not in the file yet.
	info, err := os.Stat(s.path + "-wal")
	return err != nil || info.Size() == 0
}

// mayWrite reports whether SQLite may write to the file and make others beside it.
func (s *sqliteStore) mayWrite() bool {
	return writable(s.path) && writable(filepath.Dir(s.path))
}

// readImmutable reads a file that SQLite takes for unchangeable. Since
// someone with more rights may change it all the same, the result counts only
// if the file was left alone meanwhile.
func (s *sqliteStore) readImmutable(ctx context.Context, fn func(*sql.Tx) error) error {
	before, err := os.Stat(s.path)
	if err != nil {
		return s.missingOr(err)
	}
	db, err := s.connect(ctx, s.path, "immutable")
	if err != nil {
		return err
	}
	err = errors.Join(s.readFrom(ctx, db, fn), s.explain(ctx, db.Close()))
	if err != nil {
		return err
	}
	after, err := os.Stat(s.path)
	if err != nil || !os.SameFile(before, after) || before.Size() != after.Size() ||
		!before.ModTime().Equal(after.ModTime()) || !s.needsImmutable() {
		return &StoreError{
			Location: s.path,
			Problem:  ProblemBusy,
			Detail:   "was changed by someone else while it was read",
			Remedy:   "run the command again",
			Err:      err,
		}
	}
	return nil
}

// Read implements [Store].
func (s *sqliteStore) Read(ctx context.Context, deployment string) (*Snapshot, error) {
	snapshot := &Snapshot{Records: map[string][]byte{}}
	err := s.read(ctx, func(tx *sql.Tx) error {
		base, err := readBase(ctx, tx, deployment)
		if err != nil || base.Serial == 0 {
			return err
		}
		records := scanRecords(ctx, tx, deployment, selectCurrent)
		return s.readSnapshot(ctx, tx, snapshotQuery{deployment, base, records}, snapshot)
	})
	if err != nil {
		return nil, err
	}
	return snapshot, nil
}

// ReadSerial implements [Store].
func (s *sqliteStore) ReadSerial(ctx context.Context, deployment string, serial int64) (*Snapshot, error) {
	snapshot := &Snapshot{Records: map[string][]byte{}}
	var newest int64
	err := s.read(ctx, func(tx *sql.Tx) error {
		base, err := readBase(ctx, tx, deployment)
		newest = base.Serial
		if err != nil || serial < 0 || serial > newest {
			return err
		}
		snapshot.Lineage = base.Lineage
		if serial == 0 {
			return nil
		}
		records := scanRecords(ctx, tx, deployment, selectAtTime, serial)
		return s.readSnapshot(ctx, tx, snapshotQuery{deployment, Base{base.Lineage, serial}, records}, snapshot)
	})
	if err != nil {
		return nil, err
	}
	if serial < 0 || serial > newest {
		return nil, &SerialError{Location: s.path, Deployment: deployment, Serial: serial, Newest: newest}
	}
	return snapshot, nil
}

// snapshotQuery yields the records of one serial.
type snapshotQuery struct {
	deployment string
	base       Base
	records    iter.Seq2[*record, error]
}

// readSnapshot collects the records of q, and makes sure that they are all
// there and unharmed (rule S9).
func (s *sqliteStore) readSnapshot(ctx context.Context, tx *sql.Tx, q snapshotQuery, into *Snapshot) error {
	var records int64
	for r, err := range q.records {
		if err != nil {
			return err
		}
		if !r.intact() {
			return s.corrupt(fmt.Sprintf("the record %q of deployment %q has changed since it was written", r.key, q.deployment), nil)
		}
		into.Records[string(r.key)] = r.value
		records++
	}
	version, err := scanVersion(tx.QueryRowContext(ctx, selectVersion, q.deployment, q.base.Serial))
	if errors.Is(err, sql.ErrNoRows) {
		return s.corrupt(fmt.Sprintf("serial %d of deployment %q is missing", q.base.Serial, q.deployment), nil)
	}
	if err != nil {
		return err
	}
	if version.Total != records {
		return s.corrupt(fmt.Sprintf("serial %d of deployment %q should have %d records but %d are there",
			q.base.Serial, q.deployment, version.Total, records), nil)
	}
	into.Lineage, into.Version = q.base.Lineage, version
	return nil
}

// History implements [Store].
func (s *sqliteStore) History(ctx context.Context, deployment string) ([]Version, error) {
	var history []Version
	err := s.read(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, selectVersions, deployment)
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // rows.Err says it
		for rows.Next() {
			version, err := scanVersion(rows)
			if err != nil {
				return err
			}
			history = append(history, version)
		}
		return rows.Err()
	})
	return history, err
}

// readBase returns the current lineage and serial, zero if there are none.
func readBase(ctx context.Context, tx *sql.Tx, deployment string) (Base, error) {
	var base Base
	err := tx.QueryRowContext(ctx, selectBase, deployment).Scan(&base.Lineage, &base.Serial)
	if errors.Is(err, sql.ErrNoRows) {
		return Base{}, nil
	}
	return base, err
}

// scanVersion reads the versionColumns of one row.
func scanVersion(row interface{ Scan(...any) error }) (Version, error) {
	var v Version
	var started int64
	var finished sql.NullInt64
	err := row.Scan(&v.Serial, &v.Operation, &v.Owner, &v.Host, &started, &finished, &v.Changed, &v.Total)
	if err != nil {
		return Version{}, err
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

func (r *record) intact() bool { return r.stored == r.checksum() }

// scanRecords yields the rows of a query for recordColumns, whose first
// argument is the deployment.
func scanRecords(ctx context.Context, tx *sql.Tx, deployment, query string, more ...any) iter.Seq2[*record, error] {
	return func(yield func(*record, error) bool) {
		rows, err := tx.QueryContext(ctx, query, append([]any{deployment}, more...)...)
		if err != nil {
			yield(nil, err)
			return
		}
		defer rows.Close() //nolint:errcheck // rows.Err says it
		for rows.Next() {
			r := &record{deployment: deployment}
			if err := rows.Scan(&r.key, &r.validFrom, &r.stored, &r.value); err != nil {
				yield(nil, err)
				return
			}
			if r.value == nil { // how the driver returns zero bytes
				r.value = []byte{}
			}
			if !yield(r, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, err)
		}
	}
}
