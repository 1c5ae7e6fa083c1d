// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statestore

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// sqliteLock is a [Lock] in a [*sqliteStore].
type sqliteLock struct {
	store     *sqliteStore
	info      LockInfo
	takenFrom *LockInfo
}

var _ Lock = (*sqliteLock)(nil)

// ID implements [Lock].
func (l *sqliteLock) ID() string { return l.info.ID }

// TakenFrom implements [Lock].
func (l *sqliteLock) TakenFrom() *LockInfo { return l.takenFrom }

// Lock implements [Store].
func (s *sqliteStore) Lock(ctx context.Context, deployment string, request LockRequest) (Lock, error) {
	if deployment == "" || !utf8.ValidString(deployment) || strings.ContainsRune(deployment, 0) {
		return nil, fmt.Errorf("lock the state: %q is no name for a deployment", deployment)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := s.create(ctx); err != nil {
		return nil, err
	}
	if request.Owner == "" {
		request.Owner = currentOwner()
	}
	process := currentProcess()
	now := time.UnixMicro(time.Now().UnixMicro()).UTC() // as precise as it is stored
	lock := &sqliteLock{store: s, info: LockInfo{
		ID:         rand.Text(),
		Deployment: deployment,
		Operation:  request.Operation,
		Owner:      request.Owner,
		Host:       currentHost(),
		PID:        process.pid,
		Started:    now,
		Seen:       now,
		process:    process,
	}}
	if err := s.write(ctx, lock.acquire); err != nil {
		return nil, err
	}
	return lock, nil
}

// acquire takes the lock within tx, which nobody else's overlaps.
func (l *sqliteLock) acquire(ctx context.Context, tx *sql.Tx) error {
	deployment := l.info.Deployment
	holder, err := readLock(ctx, tx, deployment)
	if err != nil {
		return err
	}
	if holder != nil {
		alive := holder.process.liveness()
		if alive != livenessDead {
			return &LockedError{Location: l.store.path, Holder: *holder, Running: alive == livenessRunning}
		}
		l.takenFrom = holder
		if _, err := tx.ExecContext(ctx, deleteLock, deployment, holder.ID); err != nil {
			return err
		}
	}
	for _, statement := range []string{ensureDeployment, nextEpoch} {
		if _, err := tx.ExecContext(ctx, statement, deployment); err != nil {
			return err
		}
	}
	if err := tx.QueryRowContext(ctx, selectEpoch, deployment).Scan(&l.info.Epoch); err != nil {
		return err
	}
	i := l.info
	_, err = tx.ExecContext(ctx, insertLock, deployment, i.ID, i.Epoch, i.Operation, i.Owner, i.Host,
		i.PID, i.process.scope, i.process.start, i.Started.UnixMicro())
	return err
}

// Unlock implements [Lock].
func (l *sqliteLock) Unlock(ctx context.Context) error {
	return l.store.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := l.verify(ctx, tx); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, deleteLock, l.info.Deployment, l.info.ID)
		return err
	})
}

// verify fails unless the lock is still held (rule S3).
func (l *sqliteLock) verify(ctx context.Context, tx *sql.Tx) error {
	holder, err := readLock(ctx, tx, l.info.Deployment)
	if err != nil {
		return err
	}
	if holder == nil || holder.ID != l.info.ID {
		return &LockLostError{Location: l.store.path, Deployment: l.info.Deployment, ID: l.info.ID, Now: holder}
	}
	return nil
}

// LockInfo implements [Store].
func (s *sqliteStore) LockInfo(ctx context.Context, deployment string) (*LockInfo, error) {
	var holder *LockInfo
	err := s.read(ctx, func(tx *sql.Tx) error {
		var err error
		holder, err = readLock(ctx, tx, deployment)
		return err
	})
	return holder, err
}

// ForceUnlock implements [Store].
func (s *sqliteStore) ForceUnlock(ctx context.Context, deployment, lockID string) error {
	notThere := &LockIDError{Location: s.path, Deployment: deployment, ID: lockID}
	exists, err := s.exists()
	if err != nil {
		return err
	}
	if !exists {
		return notThere
	}
	if err := s.create(ctx); err != nil { // says why if it is read-only
		return err
	}
	return s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		holder, err := readLock(ctx, tx, deployment)
		if err != nil {
			return err
		}
		if holder == nil || holder.ID != lockID {
			notThere.Now = holder
			return notThere
		}
		_, err = tx.ExecContext(ctx, deleteLock, deployment, lockID)
		return err
	})
}

// readLock returns the holder of a deployment's lock, nil if there is none.
func readLock(ctx context.Context, tx *sql.Tx, deployment string) (*LockInfo, error) {
	i := &LockInfo{Deployment: deployment}
	var started, seen int64
	err := tx.QueryRowContext(ctx, selectLock, deployment).Scan(&i.ID, &i.Epoch, &i.Operation, &i.Owner, &i.Host,
		&i.PID, &i.process.scope, &i.process.start, &started, &seen)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // nobody is an answer
	}
	if err != nil {
		return nil, err
	}
	i.process.pid = i.PID
	i.Started, i.Seen = time.UnixMicro(started).UTC(), time.UnixMicro(seen).UTC()
	return i, nil
}
