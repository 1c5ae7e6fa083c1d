// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/cairnstacks/cairn/internal/statestore"
)

// Import implements [statestore.Lock].
func (l *tableLock) Import(ctx context.Context, lineage string, version statestore.Version, changes map[string][]byte) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	before := statestore.Base{Lineage: lineage, Serial: version.Serial - 1}
	if before.Serial == 0 {
		before.Lineage = ""
	}
	w, next := &tableWriter{lock: l}, statestore.Base{Lineage: lineage, Serial: version.Serial}
	return l.write(ctx, func(ctx context.Context, tx *transaction) error {
		d, err := l.verify(ctx, tx)
		if err != nil {
			return err
		}
		if tx.again && d.base == next {
			return nil
		}
		if d.base != before {
			return &statestore.StaleError{Location: l.store.location(), Deployment: l.info.Deployment, Want: before, Have: d.base}
		}
		v := &versionRow{Version: version}
		v.Changed, v.Total, v.Finished = 0, 0, time.Time{}
		if err := w.open(ctx, tx, d, v, next, changes); err != nil {
			return err
		}
		if v.Total != version.Total {
			return fmt.Errorf("serial %d of deployment %q has %d records after it was copied, and should have %d; this is a bug in cairn",
				version.Serial, d.name, v.Total, version.Total)
		}
		// A record that was changed, and then back, counts as changed, and is no change now.
		v.Changed = version.Changed
		if _, err := tx.ExecContext(ctx, countVersion, d.name, v.Serial, v.Changed, v.Total); err != nil {
			return err
		}
		if !version.Finished.IsZero() {
			v.Finished = version.Finished
			if _, err := tx.ExecContext(ctx, finishVersion, d.name, v.Serial, v.Finished.UnixMicro()); err != nil {
				return err
			}
		}
		if err := sealVersion(ctx, tx, d, v); err != nil {
			return err
		}
		return l.touch(ctx, tx, d)
	})
}

// MarkMoved implements [statestore.Store].
func (s *tableStore) MarkMoved(ctx context.Context, to string, newest map[string]statestore.Newest) error {
	if err := s.create(ctx); err != nil { // which also says why it is read-only
		return err
	}
	return s.write(ctx, func(ctx context.Context, tx *transaction) error {
		// First, so that it waits for all who write, and all who will write see it.
		if _, err := tx.ExecContext(ctx, updateSchema, movedVersion); err != nil {
			return err
		}
		have, err := readNewest(ctx, tx)
		if err != nil {
			return err
		}
		if !maps.Equal(have, newest) {
			return statestore.ErrChanged
		}
		if _, err := tx.ExecContext(ctx, createMoved); err != nil {
			return err
		}
		if err := tx.settle(ctx); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, insertMoved, to, time.Now().UnixMicro())
		return err
	})
}

// moved returns the error of states that were moved.
func (s *tableStore) moved(ctx context.Context, tx executor) error {
	var to string
	var when int64
	if err := tx.QueryRowContext(ctx, selectMoved).Scan(&to, &when); err != nil {
		return err
	}
	return statestore.MovedError(s.location(), to, time.UnixMicro(when))
}
