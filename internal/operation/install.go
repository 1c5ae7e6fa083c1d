// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/bundle"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/operation/sources"
	"github.com/cairnstacks/cairn/internal/operation/workdir"
	"github.com/cairnstacks/cairn/internal/tempdir"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// InstallRequest holds the options of an installation.
type InstallRequest struct {
	Upgrade bool // choose the newest versions that are allowed, regardless of earlier choices
	Verify  bool // read the providers that are installed, and install damaged ones again

	// Fetched is called with the source packages that the stack has, before providers are installed,
	// which takes time. Nil is not called.
	Fetched func([]bundle.Package)

	// Check is called after that. With errors, no providers are installed. Nil is not called.
	Check func(context.Context) hcl.Diagnostics
}

// Versions are the versions of the engine and the providers of a stack.
type Versions struct {
	Engine    engine.Info
	Providers map[stackaddrs.Provider]string // those that are locked; empty for providers that need no lock

	// Choices are there if they were asked for.
	Choices *engines.Choices
}

// Install fetches the sources of the stack and installs its providers.
func (s *Stack) Install(ctx context.Context, req InstallRequest) (Versions, hcl.Diagnostics) {
	config, packages, diags := s.sources.Fetch(ctx, sources.FetchRequest{Upgrade: req.Upgrade, Reader: s.engines.Reader(ctx)})
	if req.Fetched != nil {
		req.Fetched(packages)
	}
	if diags.HasErrors() {
		return Versions{}, diags
	}
	if req.Check != nil {
		if diags = diags.Extend(req.Check(ctx)); diags.HasErrors() {
			return Versions{}, diags
		}
	}
	opts, moreDiags := s.prepare(ctx, config, installing{upgrade: req.Upgrade, verify: req.Verify})
	diags = diags.Extend(moreDiags)
	if diags.HasErrors() {
		return Versions{}, diags
	}
	if place, err := s.states.Place(); err == nil && place.File() != "" && !place.ReadOnly() { // else work on the state reports it
		s.states.Ignored().AddState(ctx, place.File())
	}
	return Versions{Engine: opts.Session.Info(), Providers: opts.Locks}, diags
}

// NoEngineError says why there is no engine. It wraps the reason.
type NoEngineError struct{ Err error }

func (e *NoEngineError) Error() string { return "no engine: " + e.Err.Error() }

// Unwrap returns the reason.
func (e *NoEngineError) Unwrap() error { return e.Err }

// Versions returns the versions that are used, without installing anything, and leaves no working
// directory where there is none. Diagnostics are warnings about the choice of the engine. With
// choices, they have all engines and the choice for each module; to know that, each binary that is
// found is asked for its version.
//
// Errors:
//   - [*NoEngineError]: there is no engine that can be used.
//   - others: the lock file of the providers cannot be read.
func (s *Stack) Versions(ctx context.Context, choices bool) (Versions, hcl.Diagnostics, error) {
	if workdir.CheckWritable(s.env.WorkDir) == nil {
		return s.versions(ctx, choices)
	}
	temporary, err := tempdir.Kind{Prefix: "cairn-version-", Log: s.env.Log}.Replace()
	if err != nil {
		return Versions{}, nil, &NoEngineError{err}
	}
	opts := s.opts
	opts.Env.WorkDir = filepath.Join(temporary.Path, "work")
	elsewhere := Open(opts)
	versions, diags, err := elsewhere.versions(ctx, choices)
	return versions, diags, errors.Join(err, elsewhere.Close(), temporary.Remove())
}

func (s *Stack) versions(ctx context.Context, choices bool) (versions Versions, _ hcl.Diagnostics, err error) {
	if choices {
		if versions.Choices, err = s.engines.List(ctx, s.session); err != nil {
			return versions, nil, &NoEngineError{err}
		}
	}
	opened, err := s.session(ctx)
	if err != nil {
		return versions, nil, &NoEngineError{err}
	}
	versions.Engine = opened.Info()
	if preparer := opened.Abilities().Preparer; preparer != nil {
		versions.Providers, err = readLocks(ctx, preparer)
	}
	return versions, s.engines.TakeWarnings(), err
}

// readLocks returns the versions of providers that are locked.
func readLocks(ctx context.Context, preparer engine.Preparer) (map[stackaddrs.Provider]string, error) {
	locks, err := preparer.Locks(ctx)
	if err != nil {
		return nil, hcl.Diagnostics{failure.With(fault.LockFileUnusable, failure.New("Unreadable provider lock file",
			"%s. Correct the file, or delete it, so that a new one is written.", failure.Capitalize(failure.Reason(err))))}
	}
	return locks, nil
}
