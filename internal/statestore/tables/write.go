// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"context"
	"slices"
	"sync/atomic"
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
	w := &tableWriter{lock: l}
	next := opening{base: statestore.NextBase(base), version: statestore.Version{
		Operation: operation, Owner: l.info.Owner, Host: l.info.Host, Started: statestore.Now(),
	}}
	turn := l.store.turn()
	turn <- struct{}{}
	defer func() { <-turn }()
	err := l.writeInTurn(ctx, func(ctx context.Context, tx *transaction) error {
		d, err := l.verify(ctx, tx)
		if err != nil {
			return err
		}
		if tx.again {
			if v, err := w.opened(ctx, tx, d, &next); err != nil || v != nil {
				return err
			}
		}
		adopted := d.base == statestore.Base{} && base.Serial == 0
		if d.base != base && !adopted {
			return &statestore.StaleError{Location: l.store.location(), Deployment: l.info.Deployment, Want: base, Have: d.base}
		}
		if err := w.open(ctx, tx, d, next.row(), next.base, changes); err != nil {
			return err
		}
		return l.touch(ctx, tx, d)
	})
	if err != nil {
		return nil, err
	}
	w.base.Store(&next.base)
	l.writer = w
	return w, nil
}

// opening is a serial that a writer opens, unless that fails. Whether it has is not always known at
// once, and its number may be that of a serial of somebody else.
type opening struct {
	base    statestore.Base
	version statestore.Version
}

// row returns the row of the serial.
func (o *opening) row() *versionRow {
	v := &versionRow{Version: o.version}
	v.Serial = o.base.Serial
	return v
}

// opened returns the serial of an opening if it was opened, else nil.
func (w *tableWriter) opened(ctx context.Context, tx *transaction, d *deploymentRow, o *opening) (*versionRow, error) {
	if o == nil || d.base.Lineage != o.base.Lineage || d.base.Serial < o.base.Serial {
		return nil, nil //nolint:nilnil // none is an answer
	}
	v, err := w.lock.store.readVersion(ctx, tx, d, o.base.Serial)
	if err != nil {
		return nil, err
	}
	have := statestore.Version{Operation: v.Operation, Owner: v.Owner, Host: v.Host, Started: v.Started}
	if have != o.version {
		return nil, nil //nolint:nilnil // as above
	}
	return v, nil
}

// open adds the serial that w writes, with its first changes.
func (w *tableWriter) open(
	ctx context.Context, tx *transaction, d *deploymentRow, v *versionRow, base statestore.Base, changes map[string][]byte,
) error {
	if d.base.Serial > 0 {
		last, err := w.lock.store.readVersion(ctx, tx, d, d.base.Serial)
		if err != nil {
			return err
		}
		v.Total, v.records = last.Total, last.records
	}
	d.base = base
	if _, err := tx.ExecContext(ctx, updateBase, d.name, base.Lineage, base.Serial); err != nil {
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
	base atomic.Pointer[statestore.Base] // changes under the store's turn

	batches statestore.Batches

	// Guarded by the store's turn.
	committed bool
	known     *written
	next      *opening // the last attempt to go on in another serial; nil if it is known that there is none
}

// written has the rows that a transaction of a writer has left in the file, which need not be read
// again where that is the version of the file.
type written struct {
	version    fileVersion
	deployment deploymentRow
	serial     versionRow
}

// clone returns a copy of a row that may be changed.
func (d *deploymentRow) clone() *deploymentRow {
	cloned := *d
	cloned.holders = slices.Clone(d.holders)
	return &cloned
}

var _ statestore.Writer = (*tableWriter)(nil)

// touchInterval is how often writes note that the holder of the lock has written: people read it,
// to the second.
const touchInterval = time.Second

// Base implements [statestore.Writer].
func (w *tableWriter) Base() statestore.Base { return *w.base.Load() }

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
		overtaken := v.Serial < d.base.Serial
		if overtaken {
			v, err = w.goOn(ctx, tx, d, v, changes)
		} else {
			err = w.put(ctx, tx, d, v, changes)
		}
		if err != nil {
			return err
		}
		// With another serial, the deployment has to be sealed as well.
		if since := time.Since(d.holder(w.lock.info.ID).Seen); overtaken || since < 0 || since >= touchInterval {
			if err := w.lock.touch(ctx, tx, d); err != nil {
				return err
			}
		}
		left = &written{fileVersion{tx.found.others, tx.found.own + 1}, *d, *v}
		return nil
	})
	if err != nil {
		w.known = nil
		return err
	}
	w.known, w.next = left, nil
	w.base.Store(&left.deployment.base)
	return nil
}

// goOn ends the serial v, as somebody else has opened a later one, and opens another one of the
// same operation on top of that, which it returns.
func (w *tableWriter) goOn(
	ctx context.Context, tx *transaction, d *deploymentRow, v *versionRow, changes map[string][]byte,
) (*versionRow, error) {
	w.next = &opening{base: statestore.NextBase(d.base), version: statestore.Version{
		Operation: v.Operation, Owner: v.Owner, Host: v.Host, Started: statestore.Now(),
	}}
	if err := finish(ctx, tx, d, v, w.next.version.Started); err != nil {
		return nil, err
	}
	next := w.next.row()
	return next, w.open(ctx, tx, d, next, w.next.base, changes)
}

// finish notes that nothing more will be written into a serial by its operation.
func finish(ctx context.Context, tx *transaction, d *deploymentRow, v *versionRow, at time.Time) error {
	v.Finished = at
	if _, err := tx.ExecContext(ctx, finishVersion, d.name, v.Serial, v.Finished.UnixMicro()); err != nil {
		return err
	}
	return sealVersion(ctx, tx, d, v)
}

// verify returns the deployment and the serial of w, and fails unless it may still write (rule S3).
// There may be later serials of holders of other parts.
func (w *tableWriter) verify(ctx context.Context, tx *transaction) (*deploymentRow, *versionRow, error) {
	if known := w.known; known != nil && known.version == tx.found {
		v := known.serial
		return known.deployment.clone(), &v, nil
	}
	d, err := w.lock.verify(ctx, tx)
	if err != nil {
		return nil, nil, err
	}
	base := w.Base()
	if d.base != base {
		if w.lock.info.IsWhole() || w.lock.writer != w {
			return nil, nil, &statestore.StaleError{Location: w.lock.store.location(), Deployment: d.name, Want: base, Have: d.base}
		}
		// Of an attempt that seemed to fail, the commit may have been made.
		if v, err := w.opened(ctx, tx, d, w.next); err != nil || v != nil {
			return d, v, err
		}
	}
	v, err := w.lock.store.readVersion(ctx, tx, d, base.Serial)
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
		return finish(ctx, tx, d, v, statestore.Now())
	})
	w.committed = err == nil
	return err
}
