// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairnstacks/cairn/internal/format/cairnfile"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/tfengine"
)

// deploymentVariable is the environment variable that names a deployment.
const deploymentVariable = "CAIRN_DEPLOYMENT"

// chooseDeployment finds out which deployment is meant.
func (s *session) chooseDeployment() error {
	name := cmp.Or(s.options.deployment, os.Getenv(deploymentVariable), deployment.Default)
	if !cairnfile.IsDeployment(name) {
		return fail("Invalid name of a deployment", "The name %q, from -deployment or %s, must be of letters, digits, \"_\" and \"-\", 63 at most, and not begin with \"-\".",
			name, deploymentVariable)
	}
	s.deploymentName = name
	return nil
}

// readState reads the state without locking it.
func (s *session) readState(ctx context.Context) (*deployment.Stored, error) {
	opened, err := s.openDeployment(ctx)
	if err != nil {
		return nil, err
	}
	return opened.Read(ctx)
}

// lockState locks and reads the state, for an operation that changes it. The caller unlocks it.
func (s *session) lockState(ctx context.Context, request statestore.LockRequest) (*deployment.Stored, error) {
	opened, err := s.openDeployment(ctx)
	if err != nil {
		return nil, err
	}
	path, err := s.stateFile()
	if err != nil {
		return nil, err
	}
	_, err = os.Stat(path)
	isNew := errors.Is(err, fs.ErrNotExist)
	stored, err := opened.Lock(ctx, request)
	if err == nil && isNew {
		s.keepStateFromGit(ctx, path)
	}
	return stored, err
}

// lockToPlan is lockState for an operation that changes nothing.
func (s *session) lockToPlan(ctx context.Context) (*deployment.Stored, error) {
	opened, err := s.openDeployment(ctx)
	if err != nil {
		return nil, err
	}
	return opened.LockToPlan(ctx)
}

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
func (s *session) changeState(ctx context.Context, operation string, changes func(*deployment.Stored) (map[string][]byte, error)) (int, error) {
	return s.changeStateAs(ctx, stateChange{locked: operation, changes: func(stored *deployment.Stored) (string, map[string][]byte, error) {
		records, err := changes(stored)
		return operation, records, err
	}})
}

// changeStateAs is changeState for a change of which more is to be said.
func (s *session) changeStateAs(ctx context.Context, change stateChange) (int, error) {
	stored, err := s.lockState(ctx, statestore.LockRequest{Operation: change.locked})
	if err != nil {
		return 0, err
	}
	var operation string
	var records map[string][]byte
	if err = s.checkNothingInterrupted(ctx, stored, change.completes); err == nil {
		operation, records, err = change.changes(stored)
	}
	if err == nil && len(records) > 0 {
		err = stored.Write(ctx, operation, records)
	}
	if err := errors.Join(err, stored.Unlock(ctx)); err != nil {
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
func (s *session) checkNothingInterrupted(ctx context.Context, stored *deployment.Stored, except []byte) error {
	secret, err := stored.Secret(ctx)
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

// runsDir is where the engine keeps what applies of a deployment have done until it is in the state.
func (s *session) runsDir() string {
	if s.deploymentName == deployment.Default {
		return filepath.Join(dataDir(), "runs")
	}
	return filepath.Join(dataDir(), "deployments", s.deploymentName, "runs")
}
