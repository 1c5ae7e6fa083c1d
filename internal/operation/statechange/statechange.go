// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package statechange changes the stored state of a deployment by hand: each change is one serial,
// made under the lock of the state.
package statechange

import (
	"context"
	"errors"
	"maps"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/encryption/encryptedstore"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/declared"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/operation/sources"
	"github.com/cairnstacks/cairn/internal/operation/stored"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// CodeNotApproved is of a plan, or a change of the state, for which nobody could be asked to
// approve it.
const CodeNotApproved fault.Code = "operation/not-approved"

// CodeNoBlock is of a state that was to be pushed for a deployment that there is not.
const CodeNoBlock fault.Code = "operation/push-without-block"

// State is the state of a deployment of a stack.
type State struct {
	Sources *sources.Sources
	States  *stored.States
	Engines *engines.Stack
}

// CodeInterrupted is of applies that were cut off, for which a caller may know a remedy of its own.
const CodeInterrupted fault.Code = "operation/interrupted-apply"

// checkNothingInterrupted fails if an apply was cut off of which the result is not in the state
// yet, and whose secret is not the given one. It would be recovered into the state regardless of
// later changes: for the address that its component had then, and over later contents of that. To
// be called with the state locked.
func (s *State) checkNothingInterrupted(ctx context.Context, stored *deployment.Stored, except []byte) error {
	secret, err := stored.Secret(ctx)
	if err != nil || secret == nil || string(secret) == string(except) {
		return err
	}
	components, err := s.Engines.Kept(ctx, secret)
	if err != nil {
		return err
	}
	if len(components) == 0 && len(stored.CutOff) == 0 {
		return nil
	}
	if len(components) == 0 {
		components = []string{"the stack"}
	}
	return hcl.Diagnostics{failure.With(CodeInterrupted, failure.New("Interrupted apply not recovered",
		"An earlier apply was cut off, and its changes to %s are not in the state yet. Planning recovers that.", strings.Join(components, ", ")))}
}

// Changed is the result of a change of the state by hand.
type Changed struct {
	Nothing bool  // the state was like that already
	Serial  int64 // of the state after the change
}

// change is a change of the whole state by hand, as one serial.
type change struct {
	lockedFor string // the operation that the lock is held for

	// records returns the records to be written into the locked state, and the name of the operation
	// in the history.
	records func(*deployment.Stored) (operation string, records map[string][]byte, err error)

	// completes is the secret of the state if the change brings the unsaved changes of an apply: these
	// come before the recovery of the apply's own records, which have only a part of them.
	completes []byte

	mayBeNew bool // the state of a deployment that there is not yet
}

// read reads the state without locking it.
func (s *State) read(ctx context.Context) (*deployment.Stored, error) {
	opened, err := s.States.Existing(ctx)
	if err != nil {
		return nil, err
	}
	return opened.Read(ctx)
}

// write changes the state under its lock.
func (s *State) write(ctx context.Context, made change) (Changed, error) {
	if !made.mayBeNew {
		if _, err := s.States.Existing(ctx); err != nil {
			return Changed{}, err
		}
	}
	stored, err := s.States.Lock(ctx, statestore.LockRequest{Operation: made.lockedFor})
	if err != nil {
		return Changed{}, err
	}
	var operation string
	var records map[string][]byte
	if err = s.checkNothingInterrupted(ctx, stored, made.completes); err == nil {
		operation, records, err = made.records(stored)
	}
	if err == nil && len(records) > 0 {
		err = stored.Write(ctx, operation, records)
	}
	if err := errors.Join(err, stored.Unlock(ctx)); err != nil {
		return Changed{}, err
	}
	return Changed{Nothing: len(records) == 0, Serial: stored.Serial}, nil
}

// Remove forgets a component instance or a resource instance without destroying it. It returns the
// objects that are no longer managed.
func (s *State) Remove(ctx context.Context, address string) (deployment.Contents, Changed, error) {
	const name = "state rm"
	var removed deployment.Contents
	changed, err := s.write(ctx, change{lockedFor: name, records: func(stored *deployment.Stored) (string, map[string][]byte, error) {
		records, contents, err := stored.Remove(address)
		removed = contents
		return name, records, err
	}})
	return removed, changed, err
}

// Move gives a component, an embedded stack or a resource another address. It returns the moves.
func (s *State) Move(ctx context.Context, from, to string) ([]deployment.Moved, Changed, error) {
	const name = "state mv"
	move, err := deployment.ParseMove(from, to)
	if err != nil {
		return nil, Changed{}, err
	}
	var moved []deployment.Moved
	changed, err := s.write(ctx, change{lockedFor: name, records: func(stored *deployment.Stored) (string, map[string][]byte, error) {
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

// PreviewMove returns the moves that [State.Move] would make.
func (s *State) PreviewMove(ctx context.Context, from, to string) ([]deployment.Moved, error) {
	move, err := deployment.ParseMove(from, to)
	if err != nil {
		return nil, err
	}
	stored, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	_, moved, err := move.Apply(stored.State)
	return moved, err
}

// Push puts a document in the place of the state; by force also one that is older, or of another
// lineage, and also as the state of a deployment that there is not.
func (s *State) Push(ctx context.Context, document *deployment.Document, force bool) (Changed, error) {
	const name = "state push"
	changed, err := s.write(ctx, change{
		lockedFor: name, completes: document.Secret, mayBeNew: force,
		records: func(stored *deployment.Stored) (string, map[string][]byte, error) {
			records, err := stored.Push(ctx, document, force)
			return name, records, err
		},
	})
	return changed, withBlockFirst(err)
}

// withBlockFirst adds to the error about a deployment that there is not how it can get a state.
func withBlockFirst(err error) error {
	diags := failure.Diagnostics(err)
	if len(diags) != 1 || diags[0].Extra != any(declared.CodeUnknown) {
		return err
	}
	diag := *diags[0]
	diag.Detail += " For the state of a new one, add its deployment block first."
	return hcl.Diagnostics{failure.With(CodeNoBlock, &diag)}
}

// Export returns the state of a component instance as a plain Terraform state.
func (s *State) Export(ctx context.Context, address string) (engine.State, error) {
	stored, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	return stored.Export(address)
}

// Import makes a plain Terraform state that of a component instance, which the configuration must
// declare. The name is that of the file in errors.
func (s *State) Import(ctx context.Context, address string, src []byte, file string) (Changed, error) {
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
	return s.write(ctx, change{lockedFor: name, records: func(stored *deployment.Stored) (string, map[string][]byte, error) {
		records, err := stored.Import(imported)
		return name, records, err
	}})
}

// RollBack returns the state to its contents at the end of a serial, as a new one. Existing objects
// are not changed, so they may be lost sight of: where that is so, approve decides, and nil
// refuses. An error of it gives the reason for a refusal.
func (s *State) RollBack(ctx context.Context, serial int64, approve func(context.Context, deployment.Rollback) error) (Changed, error) {
	return s.write(ctx, change{lockedFor: "state rollback", records: func(stored *deployment.Stored) (string, map[string][]byte, error) {
		rollback, err := stored.RollBack(ctx, serial)
		if err == nil && len(rollback.Loses)+len(rollback.Regains) > 0 {
			if approve == nil {
				return "", nil, hcl.Diagnostics{failure.With(CodeNotApproved,
					failure.New("Approval needed", "There is nobody to approve the change of the state. Nothing was changed."))}
			}
			err = approve(ctx, rollback)
		}
		return rollback.Operation(), rollback.Records, err
	}})
}

// Rekey encrypts all of the state of the deployment that was named, or else of all that have one,
// with a new key, which is wrapped for the keys that there are now, or decrypts it. Former serials
// stay as they are. Done is called after each deployment, in the order of their names.
func (s *State) Rekey(ctx context.Context, mode encryptedstore.Mode, done func(deployment string, changed Changed)) error {
	names, err := s.States.Named(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		changed, err := s.rekey(ctx, name, mode)
		if err != nil {
			return err
		}
		done(name, changed)
	}
	return nil
}

func (s *State) rekey(ctx context.Context, deploymentName string, mode encryptedstore.Mode) (changed Changed, err error) {
	const name = "state rekey"
	other := *s
	other.States = s.States.Of(deploymentName).Rekeying(mode)
	defer func() { err = errors.Join(err, other.States.Close()) }()
	return other.write(ctx, change{lockedFor: name, records: func(stored *deployment.Stored) (string, map[string][]byte, error) {
		return name, maps.Clone(stored.Records), nil
	}})
}

// History returns the operations that have changed the state, with their times, the oldest change
// first.
func (s *State) History(ctx context.Context) ([]statestore.Version, error) {
	opened, err := s.States.Existing(ctx)
	if err != nil {
		return nil, err
	}
	return opened.Store.History(ctx, opened.Name)
}

// Compact drops the history before a serial, and returns the number of objects that were removed;
// see [statestore.Compactor].
func (s *State) Compact(ctx context.Context, before int64) (removed int, err error) {
	if _, err := s.States.Existing(ctx); err != nil {
		return 0, err
	}
	stored, err := s.States.Lock(ctx, statestore.LockRequest{Operation: "state compact"})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, stored.Unlock(ctx)) }()
	return stored.Compact(ctx, before)
}

// Unlock removes the lock with this ID, which a process has left behind that is gone.
func (s *State) Unlock(ctx context.Context, id string) error {
	opened, err := s.States.Existing(ctx)
	if err != nil {
		return err
	}
	return opened.Store.ForceUnlock(ctx, opened.Name, id)
}
