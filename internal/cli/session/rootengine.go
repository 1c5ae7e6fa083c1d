// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package session

import (
	"context"
	"path/filepath"

	"github.com/cairnstacks/cairn/internal/engine/rootmodule"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/process"
)

// RootEngine returns the engine of root modules that the options ask for, found from the current
// directory. It has a cache in common with stacks. Its error says that there is no such program.
func (s *Session) RootEngine(ctx context.Context, shared *operation.Shared) (*rootmodule.Engine, error) {
	search, err := s.Stack().Engines().Search()
	if err != nil {
		return nil, err
	}
	found, err := search.Find(ctx)
	if err != nil {
		return nil, failure.Diagnostics(engines.Unusable(err))
	}
	if err := s.Report(s.Stack().Engines().Unmet(found)); err != nil {
		return nil, err
	}
	roots := &rootmodule.Engine{
		Info: found.Info, SchemaDir: engines.SchemaDir(), Shared: &shared.OfEngines().Binary, Processes: &process.Set{},
	}
	if s.Stack().Engines().Kind() != "" { // nobody has asked for a binary
		roots.Native = &shared.OfEngines().Native
	}
	roots.Path, err = filepath.Abs(found.Path)
	return roots, err
}
