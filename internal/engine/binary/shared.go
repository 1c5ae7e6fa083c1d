// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"context"

	"github.com/cairnstacks/cairn/internal/engine/binary/limiter"
	"github.com/cairnstacks/cairn/internal/engine/toolchain/cliconfig"
	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/install"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/once"
	"github.com/cairnstacks/cairn/internal/providers/selection"
)

// Shared is the results that engines of several stacks find once in one process. The zero value has
// none yet. It is safe for concurrent use.
//
// All results are kept by the facts that they depend on, so that none becomes wrong: schemas by the
// content of packages and the version of the engine, packages by the content of downloads.
type Shared struct {
	Modules module.Files // that were parsed

	schemas once.Map[string, *providerSchema]            // by the key that they have on the disk
	asked   once.Map[string, map[string]*providerSchema] // the answers of one process: by source, by the keys of all

	hashes  install.Hashes   // of packages of providers
	fetched selection.Shared // such packages

	processes limiter.Limiter // of all stacks
	caching   limiter.Limiter // of those that install into a cache of the user, one at a time
}

// AllowProcesses allows at least n processes of engines at the same time. Each session allows as
// many as it may do at the same time, so that all of them together have as many as the one with the
// most.
func (s *Shared) AllowProcesses(n int) { s.processes.Raise(n) }

// LockCache keeps others from running init that installs into a cache of the user, if the
// environment or the CLI configuration names one: the engine can do that for one at a time only.
//
// Errors: the cause of the end of ctx.
func (s *Shared) LockCache(ctx context.Context, env []string) (unlock func(), err error) {
	if environ.Get(env, cliconfig.CacheVariable) == "" && !cliconfig.SharesProviders(env) {
		return func() {}, nil
	}
	s.caching.Raise(1)
	return s.caching.Acquire(ctx)
}
