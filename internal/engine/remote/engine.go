// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package remote

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Options are the parameters of [New].
type Options struct {
	// Local is the engine for all else. Its sessions keep the records of work in pools if they have
	// the ability [engine.Delegator]; otherwise that work is lost with this program.
	Local engine.Engine

	// Pool returns the pool for a component instance that is given some provider configurations; ""
	// for none.
	Pool func(stackaddrs.AbsComponentInstance, map[engine.ProviderSlot]engine.ProviderConfig) (string, hcl.Diagnostics)

	// Transport carries calls. Nil makes all work in pools fail.
	Transport Transport

	Version string // of cairn; "" for that of this program
}

// Engine is one that hands work to workers. Made by [New].
type Engine struct{ opts Options }

var _ engine.Engine = (*Engine)(nil)

// New returns an engine that has opened nothing.
func New(opts Options) *Engine {
	opts.Version = versionOf(opts.Version)
	return &Engine{opts}
}

// Info implements [engine.Engine]: that of the local engine.
func (e *Engine) Info() engine.Info { return e.opts.Local.Info() }

// Open implements [engine.Engine]. The session is a [*Session].
func (e *Engine) Open(ctx context.Context, opts engine.SessionOptions) (engine.Session, error) {
	stackDir, err := filepath.Abs(opts.StackDir)
	if err != nil {
		return nil, fmt.Errorf("stack directory: %w", err)
	}
	local, err := e.opts.Local.Open(ctx, opts)
	if err != nil {
		return nil, err
	}
	return &Session{
		Session: local, opts: e.opts, stackDir: stackDir, name: rand.Text(), works: engine.NewWorks(opts.Parallelism),
		abilities: local.Abilities(),
	}, nil
}

// Session is a session of the local engine that hands some work to workers. Made by [Engine.Open].
type Session struct {
	engine.Session // the local one, by which it describes

	opts      Options
	stackDir  string
	name      string // for workers (rule R8)
	works     *engine.Works
	abilities engine.Abilities // of the local session

	preparing struct {
		sync.Mutex
		req *engine.PrepareRequest // the last one; nil before
	}
}

var _ engine.Session = (*Session)(nil)

// Abilities implements [engine.Session]: those of the local session, of which some are extended to
// work in pools.
func (s *Session) Abilities() engine.Abilities {
	abilities := s.abilities
	abilities.Delegator = nil // the session has its own use for it
	if abilities.Preparer != nil {
		abilities.Preparer = preparer{abilities.Preparer, s}
	}
	if abilities.Recoverer != nil {
		abilities.Recoverer = recoverer{abilities.Recoverer, s}
	}
	if abilities.Querier != nil {
		abilities.Querier = querier{s}
	}
	return abilities
}

// Stop implements [engine.Session].
func (s *Session) Stop(ctx context.Context, work engine.WorkID, how engine.Urgency) error {
	err := s.works.Stop(work, how)
	if errors.Is(err, engine.ErrUnknownWork) { // which the local session may have picked up
		return s.Session.Stop(ctx, work, how)
	}
	return err
}

// preparer prepares the local session, and remembers for which modules.
type preparer struct {
	engine.Preparer
	session *Session
}

// Prepare implements [engine.Preparer]. Workers do the same when they are first asked for
// something.
func (p preparer) Prepare(ctx context.Context, req *engine.PrepareRequest) (*engine.PrepareResult, hcl.Diagnostics) {
	p.session.preparing.Lock()
	p.session.preparing.req = req
	p.session.preparing.Unlock()
	return p.Preparer.Prepare(ctx, req)
}

// prepared returns the request for workers to prepare the same (rule R1); nil for none.
func (s *Session) prepared() *engine.PrepareRequest {
	s.preparing.Lock()
	defer s.preparing.Unlock()
	if s.preparing.req == nil {
		return nil
	}
	req := *s.preparing.req
	req.Upgrade, req.Verify, req.ReadOnlyLock = false, false, true
	return &req
}
