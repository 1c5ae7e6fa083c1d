// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package engines

import (
	"context"

	"github.com/cairnstacks/cairn/internal/engine/auto"
	"github.com/cairnstacks/cairn/internal/engine/binary/rundir"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

func init() {
	register(kind{
		name: Auto, reader: engine.Info{Name: Native},
		open: func(_ context.Context, s *Stack) (engine.Engine, error) { return s.openAuto() },
	})
}

// openAuto returns the engine that hands modules to the native engine and to a binary.
func (s *Stack) openAuto() (engine.Engine, error) {
	found, err := s.openNative()
	if err != nil {
		return nil, err
	}
	return auto.New(auto.Options{
		Native: found,
		Binary: func(ctx context.Context) (engine.Engine, error) { return s.openBinary(ctx) },
		Left:   s.hasRuns,
	}), nil
}

// hasRuns reports whether a binary has left something of applies that were cut off.
func (s *Stack) hasRuns() bool {
	runs, err := s.sources.RunsDir()
	return err == nil && rundir.Any(runs)
}
