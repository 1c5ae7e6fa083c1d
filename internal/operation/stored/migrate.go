// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stored

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/states"
	"github.com/cairnstacks/cairn/internal/statestore"
)

// Migrated is the result of [States.Migrate].
type Migrated struct {
	statestore.Moved
	To states.Place
}

// Migrate moves the states of all deployments of the stack from one location to another, as
// [statestore.Migration] does. Copied is called after each serial.
func (s *States) Migrate(
	ctx context.Context, from, to string, copied func(deployment string, version statestore.Version),
) (done Migrated, err error) {
	old, err := states.Named(from, s.env, s.shared)
	if err != nil {
		return done, err
	}
	if done.To, err = states.Named(to, s.env, s.shared); err != nil {
		return done, err
	}
	if old.Same(done.To) {
		return done, failure.Error("Nothing to move", "The states are to be moved from %s to the same place.", old)
	}
	m := statestore.Migration{Location: done.To.String(), Copied: copied}
	// What is encrypted is copied as it is, with the keys that are stored beside it.
	if m.From, err = old.OpenStored(); err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, m.From.Close()) }()
	if m.To, err = done.To.OpenStored(); err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, m.To.Close()) }()
	if names, err := m.From.Deployments(ctx); err != nil || len(names) == 0 {
		if err == nil {
			err = failure.Error("Nothing to move", "There are no states in %s.", old)
		}
		return done, err
	}
	path := done.To.File()
	_, err = os.Stat(path)
	isNew := path != "" && errors.Is(err, fs.ErrNotExist)
	if done.Moved, err = m.Run(ctx); err != nil {
		return done, migrationFailure(err)
	}
	if isNew {
		s.Ignored().AddState(ctx, path)
	}
	return done, nil
}

// migrationFailure adds to an error of a migration the way on.
func migrationFailure(err error) error {
	if stale, ok := errors.AsType[*statestore.StaleError](err); ok {
		return failure.Error("Another state at the new place",
			"The deployment %q has a state of its own in %s, at serial %d, and not a copy of this one. Nothing was moved. Name an empty place.",
			stale.Deployment, stale.Location, stale.Have.Serial)
	}
	if errors.Is(err, statestore.ErrChanged) {
		return failure.Error("State changed meanwhile", "A deployment was added while the states were copied. Nothing was moved. Try again.")
	}
	return err
}
