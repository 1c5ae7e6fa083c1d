// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
)

// rowChanges are changes to the rows of records of one deployment in the serial that is written. A
// record has one of them, but for an old value that ends where a new one begins. The databases make
// them in this order: no two values of a record are current at a time.
type rowChanges struct {
	end     []ending // of values that were current before the serial
	remove  [][]byte // keys of values that the serial has written
	replace []*record
	insert  []*record
}

// ending is the end of a value, which is identified by its key and the serial that it is from.
type ending struct {
	key  []byte
	from int64
}

// newest is the value of a record that is valid last, or was; others were ended before it was
// written.
type newest struct {
	from     int64
	to       sql.NullInt64
	checksum int64
	size     int64
	same     bool // as the new value
}

// put stores changes in the serial v, and counts them there.
func (w *tableWriter) put(ctx context.Context, tx *transaction, d *deploymentRow, v *versionRow, changes map[string][]byte) error {
	store := w.lock.store
	keys := slices.Sorted(maps.Keys(changes))
	found, err := store.newest(ctx, tx, d.name, keys, changes)
	if err != nil {
		return err
	}
	var rows rowChanges
	for _, key := range keys {
		if err := w.change(ctx, tx, v, &rows, key, changes[key], found[key]); err != nil {
			return err
		}
	}
	if err := store.changeRows(ctx, tx, d.name, v.Serial, &rows); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, countVersion, d.name, v.Serial, v.Changed, v.Total); err != nil {
		return err
	}
	return sealVersion(ctx, tx, d, v)
}

// change adds to rows those of one record, which is deleted if value is nil, and counts the change
// in v. Without an older value, newest is nil.
func (w *tableWriter) change(
	ctx context.Context, tx *transaction, v *versionRow, rows *rowChanges, key string, value []byte, old *newest,
) error {
	serial := v.Serial
	r := &record{deployment: w.lock.info.Deployment, key: []byte(key), validFrom: serial, value: value}
	r.stored = r.checksum()

	exists := old != nil && !old.to.Valid
	if !exists && value == nil || exists && value != nil && old.same {
		return nil
	}
	if exists {
		v.Total--
		v.records -= digest(key, old.from, old.checksum, old.size) // of the record that it replaces
	}
	if value != nil {
		v.Total++
		v.records += r.digest()
	}
	switch {
	case !exists:
		if old == nil || old.to.Int64 != serial { // else it was counted as changed when this serial ended the older value
			v.Changed++
		}
		rows.insert = append(rows.insert, r)

	case old.from < serial:
		v.Changed++
		rows.end = append(rows.end, ending{r.key, old.from})
		if value != nil {
			rows.insert = append(rows.insert, r)
		}

	// Of this very serial only the last state is kept, so that the row is removed and not ended.
	case value == nil:
		ended, err := w.endedHere(ctx, tx, r)
		if err != nil {
			return err
		}
		v.Changed += ended - 1
		rows.remove = append(rows.remove, r.key)

	default:
		rows.replace = append(rows.replace, r)
	}
	return nil
}

// endedHere returns 1 if the serial being written has ended an older value of
// the record, and so has counted it as changed already, else 0.
func (w *tableWriter) endedHere(ctx context.Context, tx *transaction, r *record) (n int64, err error) {
	err = tx.QueryRowContext(ctx, countEnded, r.deployment, r.key, r.validFrom).Scan(&n)
	return n, err
}

// newestOfEach is [database.newest] by a query for each record.
func newestOfEach(
	ctx context.Context, tx *transaction, deployment string, keys []string, changes map[string][]byte,
) (map[string]*newest, error) {
	found := make(map[string]*newest, len(changes))
	for _, key := range keys {
		one := &newest{}
		var same sql.NullBool // null: deleting
		err := tx.QueryRowContext(ctx, selectNewest, deployment, []byte(key), changes[key]).
			Scan(&one.from, &one.to, &one.checksum, &one.size, &same)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, err
		}
		one.same = same.Bool
		found[key] = one
	}
	return found, nil
}

// changeEachRow is [database.changeRows] by a statement for each change.
func changeEachRow(ctx context.Context, tx *transaction, deployment string, serial int64, rows *rowChanges) error {
	for _, value := range rows.end {
		if _, err := tx.ExecContext(ctx, endRecord, deployment, value.key, serial); err != nil {
			return err
		}
	}
	for _, key := range rows.remove {
		if _, err := tx.ExecContext(ctx, removeRecord, deployment, key, serial); err != nil {
			return err
		}
	}
	for _, values := range []struct {
		statement string
		records   []*record
	}{{replaceRecord, rows.replace}, {insertRecord, rows.insert}} {
		for _, r := range values.records {
			if _, err := tx.ExecContext(ctx, values.statement, deployment, r.key, serial, r.stored, r.value); err != nil {
				return err
			}
		}
	}
	return nil
}
