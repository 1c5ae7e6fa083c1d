// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/tfengine"
	"github.com/cairnstacks/cairn/internal/views/textstyle"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// storedState is the state as it was read, and the lock if it is to be changed.
type storedState struct {
	*statestore.Snapshot
	State *stackstate.State

	deployment string // whose it is

	lock     statestore.Lock         // nil when the state was only read
	lockedBy *statestore.LockedError // whose lock kept this from being locked, too; only for operations that change nothing
}

// planOperation is what a lock is held for that changes nothing.
const planOperation = "plan"

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
	if snapshot.Lineage == "" {
		if err := s.sayNewDeployment(ctx, store); err != nil {
			return nil, err
		}
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
	lock, err := s.awaitLock(ctx, store, request)
	if err != nil {
		return nil, err
	}
	if isNew {
		s.keepStateFromGit(ctx, path)
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

// lockInterval is how long passes between two tries to get a lock.
const lockInterval = 500 * time.Millisecond

// awaitLock takes the lock, for which it waits as long as the user wants.
func (s *session) awaitLock(ctx context.Context, store statestore.Store, request statestore.LockRequest) (statestore.Lock, error) {
	var deadline time.Time // from when it was found locked
	for {
		lock, err := store.Lock(ctx, s.deployment, request)
		locked, ok := errors.AsType[*statestore.LockedError](err)
		if !ok || s.options.lockTimeout <= 0 {
			return lock, err
		}
		if deadline.IsZero() {
			deadline = time.Now().Add(s.options.lockTimeout)
			s.note("Waiting at most %s for the lock: %s.\n", s.options.lockTimeout, describeHolder(&locked.Holder))
		}
		left := time.Until(deadline)
		if left <= 0 {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, fail("Interrupted", "The lock of the state was waited for. Nothing was changed.")
		case <-time.After(min(left, lockInterval)):
		}
	}
}

// describeHolder says who has the lock.
func describeHolder(holder *statestore.LockInfo) string {
	return fmt.Sprintf("%s on %s (process %d) has it for %q since %s", textstyle.Name(holder.Owner), textstyle.Name(holder.Host), holder.PID,
		textstyle.Name(holder.Operation), holder.Started.Local().Format("2006-01-02 15:04:05 MST"))
}

// lockExisting is lockState for an operation that changes nothing itself: a state that doesn't exist is not
// created, and one that can't be written, or that somebody else has locked, is only read.
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
	var lockedErr *statestore.LockedError
	if s.options.lockTimeout <= 0 && errors.As(err, &lockedErr) {
		stored, err := s.readState(ctx) // for it may have changed until it was found locked
		if err != nil {
			return nil, err
		}
		stored.lockedBy = lockedErr
		return stored, nil
	}
	return locked, err
}

// mayBeStale warns of what is planned from a state that somebody else may be changing.
func (t *storedState) mayBeStale() hcl.Diagnostics {
	if t.lockedBy == nil || t.lockedBy.Holder.Operation == planOperation {
		return nil
	}
	return hcl.Diagnostics{{
		Severity: hcl.DiagWarning,
		Summary:  "State is being changed",
		Detail: fmt.Sprintf("The state is locked: %s. This plan is made from the state as it was when it was read, and may be out of date already. "+
			"With -lock-timeout=5m the command waits for the lock.", describeHolder(&t.lockedBy.Holder)),
	}}
}

// maySavePlan refuses to save a plan of a state of which only a part is known: when the rest is there, nothing would tell it from the whole.
func (t *storedState) maySavePlan() error {
	if t.lockedBy == nil || !t.Unfinished() {
		return nil
	}
	return fail("State is being changed", "The plan cannot be saved, for it is out of date as soon as that operation goes on: %s. "+
		"Plan when it has ended; with -lock-timeout=5m the command waits for that.", describeHolder(&t.lockedBy.Holder))
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

// stateChange is a change of the whole state by hand.
type stateChange struct {
	locked string // what the lock is held for

	// changes returns what is to be changed in the state, and what the history shall say of it.
	changes func(*storedState) (operation string, records map[string][]byte, err error)

	// completes is the secret of the state if the change brings what an apply could not save: that comes before the recovery of what the
	// apply has left behind, which has only a part of it.
	completes []byte
}

// changeState changes the state as a whole, under the lock.
func (s *session) changeState(ctx context.Context, operation string, changes func(*storedState) (map[string][]byte, error)) (int, error) {
	return s.changeStateAs(ctx, stateChange{locked: operation, changes: func(stored *storedState) (string, map[string][]byte, error) {
		records, err := changes(stored)
		return operation, records, err
	}})
}

// changeStateAs is changeState for a change of which more is to be said.
func (s *session) changeStateAs(ctx context.Context, change stateChange) (int, error) {
	stored, err := s.lockState(ctx, change.locked)
	if err != nil {
		return 0, err
	}
	var operation string
	var records map[string][]byte
	if err = s.checkNothingInterrupted(ctx, change.completes); err == nil {
		operation, records, err = change.changes(stored)
	}
	if err == nil && len(records) > 0 {
		err = stored.write(ctx, operation, records)
	}
	if err := errors.Join(err, stored.unlock(ctx)); err != nil {
		return 0, err
	}
	if len(records) == 0 {
		s.stdout("The state is like that already. Nothing was changed.\n")
		return exitOK, nil
	}
	s.stdout("The state was changed and is now at serial %d.\n", stored.Serial)
	return exitOK, nil
}

// checkNothingInterrupted fails if an apply was cut off of which the result is not in the state yet, and whose secret is not the given one. It
// would be recovered into whatever the state has become: for the address that its component had then, and over what was put there. To be called
// with the state locked.
func (s *session) checkNothingInterrupted(ctx context.Context, except []byte) error {
	secret, err := s.store.Secret(ctx, s.deployment)
	if err != nil || secret != nil && bytes.Equal(secret, except) {
		return err
	}
	components := tfengine.Interrupted(s.runsDir(), secret)
	if len(components) == 0 {
		return nil
	}
	return fail("Interrupted apply not recovered", "An earlier apply was cut off, and what it did with %s is not in the state yet. "+
		"Run \"cairn plan\", which recovers that, and then this command again.", strings.Join(components, ", "))
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
	detail := sentences(err.Error())
	if locked != nil && locked.Running {
		detail += " With -lock-timeout=5m the command waits for that."
	}
	return problem(summary, "%s", detail)
}
