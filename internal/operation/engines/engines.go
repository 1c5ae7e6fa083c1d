// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package engines chooses the engine that a stack is worked on with, finds its program, and opens
// it.
//
// Rules:
//
//   - G1. An engine that can be named is registered, with all that others have to know of it: as
//     which engine it reads modules, how it is opened, and which applies it keeps. Any other name
//     is that of a binary.
//   - G2. A choice is made once for a stack, when it is first asked for.
//   - G3. Workers do the components in the pools of the settings, for the engines that are the
//     native one or hand components to it: a binary cannot apply what a worker has planned.
package engines

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/encryption"
	"github.com/cairnstacks/cairn/internal/engine/binary"
	"github.com/cairnstacks/cairn/internal/engine/native"
	"github.com/cairnstacks/cairn/internal/engine/remote"
	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/operation/notice"
	"github.com/cairnstacks/cairn/internal/operation/sources"
	"github.com/cairnstacks/cairn/internal/providers/selection"
	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// kind is an engine that can be named.
type kind struct {
	name string
	open func(context.Context, *Stack) (engine.Engine, error)

	reader engine.Info // as which modules are read

	// applier is the engine that applies a plan of this one, where the plan does not say which engine
	// its other components are for; "" for the same.
	applier string

	// kept returns the components, sorted, of applies that were begun with the state of a secret, and
	// whose changes are kept below a directory. Nil for an engine that keeps none of its own.
	kept func(ctx context.Context, runs string, secret []byte, keys *encryption.Keyring) ([]string, error)
}

// kinds are the engines that can be named.
var kinds = map[string]*kind{}

// register adds an engine to those that can be named.
func register(k kind) { kinds[k.name] = &k }

// Request says which engine is asked for. The zero value leaves it to the environment and to the
// settings.
type Request struct {
	Named, NamedBy string // a setting that beats all others, and its source, in words for messages

	// Given is that of the caller, in place of all that could be chosen; nil for none.
	Given engine.Engine

	Workers Workers // for components in pools; nil if there are none

	// Pool is the pool whose worker this program is; "" for none. Components in it are done here.
	Pool string

	// Plan is the saved plan that is applied; nil for none.
	Plan *stackplan.Plan

	// ChangesNothing says that the operation does not even plan, so that requirements of the engine
	// are advice.
	ChangesNothing bool
}

// Workers returns the transport of the work on components in pools, for the stack in an absolute
// directory; nil if there are no workers. Waiting is called, from any goroutine, with the name of
// work that no worker has taken for a while.
type Workers func(stackDir string, waiting func(component, pool string)) (remote.Transport, error)

// Shared is the cache of findings about engines for several stacks in one process. The zero value
// is empty. It is safe for concurrent use.
type Shared struct {
	Known  toolchain.Known // binaries
	Binary binary.Shared
	Native native.Shared

	logs sync.Map // files of logs that users know of, by absolute path
}

// Stack is a stack for which engines are chosen. It is used by one goroutine at a time.
type Stack struct {
	env     *env.Env
	sources *sources.Sources
	request Request
	shared  *Shared

	madePlan      string // name of the engine that has made the saved plan that is applied; "" without one
	plannedBinary string // the program by which components of it were planned; "" for none
	search        *searched
	fetching      selection.Observer
	waiting       sync.Mutex // by which notices of waiting come one at a time
}

// searched is the result of the search for a binary.
type searched struct {
	done     bool
	found    *toolchain.Candidate // nil if there is none that can be used
	err      error                // the reason for that
	warnings hcl.Diagnostics      // about the choice of the engine, until they are returned
}

// Of returns the engines for a stack.
func Of(e *env.Env, files *sources.Sources, request Request, shared *Shared) *Stack {
	s := &Stack{env: e, sources: files, request: request, shared: shared, search: &searched{}}
	s.fetching = selection.OneAtATime(func(event selection.Event) { e.Notify.Send(notice.ProviderFetch(event)) })
	if plan := request.Plan; plan != nil {
		s.madePlan = plan.Engine.Name
		s.plannedBinary = settings.Program(s.madePlan)
		for _, component := range plan.Components {
			s.plannedBinary = cmp.Or(s.plannedBinary, settings.Program(component.Engine.Name))
		}
	}
	return s
}

// Given returns the engine of the caller; nil if there is none.
func (s *Stack) Given() engine.Engine { return s.request.Given }

// Modules has the files of modules that were parsed.
func (s *Shared) Modules() *module.Files { return &s.Binary.Modules }

// Kept returns the components, sorted, of applies that were begun with the state of a secret, and
// whose changes an engine keeps, whichever it is.
func (s *Stack) Kept(ctx context.Context, secret []byte) ([]string, error) {
	if given := s.request.Given; given != nil {
		opened, err := given.Open(ctx, engine.SessionOptions{StackDir: s.env.Dir})
		if err != nil {
			return nil, Unusable(err)
		}
		defer opened.Close() //nolint:errcheck // it has done nothing
		return KeptBy(ctx, opened, secret)
	}
	runs, err := s.sources.RunsDir()
	if err != nil {
		return nil, err
	}
	keys, err := s.env.Keys()
	if err != nil {
		return nil, err
	}
	all, err := KeptBy(ctx, s.Sources(nil), secret)
	for _, k := range kinds {
		if k.kept != nil && err == nil {
			var components []string
			components, err = k.kept(ctx, runs, secret, keys)
			all = append(all, components...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all), err
}

// KeptBy returns the components of applies that were begun with the state of a secret, and whose
// changes the engine of a session keeps.
func KeptBy(ctx context.Context, session engine.Session, secret []byte) ([]string, error) {
	keeper := session.Abilities().Keeper
	if keeper == nil {
		return nil, nil
	}
	return keeper.Kept(ctx, secret)
}

// Observe passes on the progress of fetching packages of providers, one event at a time.
func (s *Stack) Observe() selection.Observer { return s.fetching }
