// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package native

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cairnstacks/cairn/internal/encryption"
	"github.com/cairnstacks/cairn/internal/engine/native/journal"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/engine/toolchain/cliconfig"
	"github.com/cairnstacks/cairn/internal/enginelog"
	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/install"
	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/providers/instances"
	"github.com/cairnstacks/cairn/internal/providers/selection"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Name is the engine's name.
const Name = toolchain.Native

// TerraformVersion is the version of terraform that the engine behaves like, as modules and
// providers are told.
const TerraformVersion = toolchain.NativeTerraform

// Version is the version of the engine: plans of another one cannot be applied.
const Version = "1"

// Options are the parameters of [New].
type Options struct {
	WorkDir   string // for files that outlive the program, of one stack; made when needed
	RunsDir   string // for the results of applies until they are saved elsewhere; "" for a directory in WorkDir
	SchemaDir string // where schemas of providers are kept, for all stacks; "" for a directory in WorkDir

	// Working is called before something is done that may take long and is done once, such as
	// "Installing providers". May be nil.
	Working func(what string)

	// Fetching is told which packages of providers are fetched. May be nil.
	Fetching selection.Observer

	// Environ is the environment for providers and provisioners, without the variables that are for
	// cairn alone; nil stands for that of this program. Relative paths in it are relative to Dir.
	Environ []string
	Dir     string

	// MaxProcesses is how many processes of providers there should be at most; 0 stands for any
	// number.
	MaxProcesses int

	// Resolver finds modules that are not in local directories. May be nil.
	Resolver stackconfig.Resolver

	// Constants returns the values that the stack gives to the variables of the module in a directory,
	// as far as they are constants; see [stackconfig.Config.Constants]. Nil gives nothing.
	Constants func(dir string) map[string]stackconfig.Constant

	// Standalone says that modules are root modules of their own, whose provider blocks configure
	// their providers; see [Session.RootProviders].
	Standalone bool

	// Shared is the caches that engines of several stacks have in common. Nil shares nothing.
	Shared *Shared

	// Keys are those by which journals are encrypted, if that is demanded. May be nil.
	Keys *encryption.Keyring
}

// Shared is the caches that engines of several stacks have in common. The zero value is ready for
// use.
type Shared struct {
	Modules module.Files
	Types   resource.Types
	Hashes  install.Hashes   // of packages of providers
	Fetched selection.Shared // such packages
}

// Engine is the native engine. Made by [New].
type Engine struct{ opts Options }

var _ engine.Engine = (*Engine)(nil)

// New returns an engine that keeps its files in the working directory of one stack. Nothing is
// started or written.
func New(opts Options) (*Engine, error) {
	var err error
	if opts.WorkDir, err = filepath.Abs(opts.WorkDir); err != nil {
		return nil, fmt.Errorf("working directory: %w", err)
	}
	if opts.Dir, err = filepath.Abs(opts.Dir); err != nil {
		return nil, fmt.Errorf("environment: %w", err)
	}
	if opts.RunsDir == "" {
		opts.RunsDir = filepath.Join(opts.WorkDir, "runs")
	}
	if opts.RunsDir, err = filepath.Abs(opts.RunsDir); err != nil {
		return nil, fmt.Errorf("directory of runs: %w", err)
	}
	if opts.SchemaDir == "" {
		opts.SchemaDir = filepath.Join(opts.WorkDir, "schemas")
	}
	if opts.Environ == nil {
		opts.Environ = os.Environ()
	}
	opts.Environ = cliconfig.AbsolutePaths(environ.WithoutOwn(opts.Environ), opts.Dir)
	if opts.Shared == nil {
		opts.Shared = &Shared{}
	}
	if opts.Constants == nil {
		opts.Constants = module.NoConstants
	}
	if opts.Working == nil {
		opts.Working = func(string) {}
	}
	return &Engine{opts}, nil
}

// Info implements [engine.Engine].
func (e *Engine) Info() engine.Info { return engine.Info{Name: Name, Version: Version} }

// Open implements [engine.Engine]. The session is a [*Session].
func (e *Engine) Open(_ context.Context, opts engine.SessionOptions) (engine.Session, error) {
	stackDir, err := filepath.Abs(opts.StackDir)
	if err != nil {
		return nil, fmt.Errorf("stack directory: %w", err)
	}
	log, err := enginelog.Open(e.opts.Environ, e.opts.WorkDir)
	if err != nil {
		return nil, err
	}
	pool, err := instances.New(instances.Options{
		Environ: e.opts.Environ, MaxProcesses: e.opts.MaxProcesses, SchemaDir: e.opts.SchemaDir, EmptyDir: e.sharedDir(stackDir), Log: log,
	})
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	read := module.OptionsOf(e.Info(), stackDir, e.opts.Resolver)
	read.Files, read.Constants = &e.opts.Shared.Modules, e.opts.Constants
	if read.Standalone = e.opts.Standalone; read.Standalone { // the module is one for terraform, which plans it otherwise
		read.EphemeralOutputs, read.ForTofu = false, false
	}
	modules := module.NewLoader(read)
	s := &Session{
		opts: e.opts, info: e.Info(), stackDir: stackDir, modules: modules,
		works: engine.NewWorks(opts.Parallelism), log: log, pool: pool, journal: journal.New(filepath.Join(e.opts.RunsDir, Name), e.opts.Keys),
		calls: make(chan struct{}, providerCalls),
	}
	s.prepare = install.New(install.Options{
		StackDir: stackDir, WorkDir: e.opts.WorkDir, Environ: e.opts.Environ, Modules: modules,
		Unsupported: s.unsupported, Unmanaged: pool.Unmanaged, Hashes: &e.opts.Shared.Hashes, Fetched: &e.opts.Shared.Fetched,
		Working: e.opts.Working, Fetching: e.opts.Fetching,
	})
	s.mu.functions = map[tablesKey]*lang.Tables{}
	return s, nil
}

// sharedDir returns where the processes work that components share: nowhere, unless the module in
// the directory is all that there is.
func (e *Engine) sharedDir(stackDir string) string {
	if e.opts.Standalone {
		return stackDir
	}
	return filepath.Join(e.opts.WorkDir, "empty")
}

// providerCalls is how many calls of providers there are at the same time, at most, in a session.
const providerCalls = 64
