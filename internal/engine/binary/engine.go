// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/binary/command"
	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/internal/engine/binary/schemacache"
	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/engine/toolchain/cliconfig"
	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/install"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/once"
	"github.com/cairnstacks/cairn/internal/providers/instances"
	"github.com/cairnstacks/cairn/internal/providers/plugin"
	"github.com/cairnstacks/cairn/internal/providers/selection"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Options are the parameters of [New].
type Options struct {
	Binary  string // path of the terraform or tofu binary; see package toolchain
	WorkDir string // for files that outlive the program, of one stack; made when needed
	RunsDir string // for the results of applies until they are saved elsewhere; "" for a directory in WorkDir

	// SchemaDir is where schemas of providers are kept, for all stacks; "" for a directory in WorkDir.
	SchemaDir string

	// Working is called before a slow task that is done once, with its name, such as "Installing
	// providers". May be nil.
	Working func(what string)

	// Fetching is told which packages of providers are fetched. May be nil.
	Fetching selection.Observer

	// Log takes notice of processes and of the files that are kept between them, never of values. May
	// be nil.
	Log *slog.Logger

	// Environ is the environment for processes; nil stands for that of this program. Relative paths in
	// it are relative to Dir.
	Environ []string
	Dir     string

	// Resolver finds modules that are not in local directories. May be nil.
	Resolver stackconfig.Resolver

	// Shared is the caches that engines of several stacks have in common. Nil shares nothing.
	Shared *Shared
}

// Engine runs a terraform or tofu binary. Made by [New].
type Engine struct {
	opts   Options // with absolute paths, and nothing left to be chosen
	info   engine.Info
	logEnv map[string]string // see [runner.LogEnvironment]
}

// Session is an [engine.Session] with the binary. Made by [Engine.Open].
type Session struct {
	binary   *command.Binary
	info     engine.Info
	stackDir string
	workDir  string
	runsDir  string
	modules  *module.Loader
	plugins  *instances.Pool
	works    *engine.Works

	installer     *install.Installer
	dataDirs      sync.Mutex // is held while one is made
	installations atomic.Int64

	installed once.Map[int64, *providerSchemas] // by installations
	validated once.Map[string, hcl.Diagnostics] // by directory of the root module

	shared      *Shared
	schemaCache schemacache.Cache
	working     func(what string)
	log         *slog.Logger

	mu struct {
		sync.Mutex
		hashes map[string]fingerprintedHash // by module directory
		kept   map[engine.WorkID]keptRun
		left   map[engine.WorkID]*leftRun // see Unfinished

		purpose engine.Purpose // see Bind
	}
}

var (
	_ engine.Engine   = (*Engine)(nil)
	_ engine.Session  = (*Session)(nil)
	_ engine.Preparer = (*Session)(nil)
)

type fingerprintedHash struct{ fingerprint, hash string }

// New returns an engine that keeps its files in the working directory of one stack. The binary is
// started only if it was not used before. Ending ctx ends only the question for the version.
//
// Errors: an [*toolchain.TooOldError], or that the binary or the working directory can't be used.
func New(ctx context.Context, opts Options) (*Engine, error) {
	var err error
	if opts.WorkDir, err = filepath.Abs(opts.WorkDir); err != nil {
		return nil, fmt.Errorf("working directory: %w", err)
	}
	if err := os.MkdirAll(opts.WorkDir, 0o700); err != nil {
		return nil, fmt.Errorf("working directory: %w", err)
	}
	if opts.RunsDir == "" {
		opts.RunsDir = filepath.Join(opts.WorkDir, "runs")
	}
	if opts.RunsDir, err = filepath.Abs(opts.RunsDir); err != nil {
		return nil, fmt.Errorf("directory for runs: %w", err)
	}
	if opts.Binary, err = filepath.Abs(opts.Binary); err != nil {
		return nil, fmt.Errorf("engine's binary: %w", err)
	}
	if opts.Environ == nil {
		opts.Environ = os.Environ()
	}
	if opts.Dir, err = filepath.Abs(opts.Dir); err != nil {
		return nil, fmt.Errorf("environment: %w", err)
	}
	opts.Environ = cliconfig.AbsolutePaths(opts.Environ, opts.Dir)
	if opts.SchemaDir == "" {
		opts.SchemaDir = filepath.Join(opts.WorkDir, "schemas")
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Shared == nil {
		opts.Shared = &Shared{}
	}
	if opts.Working == nil {
		opts.Working = func(string) {}
	}
	e := &Engine{opts: opts}
	if e.info, err = (toolchain.Identifier{Environ: opts.Environ, RecordFile: RecordFile(opts.WorkDir)}).Identify(ctx,
		opts.Binary); err != nil {
		return nil, err
	}
	if err := toolchain.CheckVersion(opts.Binary, e.info); err != nil {
		return nil, err
	}
	if e.logEnv, err = runner.LogEnvironment(opts.Environ, opts.WorkDir); err != nil {
		return nil, err
	}
	return e, nil
}

// Info implements [engine.Engine].
func (e *Engine) Info() engine.Info { return e.info }

// Open implements [engine.Engine]. The session is a [*Session].
func (e *Engine) Open(_ context.Context, opts engine.SessionOptions) (engine.Session, error) {
	return e.open(opts, nil)
}

// open opens a session with the providers that are installed in a place; nil stands for that in the
// working directory.
func (e *Engine) open(opts engine.SessionOptions, at *install.Dir) (*Session, error) {
	stackDir, err := filepath.Abs(opts.StackDir)
	if err != nil {
		return nil, fmt.Errorf("stack directory: %w", err)
	}
	plugins, err := instances.New(instances.Options{
		Environ: environ.Without(e.opts.Environ, plugin.ReattachVariable), CallTimeout: time.Minute, FunctionsOnly: true,
	})
	if err != nil {
		return nil, err
	}
	e.opts.Shared.AllowProcesses(cmp.Or(max(opts.Parallelism, 0), engine.DefaultParallelism))
	s := &Session{
		binary: &command.Binary{
			Path: e.opts.Binary, Name: e.info.Name, Environ: e.opts.Environ, LogEnv: e.logEnv, Limit: &e.opts.Shared.processes, Log: e.opts.Log,
		},
		info:     e.info,
		stackDir: stackDir,
		workDir:  e.opts.WorkDir,
		runsDir:  e.opts.RunsDir,
		modules:  newLoader(e.info, stackDir, e.opts.Resolver, &e.opts.Shared.Modules),
		plugins:  plugins,
		works:    engine.NewWorks(opts.Parallelism),

		shared:      e.opts.Shared,
		schemaCache: schemacache.In(e.opts.SchemaDir),
		working:     e.opts.Working,
		log:         e.opts.Log,
	}
	s.installer = install.New(install.Options{
		StackDir: stackDir, WorkDir: e.opts.WorkDir, Dir: at, Environ: e.opts.Environ, Modules: s.modules, Engine: e.info.Name,
		Hashes: &e.opts.Shared.hashes, Fetched: &e.opts.Shared.fetched, Working: e.opts.Working, Fetching: e.opts.Fetching,
	})
	s.mu.hashes = map[string]fingerprintedHash{}
	s.mu.kept = map[engine.WorkID]keptRun{}
	s.mu.left = map[engine.WorkID]*leftRun{}
	return s, nil
}

// Close implements [engine.Session]. It ends the processes of providers that were started for their
// functions.
func (e *Session) Close() error {
	errs := []error{e.plugins.Close()}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, kept := range e.mu.kept {
		errs = append(errs, kept.dir.Close())
	}
	for _, left := range e.mu.left {
		errs = append(errs, left.dir.Close())
	}
	clear(e.mu.kept)
	clear(e.mu.left)
	return errors.Join(errs...)
}

// RecordFile returns the file of a working directory that remembers the names and versions of
// binaries.
func RecordFile(workDir string) string { return filepath.Join(workDir, "engine.json") }

// Info implements [engine.Session].
func (e *Session) Info() engine.Info { return e.info }

// Module implements [engine.Session].
func (e *Session) Module(_ context.Context, dir string) (*engine.Module, hcl.Diagnostics) {
	tree, diags := e.modules.Load(dir)
	if tree == nil {
		return nil, diags
	}
	return tree.Module, diags
}

// CanApply implements [engine.Session].
func (e *Session) CanApply(made engine.Info) bool { return made == e.info }

// Abilities implements [engine.Session].
func (e *Session) Abilities() engine.Abilities {
	return engine.Abilities{Functions: e, Preparer: e, Recoverer: e, Keeper: e, Types: e}
}
