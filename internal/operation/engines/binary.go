// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package engines

import (
	"context"

	"github.com/cairnstacks/cairn/internal/engine/binary"
	"github.com/cairnstacks/cairn/internal/operation/notice"
)

func (s *Stack) openBinary(ctx context.Context) (*binary.Engine, error) {
	runs, err := s.sources.RunsDir()
	if err != nil {
		return nil, err
	}
	found, err := s.findBinary(ctx)
	if err != nil {
		return nil, err
	}
	s.noteLog()
	opened, err := binary.New(ctx, binary.Options{
		Binary: found.Path, WorkDir: s.env.WorkDir, RunsDir: runs, SchemaDir: SchemaDir(), Resolver: s.sources.Resolver(),
		Environ: s.env.Environ, Dir: s.env.Dir, Shared: &s.shared.Binary,
		Working:  func(what string) { s.env.Notify.Send(notice.Working{What: what}) },
		Fetching: s.Observe(),
		Log:      s.env.Log,
	})
	if err != nil {
		return nil, Unusable(err)
	}
	return opened, nil
}
