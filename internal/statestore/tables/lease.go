// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"context"
	"time"

	"github.com/cairnstacks/cairn/internal/statestore"
)

// keepLease renews the lease of the lock from now on, if it has one, until the lock is given back
// or the store closed. A renewal that fails is tried again at the next time; if the lock is lost,
// the next write says so.
func (l *tableLock) keepLease(ctx context.Context) {
	if l.info.Until.IsZero() {
		return
	}
	l.lease = statestore.KeepLease(ctx, l.store.ended(), func(ctx context.Context) {
		_ = l.store.write(ctx, l.renew) //nolint:errcheck // see above
	})
}

// renew makes the lease last from now within tx.
func (l *tableLock) renew(ctx context.Context, tx *transaction) error {
	now, err := l.store.clock(ctx, tx)
	if err == nil {
		_, err = l.extend(ctx, tx, now)
	}
	return err
}

// extend makes the lease last from a time in the database within tx, if locks have leases there. It
// returns the end of the lease.
func (l *tableLock) extend(ctx context.Context, tx *transaction, now time.Time) (time.Time, error) {
	if now.IsZero() {
		return now, nil
	}
	until := now.Add(statestore.LeaseTime)
	_, err := tx.ExecContext(ctx, leaseHolder, l.info.Deployment, l.info.ID, until.UnixMicro())
	return until, err
}
