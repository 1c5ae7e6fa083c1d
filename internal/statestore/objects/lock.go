// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objects

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"sync/atomic"
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
	renewed   atomic.Bool // so that there may be an object for the lease
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
	var displaced *displaced
	err := s.within(ctx, deployment, func(at *log) error {
		return at.append(ctx, true, func(m *model) (e *statelogv1.Entry, err error) {
			e, displaced, err = l.acquire(ctx, m)
			return e, err
		})
	})
	if err != nil {
		return nil, err
	}
	l.takenFrom = displaced.holders
	for _, id := range displaced.leases {
		s.endLease(ctx, l.log, id)
	}
	l.lease = statestore.KeepLease(ctx, s.closed, l.renew)
	return l, nil
}

// renew renews the lease. If that fails, it is tried again at the next time; if the lock is lost,
// the next write says so.
func (l *lock) renew(ctx context.Context) {
	l.renewed.Store(true)
	_ = l.store.Put(ctx, l.log.leaseName(l.info.ID), []byte(l.info.ID)) //nolint:errcheck // see above
}

// endLease removes the object for the lease of a lock that nobody holds any more. If that fails,
// the object stays, and means nothing.
func (s *store) endLease(ctx context.Context, l *log, lockID string) {
	_ = s.Remove(context.WithoutCancel(ctx), l.leaseName(lockID)) //nolint:errcheck // see above
}

// displaced are the holders whose locks are removed for another one.
type displaced struct {
	holders []statestore.LockInfo
	leases  []string // the IDs of those locks that have an object for their lease
}

// acquire returns the entry that takes the lock, in the place of those that conflict with it and
// whose holders are gone. The others stay, dead or alive.
func (l *lock) acquire(ctx context.Context, m *model) (*statelogv1.Entry, *displaced, error) {
	if m.moved != "" {
		return nil, nil, l.store.movedTo(m.moved, m.movedAt)
	}
	from := &displaced{}
	var ids []string
	var now time.Time
	for _, h := range m.holders {
		part, conflicts := l.info.Conflict(&h.LockInfo)
		if !conflicts {
			continue
		}
		holder := h.LockInfo
		var renewed bool
		var err error
		if holder.Until, renewed, err = l.log.leaseEnd(ctx, h); err != nil {
			return nil, nil, err
		}
		if holder.Process() == statestore.ProcessUnknown && now.IsZero() { // else its lease decides nothing
			if now, err = l.store.now(ctx); err != nil {
				return nil, nil, err
			}
		}
		if err := holder.Displace(part, l.store.Shown, now); err != nil {
			return nil, nil, err
		}
		from.holders, ids = append(from.holders, holder), append(ids, holder.ID)
		if renewed {
			from.leases = append(from.leases, holder.ID)
		}
	}
	l.info.Epoch = m.epoch + 1
	event := fromHolder(&holder{LockInfo: l.info})
	event.Displaced = ids
	return &statelogv1.Entry{LockId: l.info.ID, Event: &statelogv1.Entry_Lock{Lock: event}}, from, nil
}

// verify fails unless the lock is still held (rule S3 of package statestore).
func (l *lock) verify(m *model) error {
	if m.holder(l.info.ID) != nil {
		return nil
	}
	return &statestore.LockLostError{
		Location: l.store.Shown, Deployment: l.info.Deployment, ID: l.info.ID, Now: m.present(&l.info),
	}
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
	under := func(m *model) (*statelogv1.Entry, error) {
		if err := l.verify(m); err != nil {
			return nil, err
		}
		e, err := next(m)
		if e != nil {
			e.LockId = l.info.ID
		}
		return e, err
	}
	fresh := l.verify(l.log.known) == nil // else the present holder is looked for
	err := l.log.append(ctx, fresh, under)
	if _, stale := errors.AsType[*statestore.StaleError](err); stale && fresh {
		// The serial that is built on may be one of another holder, which was not read here yet.
		err = l.log.append(ctx, false, under)
	}
	return err
}

// Unlock implements [statestore.Lock].
func (l *lock) Unlock(ctx context.Context) error {
	l.lease.End()
	err := l.write(ctx, func(*model) (*statelogv1.Entry, error) { return unlock(l.info.ID), nil })
	// Of a lock that was lost, the object is there again if it was renewed after that.
	if isHeld := err != nil && !isLost(err); !isHeld && l.renewed.Load() {
		l.store.endLease(ctx, l.log, l.info.ID)
	}
	return err
}

func isLost(err error) bool {
	_, lost := errors.AsType[*statestore.LockLostError](err)
	return lost
}

// unlock returns the entry that removes a lock.
func unlock(lockID string) *statelogv1.Entry {
	return &statelogv1.Entry{Event: &statelogv1.Entry_Unlock{Unlock: &statelogv1.Unlock{LockId: lockID}}}
}

// ForceUnlock implements [statestore.Store].
func (s *store) ForceUnlock(ctx context.Context, deployment, lockID string) error {
	return s.within(ctx, deployment, func(l *log) error {
		err := l.append(ctx, true, func(m *model) (*statelogv1.Entry, error) {
			if m.holder(lockID) != nil {
				return unlock(lockID), nil
			}
			notThere := &statestore.LockIDError{Location: s.Shown, Deployment: deployment, ID: lockID}
			if len(m.holders) > 0 {
				now := m.holders[0].LockInfo
				notThere.Now = &now
			}
			return nil, notThere
		})
		if err == nil {
			s.endLease(ctx, l, lockID)
		}
		return err
	})
}

// Secret implements [statestore.Lock].
func (l *lock) Secret(ctx context.Context) ([]byte, error) {
	secret, err := l.store.Secret(ctx, l.info.Deployment)
	if err != nil || secret != nil {
		return secret, err
	}
	return l.adopt(ctx, []byte(rand.Text()))
}

// AdoptSecret implements [statestore.Lock].
func (l *lock) AdoptSecret(ctx context.Context, secret []byte) error {
	_, err := l.adopt(ctx, secret)
	return err
}

// adopt returns the secret, which is this one if there is none yet. The holder of another part can
// have made one meanwhile.
func (l *lock) adopt(ctx context.Context, secret []byte) ([]byte, error) {
	if err := l.store.catalog.enter(ctx, l.info.Deployment); err != nil {
		return nil, err
	}
	err := l.write(ctx, func(m *model) (*statelogv1.Entry, error) {
		if m.secret != nil {
			secret = slices.Clone(m.secret)
			return nil, errNothing
		}
		return &statelogv1.Entry{Event: &statelogv1.Entry_Secret{Secret: secret}}, nil
	})
	if err != nil {
		return nil, err
	}
	return secret, nil
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
		w.mu.base = statestore.NextBase(base)
		adopted := m.base() == statestore.Base{} && base.Serial == 0
		if m.base() != base && !adopted {
			return nil, l.stale(base, m)
		}
		return l.begin(w.mu.base, version{Version: statestore.Version{Operation: operation}}, m.changes(changes)), nil
	})
	if err != nil {
		return nil, err
	}
	return w, nil
}

// begin returns the entry that opens a serial of an operation.
func (l *lock) begin(at statestore.Base, v version, write *statelogv1.Write) *statelogv1.Entry {
	v.Serial, v.Owner, v.Host, v.Started = at.Serial, l.info.Owner, l.info.Host, statestore.Now()
	return &statelogv1.Entry{Event: &statelogv1.Entry_Begin{Begin: &statelogv1.Serial{
		Lineage: at.Lineage, Version: fromVersion(v), Write: write,
	}}}
}

func (l *lock) stale(want statestore.Base, m *model) error {
	return &statestore.StaleError{Location: l.store.Shown, Deployment: l.info.Deployment, Want: want, Have: m.base()}
}
