// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package engines chooses the engine that a stack is worked on with, finds its program, and opens
// it.
package engines

import (
	"log/slog"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/binary"
	"github.com/cairnstacks/cairn/internal/engine/native"
	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/operation/notice"
	"github.com/cairnstacks/cairn/internal/providers/selection"
	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Options say for which stack engines are chosen, and how. All functions are set.
type Options struct {
	Dir, Home, WorkDir string // of the stack; Home is set if Dir has a copy of it
	Environ            []string

	Named, NamedBy string        // a setting that beats all others, and its source, in words for messages
	Given          engine.Engine // by the caller, in place of all that could be chosen; may be nil
	ChangesNothing bool          // the operation does not even plan, so that requirements of the engine are advice

	Settings       func() (settings.Settings, error)
	Config         func() (*stackconfig.Config, hcl.Diagnostics)
	Resolver       func() stackconfig.Resolver
	RunsDir        func() (string, error)   // where changes of applies are kept until they are in the state
	PrepareWorkDir func() error             // makes it
	FromEnviron    func(path string) string // makes a path of one that the environment or a setting names

	Shared   *Shared
	Fetching selection.Observer // sees which packages of providers are fetched
	Notify   notice.Func
	Log      *slog.Logger
}

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
	opts Options

	found    *toolchain.Candidate // the binary; nil until it is looked for
	foundErr error                // why there is none that can be used, once it was looked for
	warnings hcl.Diagnostics      // about the choice of the engine, until they are returned

	madePlan      string // name of the engine that has made the saved plan that is applied; "" without one
	plannedBinary string // the program by which components of it were planned; "" for none
}

// Of returns the stack with these options.
func Of(opts Options) *Stack { return &Stack{opts: opts} }

// getenv returns a variable of the environment of the operation.
func (s *Stack) getenv(name string) string { return environ.Get(s.opts.Environ, name) }
