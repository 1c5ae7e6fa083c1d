// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/cairnstacks/cairn/internal/statestore"
)

// tableLock is a [statestore.Lock] in a [*tableStore].
type tableLock struct {
	store     *tableStore
	info      statestore.LockInfo
	takenFrom []statestore.LockInfo
	reserve   *reserve          // nil if none was asked for
	lease     *statestore.Lease // nil if it has none

	writer *tableWriter // that was begun last; guarded by the store's turn
}

var _ statestore.Lock = (*tableLock)(nil)

// ID implements [statestore.Lock].
func (l *tableLock) ID() string { return l.info.ID }

// TakenFrom implements [statestore.Lock].
func (l *tableLock) TakenFrom() []statestore.LockInfo { return l.takenFrom }

// ReserveUsed implements [statestore.Lock].
func (l *tableLock) ReserveUsed() bool { return l.reserve.isUsed() }

// Lock implements [statestore.Store].
func (s *tableStore) Lock(ctx context.Context, deployment string, request statestore.LockRequest) (statestore.Lock, error) {
	if err := statestore.CheckName(deployment); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := s.create(ctx); err != nil {
		return nil, err
	}
	lock := &tableLock{store: s, info: statestore.NewLockInfo(deployment, request)}
	// As others read them: bytes that are no UTF-8 are all the same there.
	var err error
	if lock.info.Parts, err = decodeParts(encodeParts(request.Parts)); err != nil {
		return nil, err
	}
	if err := s.write(ctx, lock.acquire); err != nil {
		return nil, err
	}
	if lock.reserve, err = s.reserve(ctx, lock.info.ID, request.Reserve); err != nil {
		return nil, errors.Join(err, lock.Unlock(ctx))
	}
	lock.keepLease(ctx)
	return lock, nil
}

// write is that of the store, which gives up the reserve for changes that don't fit otherwise.
func (l *tableLock) write(ctx context.Context, fn func(context.Context, *transaction) error) error {
	return l.reserve.spend(func() error { return l.store.write(ctx, fn) })
}

// writeInTurn is write for a caller that holds the turn.
func (l *tableLock) writeInTurn(ctx context.Context, fn func(context.Context, *transaction) error) error {
	return l.reserve.spend(func() error { return l.store.writeInTurn(ctx, fn) })
}

// acquire takes the lock within tx, which nobody else's overlaps. A holder of a lock is about to
// write, so damage anywhere in the file is found before that makes it worse.
func (l *tableLock) acquire(ctx context.Context, tx *transaction) error {
	name := l.info.Deployment
	if !tx.again {
		l.takenFrom = nil // by a transaction that was not committed
	}
	d, err := l.store.findDeployment(ctx, tx, name)
	if err != nil {
		return err
	}
	if d != nil && tx.again {
		if mine := d.holder(l.info.ID); mine != nil {
			l.info = *mine
			return nil
		}
	}
	now, err := l.store.clock(ctx, tx)
	if err != nil {
		return err
	}
	taken, err := l.displace(d, now)
	if err != nil {
		return err
	}
	if d == nil || d.base.Serial == 0 {
		err = l.store.checkOnce(ctx, tx)
	} else {
		err = l.store.checkStructureOnce(ctx, tx)
	}
	if err != nil {
		return err
	}
	if d == nil {
		d = &deploymentRow{name: name}
		if _, err := tx.ExecContext(ctx, insertDeployment, name); err != nil {
			return err
		}
	}
	for _, holder := range taken {
		if err := d.remove(ctx, tx, holder.ID); err != nil {
			return err
		}
	}
	l.takenFrom = taken
	d.epoch++
	if _, err := tx.ExecContext(ctx, updateEpoch, name, d.epoch); err != nil {
		return err
	}
	l.info.Epoch = d.epoch
	i := l.info
	_, err = tx.ExecContext(ctx, insertHolder, name, i.ID, i.Epoch, encodeParts(i.Parts), i.Operation, i.Owner, i.Host,
		i.PID, i.Identity.Scope, i.Identity.Start, i.Started.UnixMicro())
	if err != nil {
		return err
	}
	d.holders = append(d.holders, i)
	if l.info.Until, err = l.extend(ctx, tx, now); err != nil {
		return err
	}
	return sealDeployment(ctx, tx, d)
}

// displace returns the holders that are in the way of the lock, and fails unless all of them may be
// removed. The deployment is nil if it is not there yet.
func (l *tableLock) displace(d *deploymentRow, now time.Time) (taken []statestore.LockInfo, err error) {
	if d == nil {
		return nil, nil
	}
	for _, holder := range d.holders {
		part, conflicts := l.info.Conflict(&holder)
		if !conflicts {
			continue
		}
		if err := holder.Displace(part, l.store.location(), now); err != nil {
			return nil, err
		}
		taken = append(taken, holder)
	}
	return taken, nil
}

// Unlock implements [statestore.Lock].
func (l *tableLock) Unlock(ctx context.Context) error {
	l.lease.End()
	passErr := l.reserve.pass()
	err := l.write(ctx, func(ctx context.Context, tx *transaction) error {
		d, err := l.verify(ctx, tx)
		if err != nil {
			if tx.again && errors.As(err, new(*statestore.LockLostError)) {
				return nil
			}
			return err
		}
		return removeLock(ctx, tx, d, l.info.ID)
	})
	return errors.Join(passErr, err, l.reserve.release())
}

// removeLock deletes a lock of a deployment, which is there.
func removeLock(ctx context.Context, tx *transaction, d *deploymentRow, id string) error {
	if err := d.remove(ctx, tx, id); err != nil {
		return err
	}
	return sealDeployment(ctx, tx, d)
}

// remove deletes a holder. The caller seals the deployment.
func (d *deploymentRow) remove(ctx context.Context, tx *transaction, id string) error {
	d.holders = slices.DeleteFunc(d.holders, func(i statestore.LockInfo) bool { return i.ID == id })
	_, err := tx.ExecContext(ctx, deleteHolder, d.name, id)
	return err
}

// touch notes that the holder of a lock has written.
func (l *tableLock) touch(ctx context.Context, tx *transaction, d *deploymentRow) error {
	now := time.Now().UnixMicro()
	d.holder(l.info.ID).Seen = time.UnixMicro(now).UTC()
	if _, err := tx.ExecContext(ctx, touchHolder, d.name, l.info.ID, now); err != nil {
		return err
	}
	return sealDeployment(ctx, tx, d)
}

// verify returns the deployment of the lock, and fails unless the lock is still
// held (rule S3).
func (l *tableLock) verify(ctx context.Context, tx *transaction) (*deploymentRow, error) {
	d, err := l.store.findDeployment(ctx, tx, l.info.Deployment)
	if err != nil {
		return nil, err
	}
	lost := &statestore.LockLostError{Location: l.store.location(), Deployment: l.info.Deployment, ID: l.info.ID}
	switch {
	case d == nil:
		return nil, lost
	case d.holder(l.info.ID) == nil:
		lost.Now = d.inTheWay(&l.info)
		return nil, lost
	}
	return d, nil
}

// Holders implements [statestore.Store].
func (s *tableStore) Holders(ctx context.Context, deployment string) ([]statestore.LockInfo, error) {
	d, err := s.lookUp(ctx, deployment)
	return d.holders, err
}

// Locks implements [statestore.Store].
func (s *tableStore) Locks(ctx context.Context) ([]statestore.LockInfo, error) {
	var locks []statestore.LockInfo
	err := s.read(ctx, func(tx *transaction) error {
		locks = nil
		names, err := readTexts(ctx, tx, tx.query(selectLocked))
		if err != nil {
			return err
		}
		slices.Sort(names)
		for _, name := range names {
			d, err := s.readDeployment(ctx, tx, name)
			if err != nil {
				return err
			}
			locks = append(locks, d.holders...)
		}
		return nil
	})
	return locks, err
}

// ForceUnlock implements [statestore.Store].
func (s *tableStore) ForceUnlock(ctx context.Context, deployment, lockID string) error {
	notThere := &statestore.LockIDError{Location: s.location(), Deployment: deployment, ID: lockID}
	exists, err := s.exists(ctx)
	if err != nil {
		return err
	}
	if !exists {
		return notThere
	}
	if err := s.create(ctx); err != nil { // says why if it is read-only
		return err
	}
	return s.write(ctx, func(ctx context.Context, tx *transaction) error {
		d, err := s.readDeployment(ctx, tx, deployment)
		if err != nil {
			return err
		}
		if d.holder(lockID) == nil {
			if tx.again {
				return nil
			}
			if len(d.holders) > 0 {
				notThere.Now = &d.holders[0]
			}
			return notThere
		}
		return removeLock(ctx, tx, d, lockID)
	})
}
