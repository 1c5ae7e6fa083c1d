// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package auto

import (
	"context"
	"errors"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Options are the parameters of [New].
type Options struct {
	Native engine.Engine

	// Binary returns the engine that runs a binary, or the reason why there is none, with its remedy.
	// It is called once at most for a session.
	Binary func(ctx context.Context) (engine.Engine, error)

	// Left reports whether a binary has left something behind that is to be recovered. Nil stands for
	// no.
	Left func() bool
}

// Engine chooses between two engines. Made by [New].
type Engine struct{ opts Options }

var _ engine.Engine = (*Engine)(nil)

// New returns an engine that has opened nothing.
func New(opts Options) *Engine {
	if opts.Left == nil {
		opts.Left = func() bool { return false }
	}
	return &Engine{opts}
}

// Info implements [engine.Engine]: that of the native engine, with which it begins.
func (e *Engine) Info() engine.Info { return e.opts.Native.Info() }

// Open implements [engine.Engine]. The session is a [*Session].
func (e *Engine) Open(ctx context.Context, opts engine.SessionOptions) (engine.Session, error) {
	native, err := e.opts.Native.Open(ctx, opts)
	if err != nil {
		return nil, err
	}
	s := &Session{opts: e.opts, session: opts, native: native, works: engine.NewWorks(opts.Parallelism)}
	s.mu.choices = map[string]*choice{}
	s.mu.owners = map[engine.WorkID]engine.Session{}
	return s, nil
}

// Session is a session of both engines. Made by [Engine.Open].
type Session struct {
	opts    Options
	session engine.SessionOptions
	native  engine.Session
	works   *engine.Works

	opening struct {
		sync.Mutex
		done    bool
		binary  engine.Session
		err     error
		purpose *engine.Purpose // of work that begins from now on; nil until Bind
	}
	preparing struct {
		sync.Mutex
		req      *engine.PrepareRequest // the last one; nil before
		prepared bool                   // the binary, for that
	}
	mu struct {
		sync.Mutex
		choices map[string]*choice // by module directory
		owners  map[engine.WorkID]engine.Session
		all     engine.Session // does everything, if there is one (rule A3)
	}
}

var _ engine.Session = (*Session)(nil)

// binary returns the session of the binary, which is opened when it is first needed.
func (s *Session) binary(ctx context.Context) (engine.Session, error) {
	s.opening.Lock()
	defer s.opening.Unlock()
	if s.opening.done {
		return s.opening.binary, s.opening.err
	}
	found, err := s.opts.Binary(ctx)
	if err == nil {
		s.opening.binary, err = found.Open(ctx, s.session)
	}
	if ctx.Err() != nil && err != nil {
		return nil, context.Cause(ctx) // others may wait longer
	}
	s.opening.done, s.opening.err = true, err
	if err != nil {
		return nil, err
	}
	if purpose := s.opening.purpose; purpose != nil {
		bind(s.opening.binary, *purpose)
	}
	return s.opening.binary, nil
}

// opened returns the sessions that are open.
func (s *Session) opened() []engine.Session {
	s.opening.Lock()
	defer s.opening.Unlock()
	if s.opening.binary == nil {
		return []engine.Session{s.native}
	}
	return []engine.Session{s.native, s.opening.binary}
}

// Info implements [engine.Session].
func (s *Session) Info() engine.Info { return s.main().Info() }

// CanApply implements [engine.Session]: also plans of the binary, if there is one.
func (s *Session) CanApply(made engine.Info) bool {
	if s.native.CanApply(made) {
		return true
	}
	binary, err := s.binary(context.Background())
	return err == nil && binary.CanApply(made)
}

// Module implements [engine.Session].
func (s *Session) Module(ctx context.Context, dir string) (*engine.Module, hcl.Diagnostics) {
	made := s.choose(ctx, dir)
	if made.session == nil {
		module, _ := s.native.Module(ctx, dir) //nolint:errcheck // the errors are known
		return module, made.diags
	}
	return made.session.Module(ctx, dir)
}

// ValidateModule implements [engine.Session].
func (s *Session) ValidateModule(ctx context.Context, dir string) hcl.Diagnostics {
	made := s.choose(ctx, dir)
	if made.session == nil {
		return made.diags
	}
	return made.session.ValidateModule(ctx, dir)
}

// ProviderSchema implements [engine.Session].
func (s *Session) ProviderSchema(ctx context.Context, provider stackaddrs.Provider) (*engine.ProviderSchema, hcl.Diagnostics) {
	return s.main().ProviderSchema(ctx, provider)
}

// main returns the session that is asked about providers.
func (s *Session) main() engine.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.all != nil {
		return s.mu.all
	}
	return s.native
}

// Close implements [engine.Session].
func (s *Session) Close() error {
	var errs error
	for _, one := range s.opened() {
		errs = errors.Join(errs, one.Close())
	}
	return errs
}
