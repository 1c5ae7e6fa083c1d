// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objects

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/cairnstacks/cairn/internal/statestore"
	statelogv1 "github.com/cairnstacks/cairn/proto/cairn/statelog/v1"
)

// lock is a [statestore.Lock] on object storage.
type lock struct {
	store     *store
	log       *log
	info      statestore.LockInfo
	takenFrom []statestore.LockInfo
	lease     *statestore.Lease
}

var _ statestore.Lock = (*lock)(nil)

// ID implements [statestore.Lock].
func (l *lock) ID() string { return l.info.ID }

// TakenFrom implements [statestore.Lock].
func (l *lock) TakenFrom() []statestore.LockInfo { return l.takenFrom }

// ReserveUsed implements [statestore.Lock]. Nothing is kept back on object storage.
func (l *lock) ReserveUsed() bool { return false }

// Lock implements [statestore.Store].
func (s *store) Lock(ctx context.Context, deployment string, request statestore.LockRequest) (statestore.Lock, error) {
	if err := statestore.CheckName(deployment); err != nil {
		return nil, err
	}
	if err := s.open(); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := s.catalog.checkHere(ctx); err != nil {
		return nil, err
	}
	l := &lock{store: s, log: s.log(deployment), info: statestore.NewLockInfo(deployment, request)}
	err := s.within(ctx, deployment, func(at *log) error {
		return at.append(ctx, true, func(m *model) (*statelogv1.Entry, error) { return l.acquire(ctx, m) })
	})
	if err != nil {
		return nil, err
	}
	l.lease = statestore.KeepLease(ctx, s.closed, func(ctx context.Context) {
		// One that fails is tried again at the next time; if the lock is lost, the next write says so.
		_ = s.put(ctx, l.log.leaseName(), []byte(l.info.ID)) //nolint:errcheck // see above
	})
	return l, nil
}

// acquire returns the entry that takes the lock.
func (l *lock) acquire(ctx context.Context, m *model) (*statelogv1.Entry, error) {
	if m.moved != "" {
		return nil, l.store.movedTo(m.moved, m.movedAt)
	}
	l.takenFrom = nil
	if m.holder != nil {
		holder, err := l.log.holder(ctx)
		if err != nil {
			return nil, err
		}
		var now time.Time
		if holder.Process() == statestore.ProcessUnknown { // else its lease decides nothing
			if now, err = l.store.now(ctx); err != nil {
				return nil, err
			}
		}
		if err := holder.Displace(statestore.Whole, l.store.shown, now); err != nil {
			return nil, err
		}
		l.takenFrom = []statestore.LockInfo{*holder}
	}
	l.info.Epoch = m.epoch + 1
	return &statelogv1.Entry{LockId: l.info.ID, Event: &statelogv1.Entry_Lock{Lock: fromLock(&l.info)}}, nil
}

// verify fails unless the lock is still held (rule S3 of package statestore).
func (l *lock) verify(m *model) error {
	if m.holder != nil && m.holder.ID == l.info.ID {
		return nil
	}
	lost := &statestore.LockLostError{Location: l.store.shown, Deployment: l.info.Deployment, ID: l.info.ID}
	if m.holder != nil {
		now := *m.holder
		lost.Now = &now
	}
	return lost
}

// write adds an entry under the lock.
func (l *lock) write(ctx context.Context, next func(m *model) (*statelogv1.Entry, error)) error {
	return l.log.within(func() error { return l.writeInTurn(ctx, next) })
}

// writeInTurn is write for a caller that has the turn of the log. While nobody else has written,
// the log need not be read: the entry would not be the next one.
func (l *lock) writeInTurn(ctx context.Context, next func(m *model) (*statelogv1.Entry, error)) error {
	if err := l.store.open(); err != nil {
		return err
	}
	fresh := l.verify(l.log.known) == nil // else the present holder is looked for
	return l.log.append(ctx, fresh, func(m *model) (*statelogv1.Entry, error) {
		if err := l.verify(m); err != nil {
			return nil, err
		}
		e, err := next(m)
		if e != nil {
			e.LockId = l.info.ID
		}
		return e, err
	})
}

// Unlock implements [statestore.Lock].
func (l *lock) Unlock(ctx context.Context) error {
	l.lease.End()
	return l.write(ctx, func(*model) (*statelogv1.Entry, error) {
		return &statelogv1.Entry{Event: &statelogv1.Entry_Unlock{Unlock: &statelogv1.Unlock{}}}, nil
	})
}

// ForceUnlock implements [statestore.Store].
func (s *store) ForceUnlock(ctx context.Context, deployment, lockID string) error {
	return s.within(ctx, deployment, func(l *log) error {
		return l.append(ctx, true, func(m *model) (*statelogv1.Entry, error) {
			if m.holder == nil || m.holder.ID != lockID {
				notThere := &statestore.LockIDError{Location: s.shown, Deployment: deployment, ID: lockID}
				if m.holder != nil {
					now := *m.holder
					notThere.Now = &now
				}
				return nil, notThere
			}
			return &statelogv1.Entry{Event: &statelogv1.Entry_Unlock{Unlock: &statelogv1.Unlock{}}}, nil
		})
	})
}

// Secret implements [statestore.Lock].
func (l *lock) Secret(ctx context.Context) ([]byte, error) {
	secret, err := l.store.Secret(ctx, l.info.Deployment)
	if err != nil || secret != nil {
		return secret, err
	}
	secret = []byte(rand.Text())
	return secret, l.AdoptSecret(ctx, secret)
}

// AdoptSecret implements [statestore.Lock].
func (l *lock) AdoptSecret(ctx context.Context, secret []byte) error {
	if err := l.store.catalog.enter(ctx, l.info.Deployment); err != nil {
		return err
	}
	return l.write(ctx, func(m *model) (*statelogv1.Entry, error) {
		if m.secret != nil {
			return nil, errNothing
		}
		return &statelogv1.Entry{Event: &statelogv1.Entry_Secret{Secret: secret}}, nil
	})
}

// Begin implements [statestore.Lock].
func (l *lock) Begin(
	ctx context.Context, base statestore.Base, operation string, changes map[string][]byte,
) (statestore.Writer, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := statestore.CheckKeys(changes); err != nil {
		return nil, err
	}
	if err := l.store.open(); err != nil {
		return nil, err
	}
	if base.Serial == 0 {
		if err := l.store.catalog.enter(ctx, l.info.Deployment); err != nil {
			return nil, err
		}
	}
	w := &writer{lock: l}
	err := l.write(ctx, func(m *model) (*statelogv1.Entry, error) {
		w.base = statestore.NextBase(base)
		adopted := m.base() == statestore.Base{} && base.Serial == 0
		if m.base() != base && !adopted {
			return nil, l.stale(base, m)
		}
		return &statelogv1.Entry{Event: &statelogv1.Entry_Begin{Begin: &statelogv1.Serial{
			Lineage: w.base.Lineage,
			Version: fromVersion(version{Version: statestore.Version{
				Serial: w.base.Serial, Operation: operation, Owner: l.info.Owner, Host: l.info.Host, Started: statestore.Now(),
			}}),
			Write: m.changes(changes),
		}}}, nil
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}

func (l *lock) stale(want statestore.Base, m *model) error {
	return &statestore.StaleError{Location: l.store.shown, Deployment: l.info.Deployment, Want: want, Have: m.base()}
}
