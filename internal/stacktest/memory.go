// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacktest

import (
	"context"
	"errors"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
)

// Memory is an engine that runs modules made of Go functions itself, and has modules in files run
// by the native engine, without providers. It records calls about both, in which it knows nothing
// of single objects of modules in files.
type Memory struct {
	*memengine.Engine

	modules map[string]*memengine.Module
	files   engine.Engine
}

// NewMemory returns such an engine, whose native engine keeps its files in a directory.
func NewMemory(t testing.TB, workDir string, opts memengine.Options) *Memory {
	t.Helper()
	files := newNative(t, EngineOptions{WorkDir: workDir})
	return &Memory{memengine.New(opts), opts.Modules, files}
}

// Open implements [engine.Engine].
func (m *Memory) Open(ctx context.Context, opts engine.SessionOptions) (engine.Session, error) {
	own, err := m.Engine.Open(ctx, opts)
	if err != nil {
		return nil, err
	}
	files, err := m.files.Open(ctx, opts)
	if err != nil {
		return nil, errors.Join(err, own.Close())
	}
	return &memorySession{own, m, files}, nil
}

// memorySession is a session of the engine in memory, which hands work on modules in files to
// another one.
type memorySession struct {
	engine.Session

	memory *Memory
	files  engine.Session
}

// of returns the session for the module in a directory.
func (s *memorySession) of(dir string) engine.Session {
	if s.memory.modules[dir] != nil {
		return s.Session
	}
	return s.files
}

// CanApply implements [engine.Session].
func (s *memorySession) CanApply(made engine.Info) bool {
	return s.Session.CanApply(made) || s.files.CanApply(made)
}

// Module implements [engine.Session].
func (s *memorySession) Module(ctx context.Context, dir string) (*engine.Module, hcl.Diagnostics) {
	return s.of(dir).Module(ctx, dir)
}

// ValidateModule implements [engine.Session].
func (s *memorySession) ValidateModule(ctx context.Context, dir string) hcl.Diagnostics {
	return s.of(dir).ValidateModule(ctx, dir)
}

// Plan implements [engine.Session].
func (s *memorySession) Plan(ctx context.Context, req *engine.PlanRequest, observe engine.Observer) (*engine.PlanResult, hcl.Diagnostics) {
	session := s.of(req.ModuleDir)
	if session == s.Session {
		return session.Plan(ctx, req, observe)
	}
	ctx, observe, end := s.record(ctx, observe, memengine.Call{
		Operation: memengine.Plan, Dir: req.ModuleDir, Component: req.Component, Mode: req.Mode,
	})
	defer end()
	return session.Plan(ctx, req, observe)
}

// Apply implements [engine.Session].
func (s *memorySession) Apply(ctx context.Context, req *engine.ApplyRequest,
	observe engine.Observer,
) (*engine.ApplyResult, hcl.Diagnostics) {
	session := s.of(req.ModuleDir)
	if session == s.Session {
		return session.Apply(ctx, req, observe)
	}
	ctx, observe, end := s.record(ctx, observe, memengine.Call{
		Operation: memengine.Apply, Dir: req.ModuleDir, Component: req.Component, Mode: req.Mode,
	})
	defer end()
	return session.Apply(ctx, req, observe)
}

// record records a call from the moment on at which its work begins, which it keeps from that if
// the call is to fail. The caller calls end.
func (s *memorySession) record(
	ctx context.Context, observe engine.Observer, call memengine.Call,
) (_ context.Context, _ engine.Observer, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	done := func() {}
	begin := func(event engine.Event) {
		if event.Type == engine.WorkBegan {
			var err error
			if done, err = s.memory.Begin(ctx, call); err != nil {
				cancel(err)
				return
			}
		}
		observe.Observe(event)
	}
	return ctx, begin, func() { done(); cancel(nil) }
}

// Stop implements [engine.Session].
func (s *memorySession) Stop(ctx context.Context, work engine.WorkID, how engine.Urgency) error {
	err := s.Session.Stop(ctx, work, how)
	if errors.Is(err, engine.ErrUnknownWork) {
		return s.files.Stop(ctx, work, how)
	}
	return err
}

// Acknowledge implements [engine.Session].
func (s *memorySession) Acknowledge(ctx context.Context, work engine.WorkID) error {
	return s.files.Acknowledge(ctx, work) // the other one keeps nothing
}

// Close implements [engine.Session].
func (s *memorySession) Close() error { return errors.Join(s.Session.Close(), s.files.Close()) }
