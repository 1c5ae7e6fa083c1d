// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package engines

import (
	"cmp"
	"context"

	"github.com/cairnstacks/cairn/internal/engine/native"
	"github.com/cairnstacks/cairn/internal/operation/notice"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

func init() {
	register(kind{
		name: Native, reader: engine.Info{Name: Native}, applier: Auto,
		open: func(_ context.Context, s *Stack) (engine.Engine, error) { return s.openNative() },
		kept: native.Kept,
	})
}

// defaultProviderProcesses is enough for most stacks, whose configurations of providers are few,
// and bounds the memory of the others: a large provider takes 600 MB.
const defaultProviderProcesses = 16

// openNative returns the native engine.
func (s *Stack) openNative() (engine.Engine, error) {
	runs, err := s.sources.RunsDir()
	if err != nil {
		return nil, err
	}
	read, err := s.env.Settings()
	if err != nil {
		return nil, err
	}
	if err := s.sources.PrepareWorkDir(); err != nil {
		return nil, err
	}
	keys, err := s.env.Keys()
	if err != nil {
		return nil, err
	}
	s.noteLog()
	opened, err := native.New(native.Options{
		WorkDir: s.env.WorkDir, RunsDir: runs, SchemaDir: SchemaDir(), Resolver: s.sources.Resolver(), Environ: s.env.Environ, Dir: s.env.Dir,
		Shared: &s.shared.Native, Constants: s.sources.Constants,
		MaxProcesses: cmp.Or(read.ProviderProcesses, defaultProviderProcesses),
		Working:      func(what string) { s.env.Notify.Send(notice.Working{What: what}) },
		Fetching:     s.Observe(),
		Keys:         keys,
	})
	if err != nil {
		return nil, Unusable(err)
	}
	return opened, nil
}
