// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package auto

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Options are the parameters of [New].
type Options struct {
	Native engine.Engine

	// Binary returns the engine that runs a binary, or why there is none, with what to do about it. It is called once at most for a session.
	Binary func(ctx context.Context) (engine.Engine, error)
}

// Engine chooses between two engines. Made by [New].
type Engine struct{ opts Options }

var _ engine.Engine = (*Engine)(nil)

// New returns an engine that has opened nothing.
func New(opts Options) *Engine { return &Engine{opts} }

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
		done   bool
		binary engine.Session
		err    error
	}
	mu struct {
		sync.Mutex
		choices map[string]*choice // by module directory
		owners  map[engine.WorkID]engine.Session
		all     engine.Session // does everything, if there is one (rule A3)
	}
}

var _ engine.Session = (*Session)(nil)

// Choice says which engine does the components of a module, and why.
type Choice struct {
	ModuleDir string
	Engine    engine.Info
	Reason    string // a sentence
}

// choice is a choice that was made.
type choice struct {
	session engine.Session
	reason  string
	diags   hcl.Diagnostics // without a session
}

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
	return s.opening.binary, err
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

// choose returns the session for a module (rule A1). It is nil with errors.
func (s *Session) choose(ctx context.Context, dir string) (engine.Session, hcl.Diagnostics) {
	s.mu.Lock()
	made, all := s.mu.choices[dir], s.mu.all
	s.mu.Unlock()
	if all != nil {
		return all, nil
	}
	if made == nil {
		made = s.decide(ctx, dir)
		if ctx.Err() == nil {
			s.mu.Lock()
			s.mu.choices[dir] = made
			s.mu.Unlock()
		}
	}
	return made.session, made.diags
}

func (s *Session) decide(ctx context.Context, dir string) *choice {
	lacks := unsupported(ctx, s.native, []string{dir})
	if !lacks.HasErrors() {
		return &choice{session: s.native, reason: "The native engine supports all that the module has."}
	}
	first := lacks.Errs()[0]
	binary, err := s.binary(ctx)
	if err != nil {
		return &choice{diags: withoutBinary(lacks, err)}
	}
	return &choice{session: binary, reason: "The native engine does not support all that the module has: " + oneLine(first.Error())}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// unsupported returns the errors about modules that an engine cannot do.
func unsupported(ctx context.Context, session engine.Session, dirs []string) hcl.Diagnostics {
	preparer := session.Abilities().Preparer
	if preparer == nil {
		return nil
	}
	return preparer.Unsupported(ctx, dirs)
}

// withoutBinary adds to errors about what the native engine does not support that there is no other one (rule A2).
func withoutBinary(lacks hcl.Diagnostics, err error) hcl.Diagnostics {
	diags := make(hcl.Diagnostics, len(lacks))
	for i, diag := range lacks {
		explained := *diag
		explained.Detail = fmt.Sprintf("%s\n\nterraform or tofu may have it, and cannot be used. %s", diag.Detail, reason(err))
		diags[i] = &explained
	}
	return diags
}

// reason returns sentences about why there is no binary.
func reason(err error) string {
	if diags, ok := errors.AsType[hcl.Diagnostics](err); ok && len(diags) > 0 {
		return diags[0].Detail
	}
	text := err.Error()
	return strings.ToUpper(text[:1]) + strings.TrimSuffix(text[1:], ".") + "."
}

// Choices returns the choices that were made so far, sorted by directory.
func (s *Session) Choices() []Choice {
	s.mu.Lock()
	defer s.mu.Unlock()
	var choices []Choice
	for _, dir := range slices.Sorted(maps.Keys(s.mu.choices)) {
		made := s.mu.choices[dir]
		switch {
		case s.mu.all != nil:
			choices = append(choices, Choice{dir, s.mu.all.Info(), "Another component needs tofu, which has other addresses for providers."})
		case made.session != nil:
			choices = append(choices, Choice{dir, made.session.Info(), made.reason})
		}
	}
	return choices
}

// needsBinary returns the directories of modules that the native engine does not support, and the errors about those that nobody does.
func (s *Session) needsBinary(ctx context.Context, dirs []string) (needed []string, diags hcl.Diagnostics) {
	for _, dir := range dirs {
		chosen, moreDiags := s.choose(ctx, dir)
		diags = diags.Extend(moreDiags)
		if chosen != nil && chosen != s.native {
			needed = append(needed, dir)
		}
	}
	if len(needed) > 0 {
		if binary, err := s.binary(ctx); err == nil && binary.Info().Name == toolchain.Tofu {
			s.mu.Lock()
			s.mu.all = binary
			s.mu.Unlock()
			return dirs, nil
		}
	}
	return needed, diags
}

// Info implements [engine.Session].
func (s *Session) Info() engine.Info { return s.native.Info() }

// Engines implements [engine.Session]: also the binary, if there is one.
func (s *Session) Engines() []engine.Info {
	engines := s.native.Engines()
	if binary, err := s.binary(context.Background()); err == nil {
		engines = append(slices.Clip(engines), binary.Engines()...)
	}
	return engines
}

// Module implements [engine.Session].
func (s *Session) Module(ctx context.Context, dir string) (*engine.Module, hcl.Diagnostics) {
	chosen, diags := s.choose(ctx, dir)
	if chosen == nil {
		chosen = s.native                    // which describes it all the same
		module, _ := chosen.Module(ctx, dir) //nolint:errcheck // it is known what is wrong
		return module, diags
	}
	return chosen.Module(ctx, dir)
}

// ValidateModule implements [engine.Session].
func (s *Session) ValidateModule(ctx context.Context, dir string) hcl.Diagnostics {
	chosen, diags := s.choose(ctx, dir)
	if chosen == nil {
		return diags
	}
	return chosen.ValidateModule(ctx, dir)
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
