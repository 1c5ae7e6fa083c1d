// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"bytes"
	"context"
	"crypto/sha256"
	"slices"
)

// Statements about many records at a time. Their keys are in arrays; each row is found by all
// columns of the unique index with the hashes of keys: with fewer, a server that has no statistics
// of the table yet reads all records of the deployment.
const (
	// Values are compared by their hashes, which need not be sent in full.
	selectNewestOfMany = `SELECT k.state_key, r.valid_from, r.valid_to, r.checksum, LENGTH(r.value), sha256(r.value)
		FROM UNNEST($2::BYTEA[]) AS k (state_key)
		CROSS JOIN LATERAL (
			SELECT * FROM cairn_record
			WHERE deployment = $1 AND sha256(state_key) = sha256(k.state_key) AND state_key = k.state_key
			ORDER BY valid_from DESC LIMIT 1) r`
	endRecords = `UPDATE cairn_record r SET valid_to = $3 FROM UNNEST($2::BYTEA[], $4::BIGINT[]) AS k (state_key, valid_from)
		WHERE r.deployment = $1 AND sha256(r.state_key) = sha256(k.state_key) AND r.state_key = k.state_key AND r.valid_from = k.valid_from`
	removeRecords = `DELETE FROM cairn_record r USING UNNEST($2::BYTEA[]) AS k (state_key)
		WHERE r.deployment = $1 AND sha256(r.state_key) = sha256(k.state_key) AND r.state_key = k.state_key AND r.valid_from = $3`
	replaceRecords = `UPDATE cairn_record r SET checksum = k.checksum, value = k.value
		FROM UNNEST($2::BYTEA[], $4::BIGINT[], $5::BYTEA[]) AS k (state_key, checksum, value)
		WHERE r.deployment = $1 AND sha256(r.state_key) = sha256(k.state_key) AND r.state_key = k.state_key AND r.valid_from = $3`
	insertRecords = `INSERT INTO cairn_record (deployment, state_key, valid_from, checksum, value)
		SELECT $1, k.state_key, $3, k.checksum, k.value
		FROM UNNEST($2::BYTEA[], $4::BIGINT[], $5::BYTEA[]) AS k (state_key, checksum, value)`
)

// mostRows is how many records one statement is about at most, so that neither side needs much
// memory.
const mostRows = 1000

// newest implements [database].
func (s *postgresStore) newest(
	ctx context.Context, tx *transaction, deployment string, keys []string, changes map[string][]byte,
) (map[string]*newest, error) {
	wanted := make([][]byte, 0, len(keys))
	for _, key := range keys {
		wanted = append(wanted, []byte(key))
	}
	found := make(map[string]*newest, len(changes))
	for some := range slices.Chunk(wanted, mostRows) {
		err := eachRow(ctx, tx, func(row scanner) error {
			one := &newest{}
			var key, sum []byte
			if err := row.Scan(&key, &one.from, &one.to, &one.checksum, &one.size, &sum); err != nil {
				return err
			}
			want := sha256.Sum256(changes[string(key)])
			one.same = bytes.Equal(sum, want[:])
			found[string(key)] = one
			return nil
		}, selectNewestOfMany, deployment, some)
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// changeRows implements [database].
func (s *postgresStore) changeRows(ctx context.Context, tx *transaction, deployment string, serial int64, rows *rowChanges) error {
	change := func(statement string, args ...any) error {
		_, err := tx.ExecContext(ctx, statement, args...)
		return err
	}
	for some := range slices.Chunk(rows.end, mostRows) {
		var keys [][]byte
		var froms []int64
		for _, value := range some {
			keys, froms = append(keys, value.key), append(froms, value.from)
		}
		if err := change(endRecords, deployment, keys, serial, froms); err != nil {
			return err
		}
	}
	for some := range slices.Chunk(rows.remove, mostRows) {
		if err := change(removeRecords, deployment, some, serial); err != nil {
			return err
		}
	}
	for some := range slices.Chunk(rows.replace, mostRows) {
		keys, checksums, values := columns(some)
		if err := change(replaceRecords, deployment, keys, serial, checksums, values); err != nil {
			return err
		}
	}
	for some := range slices.Chunk(rows.insert, mostRows) {
		keys, checksums, values := columns(some)
		if err := change(insertRecords, deployment, keys, serial, checksums, values); err != nil {
			return err
		}
	}
	return nil
}

// columns returns the columns of records that arrays are for.
func columns(records []*record) (keys [][]byte, checksums []int64, values [][]byte) {
	for _, r := range records {
		keys, checksums, values = append(keys, r.key), append(checksums, r.stored), append(values, r.value)
	}
	return keys, checksums, values
}
