// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"context"

	"github.com/cairnstacks/cairn/internal/engine/binary/limiter"
	"github.com/cairnstacks/cairn/internal/engine/binary/prepare"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/once"
)

// Shared is the results that engines of several stacks find once in one process. The zero value has
// none yet. It is safe for concurrent use.
//
// All results are kept by the facts that they depend on, so that none becomes wrong: schemas by the
// content of packages and the version of the engine; see also [prepare.Shared].
type Shared struct {
	Modules module.Files // that were parsed

	schemas once.Map[string, *providerSchema]            // by the key that they have on the disk
	asked   once.Map[string, map[string]*providerSchema] // the answers of one process: by source, by the keys of all

	prepared  prepare.Shared
	processes limiter.Limiter // of all stacks
}

// AllowProcesses allows at least n processes of engines at the same time. Each session allows as
// many as it may do at the same time, so that all of them together have as many as the one with the
// most.
func (s *Shared) AllowProcesses(n int) { s.processes.Raise(n) }

// LockCache is that of [prepare.Shared].
func (s *Shared) LockCache(ctx context.Context, env []string) (unlock func(), err error) {
	return s.prepared.LockCache(ctx, env)
}
