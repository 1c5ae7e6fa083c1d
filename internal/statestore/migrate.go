// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statestore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Migration moves the states of all deployments, with their history and secrets, from one store to
// another. A migration that was interrupted goes on where it was when it is begun again.
type Migration struct {
	From, To Store
	Location string // of To, as the note in From names it

	// Copied is called after each serial that was copied; it may be nil.
	Copied func(deployment string, version Version)
}

// Moved counts the deployments and serials of a migration.
type Moved struct {
	Deployments, Serials int
}

// migrating is the operation of locks.
const migrating = "state migrate"

// Run moves the states. Nobody can change them in From meanwhile, nor afterwards.
//
// Errors:
//   - [*LockedError]: a state is being changed.
//   - [*StaleError]: To has another state for a deployment.
func (m *Migration) Run(ctx context.Context) (moved Moved, err error) {
	names, err := m.From.Deployments(ctx)
	if err != nil {
		return moved, err
	}
	for _, name := range names {
		lock, lockErr := m.From.Lock(ctx, name, LockRequest{Operation: migrating})
		if lockErr != nil {
			return moved, errors.Join(err, lockErr)
		}
		defer func() { //nolint:revive // All locks are held until the end.
			if err != nil { // else the states are no longer there
				err = errors.Join(err, lock.Unlock(ctx))
			}
		}()
	}
	newest, err := m.From.Newest(ctx)
	if err != nil {
		return moved, err
	}
	if !slices.Equal(names, slices.Sorted(maps.Keys(newest))) {
		return moved, ErrChanged
	}
	for _, name := range names {
		serials, err := m.copy(ctx, name, newest[name].Base)
		if err != nil {
			return moved, err
		}
		moved.Deployments, moved.Serials = moved.Deployments+1, moved.Serials+serials
	}
	return moved, m.From.MarkMoved(ctx, m.Location, newest)
}

// copy copies the serials of one deployment that are not there yet, up to the newest, and makes
// sure of all.
func (m *Migration) copy(ctx context.Context, name string, newest Base) (serials int, err error) {
	secret, err := m.From.Secret(ctx, name)
	if err != nil {
		return 0, err
	}
	history, err := m.From.History(ctx, name)
	if err != nil {
		return 0, err
	}
	lock, err := m.To.Lock(ctx, name, LockRequest{Operation: migrating})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, lock.Unlock(ctx)) }()
	there, err := m.To.History(ctx, name)
	if err != nil {
		return 0, err
	}
	if err := m.checkCopied(ctx, name, newest, history, there); err != nil {
		return 0, err
	}
	before, err := m.From.ReadSerial(ctx, name, int64(len(there)))
	if err != nil {
		return 0, err
	}
	for _, version := range history[len(there):] {
		snapshot, err := m.From.ReadSerial(ctx, name, version.Serial)
		if err != nil {
			return 0, err
		}
		if err := lock.Import(ctx, snapshot.Lineage, version, Changes(before.Records, snapshot.Records)); err != nil {
			return 0, err
		}
		if m.Copied != nil {
			m.Copied(name, version)
		}
		before = snapshot
	}
	if secret != nil {
		if err := lock.AdoptSecret(ctx, secret); err != nil {
			return 0, err
		}
	}
	return len(history) - len(there), m.compare(ctx, name, before, secret)
}

// checkCopied fails unless the serials that are there are a beginning of those that are to be
// copied.
func (m *Migration) checkCopied(ctx context.Context, name string, newest Base, history, there []Version) error {
	if len(there) == 0 {
		return nil
	}
	copied, err := m.To.Newest(ctx)
	if err != nil {
		return err
	}
	have := copied[name].Base
	if have.Lineage != newest.Lineage || len(there) > len(history) || !slices.EqualFunc(there, history[:len(there)], Version.equal) {
		return &StaleError{Location: m.Location, Deployment: name, Want: newest, Have: have}
	}
	return nil
}

func (v Version) equal(w Version) bool {
	sameTimes := v.Started.Equal(w.Started) && v.Finished.Equal(w.Finished)
	v.Started, v.Finished = w.Started, w.Finished
	return sameTimes && v == w
}

// compare fails unless the newest serial and the secret have arrived.
func (m *Migration) compare(ctx context.Context, name string, want *Snapshot, secret []byte) error {
	have, err := m.To.Read(ctx, name)
	if err != nil {
		return err
	}
	haveSecret, err := m.To.Secret(ctx, name)
	if err != nil {
		return err
	}
	if have.Base() != want.Base() || !maps.EqualFunc(have.Records, want.Records, bytes.Equal) || !bytes.Equal(haveSecret, secret) {
		return fmt.Errorf("the state of deployment %q is another one in %s after it was copied; remove it there and try again", name, m.Location)
	}
	return nil
}
