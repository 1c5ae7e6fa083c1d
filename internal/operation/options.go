// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"path/filepath"
	"sync"
	"time"

	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/operation/sources"
	"github.com/cairnstacks/cairn/internal/operation/states"
	"github.com/cairnstacks/cairn/internal/operation/variables"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Options are the stack, and the options of operations on it. A zero value stands for that of the
// environment, of the settings file of the stack, or for the default.
type Options struct {
	Env    env.Options     // where the stack is, and the surroundings of the operations on it
	Engine engines.Request // the engine that plans and applies modules

	ReadOnlyLocks bool          // no version of a provider is chosen that is not locked
	LockTimeout   time.Duration // how long to wait for somebody else's lock of the state

	// Shared is the common cache of several operations in one process. Nil stands for one of this
	// operation alone.
	Shared *Shared

	// StopNow is closed by a caller that waits for the end of an operation that it has interrupted
	// ([ErrInterrupted]). Work that changes nothing is ended at once then, and all engines get to know
	// of it. Changes are saved as without it.
	StopNow <-chan struct{}

	// Resolver is as in [sources.Options].
	Resolver stackconfig.Resolver

	// Like is a stack in the same directory whose files were read, by nobody any more: their contents
	// count for this one, too. Several deployments of a stack have its configuration in common by it.
	Like *Stack

	// Providers are the only ones that there are, whatever the lock file of the stack says. Nil
	// installs the required ones.
	Providers *Providers
}

// Providers are those that a caller has installed.
type Providers struct{ Packages []engine.ProviderPackage }

// Shared is the common cache of operations on several stacks in one process. The zero value is
// empty. It is safe for concurrent use.
type Shared struct {
	engines engines.Shared
	sources sources.Shared
	states  states.Shared

	publishing sync.Mutex // from the look at other deployments' values until the own ones are kept, so that the last one sees all
}

// Renewed returns an empty cache for stacks in other directories. It has the connections to places
// of states in common with this one: a server that was reached before is waited for while it is
// away.
func (s *Shared) Renewed() *Shared {
	renewed := &Shared{}
	renewed.states.ConnectAs(&s.states)
	return renewed
}

// OfEngines is the cache of their engines.
func (s *Shared) OfEngines() *engines.Shared { return &s.engines }

// valueSources are where values of variables come from. Files that the environment names come
// first, so that arguments beat them.
func (s *Stack) valueSources(arguments []variables.Argument) variables.Sources {
	given := variables.Sources{Environ: s.env.Environ}
	for _, file := range filepath.SplitList(s.env.Getenv(variables.FilesVariable)) {
		if file != "" {
			given.Arguments = append(given.Arguments, variables.Argument{File: s.env.FromEnviron(file)})
		}
	}
	given.Arguments = append(given.Arguments, arguments...)
	return given
}
