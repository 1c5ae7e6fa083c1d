// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"errors"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/statestore"
)

// stateChange is a change of the whole state by hand.
type stateChange struct {
	locked string // what the lock is held for

	// changes returns what is to be changed in the state, and what the history shall say of it.
	changes func(*deployment.Stored) (operation string, records map[string][]byte, err error)

	// completes is the secret of the state if the change brings what an apply could not save: that comes before the recovery of what the
	// apply has left behind, which has only a part of it.
	completes []byte
}

// changeState changes the state as a whole, under the lock.
func changeState(ctx context.Context, s *session.Session, operation string, changes func(*deployment.Stored) (map[string][]byte, error)) (int, error) {
	return changeStateAs(ctx, s, stateChange{locked: operation, changes: func(stored *deployment.Stored) (string, map[string][]byte, error) {
		records, err := changes(stored)
		return operation, records, err
	}})
}

// changeStateAs is changeState for a change of which more is to be said.
func changeStateAs(ctx context.Context, s *session.Session, change stateChange) (int, error) {
	stored, err := s.Stack().LockState(ctx, statestore.LockRequest{Operation: change.locked})
	if err != nil {
		return 0, err
	}
	var operation string
	var records map[string][]byte
	if err = s.Stack().CheckNothingInterrupted(ctx, stored, change.completes); err == nil {
		operation, records, err = change.changes(stored)
	}
	if err == nil && len(records) > 0 {
		err = stored.Write(ctx, operation, records)
	}
	if err := errors.Join(err, stored.Unlock(ctx)); err != nil {
		return 0, err
	}
	if len(records) == 0 {
		s.Print("The state is like that already. Nothing was changed.\n")
		return cmdline.ExitOK, nil
	}
	s.Print("The state was changed and is now at serial %d.\n", stored.Serial)
	return cmdline.ExitOK, nil
}
