// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package memengine

import (
	"context"
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Options are the settings of an [Engine]. The zero value is an engine without modules.
type Options struct {
	// Info is the engine's name and version. The default is "memory" 1.0.0.
	Info engine.Info

	// Modules are the modules, by the absolute paths of the directories that stacks name. A session
	// has those that there are when it is opened.
	Modules map[string]*Module

	// Providers are the providers whose configurations modules may ask for, besides
	// the built-in provider, which has no settings.
	Providers map[stackaddrs.Provider]engine.ProviderSchema

	// Functions are the functions of providers, by name. A provider that has none
	// here but a configuration offers none.
	Functions map[stackaddrs.Provider]map[string]*Function

	// Before is called at the start of everything that is recorded as a [Call],
	// and may block. An error makes the call fail with that error as its
	// diagnostic. May be nil. Must be safe for concurrent use.
	Before func(ctx context.Context, call Call) error
}

// Engine is an [engine.Engine] in memory. Make one with [New].
type Engine struct {
	opts  Options
	calls callLog
}

var _ engine.Engine = (*Engine)(nil)

// New makes an engine.
func New(opts Options) *Engine {
	if opts.Info == (engine.Info{}) {
		opts.Info = engine.Info{Name: "memory", Version: "1.0.0"}
	}
	return &Engine{opts: opts}
}

// Info implements [engine.Engine].
func (e *Engine) Info() engine.Info { return e.opts.Info }

// Open implements [engine.Engine].
func (e *Engine) Open(_ context.Context, opts engine.SessionOptions) (engine.Session, error) {
	s := &session{Engine: e, works: engine.NewWorks(opts.Parallelism), programs: make(map[string]*program, len(e.opts.Modules))}
	for dir, m := range e.opts.Modules {
		s.programs[dir] = newProgram(dir, m)
	}
	return s, nil
}

// session implements [engine.Session].
type session struct {
	*Engine
	works    *engine.Works
	programs map[string]*program // by directory
}

// beginWork is begin for a piece of work, once that may begin.
func (s *session) beginWork(ctx context.Context, work engine.WorkID, observe engine.Observer,
	call Call,
) (_ context.Context, done func(), diags hcl.Diagnostics) {
	ctx, begun, err := s.works.Begin(ctx, work, observe)
	if err != nil {
		return nil, func() {}, operationFailed(err)
	}
	finish, diags := s.begin(ctx, call)
	return ctx, func() { finish(); begun.End() }, diags
}

// Stop implements [engine.Session]. At most it waits in [Options.Before], which the end of the
// context ends.
func (s *session) Stop(_ context.Context, work engine.WorkID, how engine.Urgency) error {
	return s.works.Stop(work, how)
}

// Acknowledge implements [engine.Session]. Nothing is kept.
func (s *session) Acknowledge(context.Context, engine.WorkID) error { return nil }

// CanApply implements [engine.Session].
func (s *session) CanApply(made engine.Info) bool { return made == s.opts.Info }

// Abilities implements [engine.Session].
func (s *session) Abilities() engine.Abilities { return engine.Abilities{Functions: s} }

// Close implements [engine.Session].
func (s *session) Close() error { return nil }

// program returns the module of a directory, which is nil, with an error, if there is none.
func (s *session) program(dir string) (*program, hcl.Diagnostics) {
	if p := s.programs[dir]; p != nil {
		return p, nil
	}
	return nil, hcl.Diagnostics{{
		Severity: hcl.DiagError,
		Summary:  "No module at this source",
		Detail:   fmt.Sprintf("The in-memory engine has no module for the directory %s. It reads no files.", dir),
	}}
}

// Module implements [engine.Session].
func (s *session) Module(ctx context.Context, dir string) (*engine.Module, hcl.Diagnostics) {
	done, diags := s.begin(ctx, Call{Operation: DescribeModule, Dir: dir})
	defer done()
	if diags.HasErrors() {
		return nil, diags
	}
	prog, diags := s.program(dir)
	if prog == nil {
		return nil, diags
	}
	return prog.module, nil
}

// ValidateModule implements [engine.Session].
func (s *session) ValidateModule(ctx context.Context, dir string) hcl.Diagnostics {
	done, diags := s.begin(ctx, Call{Operation: ValidateModule, Dir: dir})
	defer done()
	if diags.HasErrors() {
		return diags
	}
	_, diags = s.program(dir)
	return diags
}

// ProviderSchema implements [engine.Session].
func (s *session) ProviderSchema(_ context.Context, provider stackaddrs.Provider) (*engine.ProviderSchema, hcl.Diagnostics) {
	if schema, ok := s.opts.Providers[provider]; ok {
		return &schema, nil
	}
	if provider.IsBuiltin() {
		return &engine.ProviderSchema{}, nil
	}
	return nil, hcl.Diagnostics{{
		Severity: hcl.DiagError,
		Summary:  "Provider not available",
		Detail:   fmt.Sprintf("The in-memory engine has no provider %s.", provider),
	}}
}
