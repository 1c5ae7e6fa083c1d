// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/cairnstacks/cairn/internal/statestore"
)

// holder returns the holder of a lock, nil if there is none.
func (d *deploymentRow) holder(id string) *statestore.LockInfo {
	i := slices.IndexFunc(d.holders, func(i statestore.LockInfo) bool { return i.ID == id })
	if i < 0 {
		return nil
	}
	return &d.holders[i]
}

// inTheWay returns the first holder that is in the way of a lock, nil if there is none.
func (d *deploymentRow) inTheWay(lock *statestore.LockInfo) *statestore.LockInfo {
	for i := range d.holders {
		if _, conflicts := lock.Conflict(&d.holders[i]); conflicts {
			return &d.holders[i]
		}
	}
	return nil
}

// readHolders returns the holders of the locks of a deployment, in the order in which they got
// them.
func (s *tableStore) readHolders(ctx context.Context, tx *transaction, deployment string) ([]statestore.LockInfo, error) {
	var holders []statestore.LockInfo
	err := eachRow(ctx, tx, func(row scanner) error {
		i := statestore.LockInfo{Deployment: deployment}
		var parts string
		var started, seen int64
		var until sql.NullInt64
		err := row.Scan(&i.ID, &i.Epoch, &parts, &i.Operation, &i.Owner, &i.Host,
			&i.PID, &i.Identity.Scope, &i.Identity.Start, &started, &seen, &until)
		if err != nil {
			return err
		}
		if i.Parts, err = decodeParts(parts); err != nil {
			return s.corrupt(fmt.Sprintf("the parts of lock %s of deployment %q cannot be read", i.ID, deployment), err)
		}
		i.Identity.PID = i.PID
		i.Started, i.Seen = time.UnixMicro(started).UTC(), time.UnixMicro(seen).UTC()
		if until.Valid {
			i.Until = time.UnixMicro(until.Int64).UTC()
		}
		holders = append(holders, i)
		return nil
	}, tx.query(selectHolders), deployment)
	return holders, err
}

// encodeParts returns the stored form of the parts of a lock.
func encodeParts(parts []statestore.Part) string {
	if len(parts) == 0 {
		return "[]"
	}
	text, err := json.Marshal(parts)
	if err != nil {
		panic(fmt.Sprintf("statestore: parts of a lock: %v", err)) // of strings and bools, there is always one
	}
	return string(text)
}

// decodeParts is the reverse of encodeParts: nil stands for the whole deployment.
func decodeParts(text string) ([]statestore.Part, error) {
	var parts []statestore.Part
	if err := json.Unmarshal([]byte(text), &parts); err != nil || len(parts) == 0 {
		return nil, err
	}
	return parts, nil
}

// digestHolders stands for a set of holders, as the sum of the digests of records does for that. It
// is 0 for none.
func digestHolders(version int64, holders []statestore.LockInfo) (sum int64) {
	for _, i := range holders {
		fields := []any{
			i.ID, i.Epoch, i.Operation, i.Owner, i.Host, int64(i.PID), i.Identity.Scope, i.Identity.Start,
			i.Started.UnixMicro(), i.Seen.UnixMicro(),
		}
		if version >= holdersVersion {
			fields = append(fields, encodeParts(i.Parts))
		}
		sum += digest(fields...)
	}
	return sum
}
