// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"
	"errors"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// Changed is what a change of the state by hand has done.
type Changed struct {
	Nothing bool  // the state was like that already
	Serial  int64 // of the state after the change
}

// stateChange is a change of the whole state by hand, as one serial.
type stateChange struct {
	lockedFor string // what the lock is held for

	// records returns what is to be written into the locked state, and what the history says about it.
	records func(*deployment.Stored) (operation string, records map[string][]byte, err error)

	// completes is the secret of the state if the change brings what an apply could not save: that comes before the recovery of what the
	// apply has left behind, which has only a part of it.
	completes []byte
}

// changeState changes the state under its lock.
func (s *Stack) changeState(ctx context.Context, change stateChange) (Changed, error) {
	stored, err := s.lockState(ctx, statestore.LockRequest{Operation: change.lockedFor})
	if err != nil {
		return Changed{}, err
	}
	var operation string
	var records map[string][]byte
	if err = s.checkNothingInterrupted(ctx, stored, change.completes); err == nil {
		operation, records, err = change.records(stored)
	}
	if err == nil && len(records) > 0 {
		err = stored.Write(ctx, operation, records)
	}
	if err := errors.Join(err, stored.Unlock(ctx)); err != nil {
		return Changed{}, err
	}
	return Changed{Nothing: len(records) == 0, Serial: stored.Serial}, nil
}

// RemoveFromState forgets a component instance or a resource instance without destroying it. It returns what is no longer managed.
func (s *Stack) RemoveFromState(ctx context.Context, address string) (deployment.Contents, Changed, error) {
	const name = "state rm"
	var removed deployment.Contents
	changed, err := s.changeState(ctx, stateChange{lockedFor: name, records: func(stored *deployment.Stored) (string, map[string][]byte, error) {
		records, contents, err := stored.Remove(address)
		removed = contents
		return name, records, err
	}})
	return removed, changed, err
}

// MoveInState gives a component, an embedded stack or a resource another address. It returns what has moved.
func (s *Stack) MoveInState(ctx context.Context, from, to string) ([]deployment.Moved, Changed, error) {
	const name = "state mv"
	move, err := deployment.ParseMove(from, to)
	if err != nil {
		return nil, Changed{}, err
	}
	var moved []deployment.Moved
	changed, err := s.changeState(ctx, stateChange{lockedFor: name, records: func(stored *deployment.Stored) (string, map[string][]byte, error) {
		after, all, err := move.Apply(stored.State)
		if err != nil {
			return "", nil, err
		}
		moved = all
		records, err := stackstate.Diff(stored.State, after)
		return name, records, err
	}})
	return moved, changed, err
}

// PreviewMove returns what [Stack.MoveInState] would move.
func (s *Stack) PreviewMove(ctx context.Context, from, to string) ([]deployment.Moved, error) {
	move, err := deployment.ParseMove(from, to)
	if err != nil {
		return nil, err
	}
	stored, err := s.ReadState(ctx)
	if err != nil {
		return nil, err
	}
	_, moved, err := move.Apply(stored.State)
	return moved, err
}

// PushState puts a document in the place of the state; by force also one that is older, or of another lineage.
func (s *Stack) PushState(ctx context.Context, document *deployment.Document, force bool) (Changed, error) {
	const name = "state push"
	return s.changeState(ctx, stateChange{lockedFor: name, completes: document.Secret, records: func(stored *deployment.Stored) (string, map[string][]byte, error) {
		records, err := stored.Push(ctx, document, force)
		return name, records, err
	}})
}

// ExportState returns the state of a component instance as a plain Terraform state.
func (s *Stack) ExportState(ctx context.Context, address string) (engine.State, error) {
	stored, err := s.ReadState(ctx)
	if err != nil {
		return nil, err
	}
	return stored.Export(address)
}

// ImportState makes a plain Terraform state that of a component instance, which the configuration must declare. The name is that of the file in errors.
func (s *Stack) ImportState(ctx context.Context, address string, src []byte, file string) (Changed, error) {
	const name = "state import"
	addr, resource, err := deployment.ParseAddress(address)
	if err == nil && resource != "" {
		err = failure.Error("Invalid address", "A state is imported into a whole component. Give the address of a component instance.")
	}
	if err == nil {
		err = s.checkDeclared(addr)
	}
	if err != nil {
		return Changed{}, err
	}
	imported, err := deployment.ParseComponent(addr, src, file)
	if err != nil {
		return Changed{}, err
	}
	return s.changeState(ctx, stateChange{lockedFor: name, records: func(stored *deployment.Stored) (string, map[string][]byte, error) {
		records, err := stored.Import(imported)
		return name, records, err
	}})
}

// RollBackState makes the state what it was at the end of a serial, as a new one. What exists is not changed, so objects may be lost sight of: where
// that is so, approve decides, and nil refuses. An error of it says why not.
func (s *Stack) RollBackState(ctx context.Context, serial int64, approve func(context.Context, deployment.Rollback) error) (Changed, error) {
	return s.changeState(ctx, stateChange{lockedFor: "state rollback", records: func(stored *deployment.Stored) (string, map[string][]byte, error) {
		rollback, err := stored.RollBack(ctx, serial)
		if err == nil && len(rollback.Loses)+len(rollback.Regains) > 0 {
			if approve == nil {
				return "", nil, hcl.Diagnostics{failure.WithCode(CodeNotApproved,
					failure.New("Approval needed", "There is nobody to approve the change of the state. Nothing was changed."))}
			}
			err = approve(ctx, rollback)
		}
		return rollback.Operation(), rollback.Records, err
	}})
}

// StateHistory returns what has changed the state, and when, the oldest change first.
func (s *Stack) StateHistory(ctx context.Context) ([]statestore.Version, error) {
	opened, err := s.openDeployment(ctx)
	if err != nil {
		return nil, err
	}
	return opened.Store.History(ctx, opened.Name)
}

// UnlockState removes the lock with this ID, which a process has left behind that is gone.
func (s *Stack) UnlockState(ctx context.Context, id string) error {
	opened, err := s.openDeployment(ctx)
	if err != nil {
		return err
	}
	return opened.Store.ForceUnlock(ctx, opened.Name, id)
}
