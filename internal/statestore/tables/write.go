// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"context"
	"time"

	"github.com/cairnstacks/cairn/internal/statestore"
)

// Begin implements [statestore.Lock].
func (l *tableLock) Begin(
	ctx context.Context, base statestore.Base, operation string, changes map[string][]byte,
) (statestore.Writer, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := statestore.CheckKeys(changes); err != nil {
		return nil, err
	}
	next := statestore.NextBase(base)
	w := &tableWriter{lock: l, base: next}
	err := l.write(ctx, func(ctx context.Context, tx *transaction) error {
		d, err := l.verify(ctx, tx)
		if err != nil {
			return err
		}
		if tx.again && d.base == next {
			return nil
		}
		adopted := d.base == statestore.Base{} && base.Serial == 0
		if d.base != base && !adopted {
			return &statestore.StaleError{Location: l.store.location(), Deployment: l.info.Deployment, Want: base, Have: d.base}
		}
		now := statestore.Now()
		v := &versionRow{Version: statestore.Version{
			Serial: next.Serial, Operation: operation, Owner: l.info.Owner, Host: l.info.Host, Started: now,
		}}
		if err := w.open(ctx, tx, d, v, changes); err != nil {
			return err
		}
		return touch(ctx, tx, d)
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}

// open adds the serial that w writes, with its first changes.
func (w *tableWriter) open(ctx context.Context, tx *transaction, d *deploymentRow, v *versionRow, changes map[string][]byte) error {
	if d.base.Serial > 0 {
		last, err := w.lock.store.readVersion(ctx, tx, d, d.base.Serial)
		if err != nil {
			return err
		}
		v.Total, v.records = last.Total, last.records
	}
	d.base = w.base
	if _, err := tx.ExecContext(ctx, updateBase, d.name, w.base.Lineage, w.base.Serial); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, insertVersion, d.name, v.Serial, v.Operation, v.Owner, v.Host, v.Started.UnixMicro(), v.Total)
	if err != nil {
		return err
	}
	return w.put(ctx, tx, d, v, changes)
}

// tableWriter is a [statestore.Writer] in a [*tableStore].
//
// Writes that come while another is on its way to the disk wait together and
// then go in one transaction, for one wait for the disk.
type tableWriter struct {
	lock *tableLock
	base statestore.Base

	batches statestore.Batches

	// Guarded by the store's turn.
	committed bool
	known     *written
}

// written has the rows that a transaction of a writer has left in the file, which need not be read
// again where that is the version of the file.
type written struct {
	version    fileVersion
	deployment deploymentRow
	holder     statestore.LockInfo
	serial     versionRow
}

var _ statestore.Writer = (*tableWriter)(nil)

// touchInterval is how often writes note that the holder of the lock has written: people read it,
// to the second.
const touchInterval = time.Second

// Base implements [statestore.Writer].
func (w *tableWriter) Base() statestore.Base { return w.base }

// Write implements [statestore.Writer].
func (w *tableWriter) Write(ctx context.Context, changes map[string][]byte) error {
	if len(changes) == 0 {
		return nil
	}
	if err := statestore.CheckKeys(changes); err != nil {
		return err
	}
	return w.batches.Write(w.lock.store.turn(), changes, func(changes map[string][]byte) error {
		return w.store(ctx, changes)
	})
}

// store writes changes in one transaction. The caller has the turn.
func (w *tableWriter) store(ctx context.Context, changes map[string][]byte) error {
	if w.committed {
		return statestore.ErrCommitted
	}
	var left *written
	err := w.lock.writeInTurn(ctx, func(ctx context.Context, tx *transaction) error {
		d, v, err := w.verify(ctx, tx)
		if err != nil {
			return err
		}
		if err := w.put(ctx, tx, d, v, changes); err != nil {
			return err
		}
		if since := time.Since(d.holder.Seen); since < 0 || since >= touchInterval {
			if err := touch(ctx, tx, d); err != nil {
				return err
			}
		}
		left = &written{fileVersion{tx.found.others, tx.found.own + 1}, *d, *d.holder, *v}
		return nil
	})
	if w.known = left; err != nil {
		w.known = nil
	}
	return err
}

// verify returns the rows that w writes to, and fails unless it may still write (rule S3).
func (w *tableWriter) verify(ctx context.Context, tx *transaction) (*deploymentRow, *versionRow, error) {
	if known := w.known; known != nil && known.version == tx.found {
		d, holder, v := known.deployment, known.holder, known.serial
		d.holder = &holder
		return &d, &v, nil
	}
	d, err := w.lock.verify(ctx, tx)
	if err != nil {
		return nil, nil, err
	}
	if d.base != w.base {
		return nil, nil, &statestore.StaleError{Location: w.lock.store.location(), Deployment: d.name, Want: w.base, Have: d.base}
	}
	v, err := w.lock.store.readVersion(ctx, tx, d, w.base.Serial)
	return d, v, err
}

// Commit implements [statestore.Writer].
func (w *tableWriter) Commit(ctx context.Context) error {
	s := w.lock.store
	s.turn() <- struct{}{}
	defer func() { <-s.turn() }()
	if w.committed {
		return statestore.ErrCommitted
	}
	err := w.lock.writeInTurn(ctx, func(ctx context.Context, tx *transaction) error {
		d, v, err := w.verify(ctx, tx)
		if err != nil {
			return err
		}
		now := time.Now().UnixMicro()
		v.Finished = time.UnixMicro(now).UTC()
		if _, err := tx.ExecContext(ctx, finishVersion, d.name, v.Serial, now); err != nil {
			return err
		}
		return sealVersion(ctx, tx, d, v)
	})
	w.committed = err == nil
	return err
}
