// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// storedState is the state as it was read, and the lock if it is to be changed.
type storedState struct {
	*statestore.Snapshot
	State *stackstate.State

	deployment string // whose it is

	lock statestore.Lock // nil when the state was only read
}

// readState reads the state without locking it.
func (s *session) readState(ctx context.Context) (*storedState, error) {
	store, err := s.openStore(ctx)
	if err != nil {
		return nil, err
	}
	snapshot, err := store.Read(ctx, s.deployment)
	if err != nil {
		return nil, err
	}
	state, err := decodeState(snapshot.Records)
	if err != nil {
		return nil, err
	}
	return &storedState{Snapshot: snapshot, State: state, deployment: s.deployment}, nil
}

func decodeState(records map[string][]byte) (*stackstate.State, error) {
	state, err := stackstate.FromRecords(records)
	if err == nil {
		return state, nil
	}
	var unknown *stackstate.UnknownKindError
	if errors.As(err, &unknown) {
		return nil, fail("State from a newer version", "The state cannot be used: %s. It was written by a newer version of cairn: use that one.", err)
	}
	return nil, fail("State cannot be read", "The records of the state cannot be understood: %s.", err)
}

// lockState takes the lock and reads the state (rule L3). The caller unlocks it.
func (s *session) lockState(ctx context.Context, operation string) (*storedState, error) {
	return s.lockStateWith(ctx, statestore.LockRequest{Operation: operation})
}

// lockStateWith is lockState for who wants more of the lock.
func (s *session) lockStateWith(ctx context.Context, request statestore.LockRequest) (*storedState, error) {
	store, err := s.openStore(ctx)
	if err != nil {
		return nil, err
	}
	path, err := s.stateFile()
	if err != nil {
		return nil, err
	}
	_, err = os.Stat(path)
	isNew := errors.Is(err, fs.ErrNotExist)
	lock, err := store.Lock(ctx, s.deployment, request)
	if err != nil {
		return nil, err
	}
	if isNew {
		s.keepFromGit(ctx, path)
	}
	if dead := lock.TakenFrom(); dead != nil {
		s.note("The lock of %s (process %d on %s) was taken over: that process, which began %q at %s, is gone.\n",
			dead.Owner, dead.PID, dead.Host, dead.Operation, dead.Started.Local().Format("2006-01-02 15:04:05 MST"))
	}
	stored, err := s.readState(ctx)
	if err != nil {
		return nil, errors.Join(err, lock.Unlock(ctx))
	}
	stored.lock = lock
	return stored, nil
}

// lockExisting is lockState for an operation that changes nothing itself: a state that doesn't exist is not
// created, and one that can't be written is only read.
func (s *session) lockExisting(ctx context.Context, operation string) (*storedState, error) {
	stored, err := s.readState(ctx)
	if err != nil {
		return nil, err
	}
	if stored.Lineage == "" {
		// The first apply has the lock before it has written anything.
		holder, err := s.store.LockInfo(ctx, s.deployment)
		if err != nil || holder == nil {
			return stored, err
		}
	}
	locked, err := s.lockState(ctx, operation)
	var storeErr *statestore.StoreError
	if errors.As(err, &storeErr) && (storeErr.Problem == statestore.ProblemReadOnly || storeErr.Problem == statestore.ProblemAccess) {
		return stored, nil
	}
	return locked, err
}

// reload reads the state again, under the same lock.
func (t *storedState) reload(ctx context.Context, store statestore.Store) error {
	snapshot, err := store.Read(ctx, t.deployment)
	if err != nil {
		return err
	}
	state, err := decodeState(snapshot.Records)
	if err != nil {
		return err
	}
	t.Snapshot, t.State = snapshot, state
	return nil
}

// unlock gives the lock back, if there is one.
func (t *storedState) unlock(ctx context.Context) error {
	if t == nil || t.lock == nil {
		return nil
	}
	lock := t.lock
	t.lock = nil
	return lock.Unlock(ctx)
}

// change makes one change of the whole state, as one serial.
func (t *storedState) change(ctx context.Context, operation string, want *stackstate.State) error {
	changes, err := stackstate.Diff(t.State, want)
	if err != nil {
		return fmt.Errorf("encoding the state: %w", err)
	}
	return t.write(ctx, operation, changes)
}

func (t *storedState) write(ctx context.Context, operation string, changes map[string][]byte) error {
	writer, err := t.lock.Begin(ctx, t.Base(), operation)
	if err != nil {
		return err
	}
	if err := writer.Write(ctx, changes); err != nil {
		return err
	}
	t.Lineage, t.Serial = writer.Base().Lineage, writer.Base().Serial
	return writer.Commit(ctx)
}

// stateProblem explains an error of the state store. It is nil for other errors.
func stateProblem(err error) *hcl.Diagnostic {
	var (
		locked *statestore.LockedError
		lost   *statestore.LockLostError
		id     *statestore.LockIDError
		stale  *statestore.StaleError
		serial *statestore.SerialError
		broken *statestore.StoreError
	)
	summary := ""
	switch {
	case errors.As(err, &locked):
		summary = "State is locked"
	case errors.As(err, &lost):
		summary = "Lock was lost"
	case errors.As(err, &id):
		summary = "No such lock"
	case errors.As(err, &stale):
		summary = "State has changed"
	case errors.As(err, &serial):
		summary = "No such serial"
	case errors.As(err, &broken):
		summary = "State cannot be used"
	default:
		return nil
	}
	return problem(summary, "%s", sentences(err.Error()))
}

// sentences makes sentences of the clauses of an error.
func sentences(text string) string {
	var b strings.Builder
	for i, clause := range strings.Split(text, "; ") {
		if i > 0 {
			b.WriteString(" ")
		}
		b.WriteString(upperFirst(clause) + ".")
	}
	return b.String()
}
