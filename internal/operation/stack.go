// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"
	"errors"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/operation/requirements"
	"github.com/cairnstacks/cairn/internal/operation/sources"
	"github.com/cairnstacks/cairn/internal/operation/statechange"
	"github.com/cairnstacks/cairn/internal/operation/stored"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Stack is a stack on which operations are carried out.
type Stack struct {
	env     *env.Env
	sources *sources.Sources
	engines *engines.Stack
	states  *stored.States
	opts    Options

	parallelism int // that the operation asks for; 0 leaves it to the settings
	opened      *opened
}

// opened is open until the stack is closed.
type opened struct {
	session   engine.Session
	reason    engine.Reason       // for its choice
	recovered []*engine.Recovered // saved, until it is acknowledged
	accepted  bool                // with its doubts
}

// Open returns a stack of which nothing was read yet. The caller closes it.
func Open(opts Options) *Stack {
	if opts.Shared == nil {
		opts.Shared = &Shared{}
	}
	shared, like := opts.Shared, opts.Like
	s := &Stack{opts: opts, opened: &opened{}}
	files := sources.Options{Resolver: opts.Resolver, Shared: &shared.sources, Modules: shared.engines.Modules()}
	if like == nil {
		s.env = env.Open(opts.Env)
	} else {
		s.env, files.Like = env.OpenLike(opts.Env, like.env), like.sources
	}
	s.sources = sources.Open(s.env, files)
	s.engines = engines.Of(s.env, s.sources, opts.Engine, &shared.engines)
	s.states = stored.Of(s.env, s.sources, &shared.states, opts.LockTimeout)
	return s
}

// forPlan returns the stack for applying a saved plan of it: with the engine that has made that,
// and unless another one is named, for the deployment that it names.
func (s *Stack) forPlan(plan *stackplan.Plan, made stackplan.FileContext) *Stack {
	other := *s
	if s.sources.Declared() != nil && s.env.NamedDeployment() == "" {
		other.env = s.env.For(made.Deployment)
		other.sources = s.sources.For(other.env)
		other.states = s.states.For(other.env, other.sources)
	}
	other.opts.Engine.Plan = plan
	other.engines = engines.Of(other.env, other.sources, other.opts.Engine, &s.opts.Shared.engines)
	return &other
}

// Close releases the opened parts. All that matters was saved before.
func (s *Stack) Close() error {
	err := s.states.Close()
	if s.opened.session != nil {
		err = errors.Join(err, s.opened.session.Close())
	}
	return err
}

// Env has the surroundings of the stack.
func (s *Stack) Env() *env.Env { return s.env }

// Sources are the files of the stack.
func (s *Stack) Sources() *sources.Sources { return s.sources }

// Engines are those by which the stack can be worked on, and the choice among them.
func (s *Stack) Engines() *engines.Stack { return s.engines }

// States are those of the deployments of the stack.
func (s *Stack) States() *stored.States { return s.states }

// StateChanges are the changes of the state that are made by hand.
func (s *Stack) StateChanges() *statechange.State {
	return &statechange.State{Sources: s.sources, States: s.states, Engines: s.engines}
}

// Providers are those that the stack and its modules require.
func (s *Stack) Providers() *requirements.Stack {
	return requirements.Of(s.env, s.sources, s.engines, &s.opts.Shared.engines)
}

// EngineInfo names the engine if it was opened, with the reason for its choice.
func (s *Stack) EngineInfo() (info engine.Info, reason engine.Reason, opened bool) {
	if s.opened.session == nil {
		return engine.Info{}, engine.Reason{}, false
	}
	return s.opened.session.Info(), s.opened.reason, true
}

// session returns the session of the engine, which it opens if need be.
func (s *Stack) session(ctx context.Context) (engine.Session, error) {
	if s.opened.session != nil {
		return s.opened.session, nil
	}
	chosen, err := s.engines.Open(ctx)
	if err != nil {
		return nil, err
	}
	parallelism := s.parallelism
	if parallelism == 0 {
		read, err := s.env.Settings()
		if err != nil {
			return nil, err
		}
		parallelism = read.Parallelism
	}
	opened, err := chosen.Open(ctx, engine.SessionOptions{StackDir: s.env.Dir, Parallelism: parallelism})
	if err != nil {
		return nil, engines.Unusable(err)
	}
	s.opened.session, s.opened.reason = opened, s.engines.Reason()
	return opened, nil
}

// recoverer is the ability of the open session to recover applies; nil if it has none.
func (o *opened) recoverer() engine.Recoverer { return o.session.Abilities().Recoverer }

// Acknowledge ends the recovered work. Until then it would be reported again by the next operation,
// which it also is if it was not all shown.
func (s *Stack) Acknowledge(shown bool) error {
	var errs []error
	for _, recovered := range s.opened.recovered {
		if recovered.Work == "" { // which the state remembers, and no engine
			continue
		}
		end := s.opened.recoverer().Forget
		if !shown || recovered.IsDoubtful() && !s.opened.accepts(recovered) {
			end = s.opened.recoverer().Leave
		}
		errs = append(errs, end(context.Background(), recovered.Work))
	}
	s.opened.recovered = nil
	return errors.Join(errs...)
}

// accepts reports whether the user has seen the doubts, and goes on.
func (o *opened) accepts(recovered *engine.Recovered) bool { return o.accepted && recovered.Seen }

// Diagnostics returns the diagnostics of an error of this package, errors of the state store
// explained.
func Diagnostics(err error) hcl.Diagnostics { return deployment.Diagnostics(err) }
