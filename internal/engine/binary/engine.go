// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/internal/engine/binary/schemacache"
	"github.com/cairnstacks/cairn/internal/engine/module"
	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/engine/toolchain/cliconfig"
	"github.com/cairnstacks/cairn/internal/providers"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Options are the parameters of [New].
type Options struct {
	Binary   string // path of the terraform or tofu binary; see package toolchain
	StackDir string // where the provider lock file is, and what diagnostics name files relative to
	WorkDir  string // for files that outlive the program; made when needed
	RunsDir  string // for what applies have done until it is saved elsewhere; "" for a directory in WorkDir

	// SchemaDir is where schemas of providers are kept, for all stacks; "" for a directory in WorkDir.
	SchemaDir string

	// Working is called before something is done that may take long and is done once: what it is, such as "Installing providers". May be nil.
	Working func(what string)

	// Log takes notice of processes and of what is kept between them, never of values. May be nil.
	Log *slog.Logger

	// Environ is the environment for processes; nil stands for that of this program.
	Environ []string

	// Resolver finds modules that are not in local directories. May be nil.
	Resolver stackconfig.Resolver
}

// Engine runs a terraform or tofu binary. Made by [New].
type Engine struct {
	binary   string
	info     engine.Info
	stackDir string
	workDir  string
	runsDir  string
	environ  []string
	modules  *module.Loader
	plugins  *providers.Pool

	schemaCache schemacache.Cache
	working     func(what string)
	log         *slog.Logger
	logEnv      map[string]string // see logEnvironment

	mu struct {
		sync.Mutex
		hashes  map[string]fingerprintedHash // by module directory
		data    map[string]*onceValue[string]
		valid   map[string]*onceValue[hcl.Diagnostics]
		schemas *onceValue[*providerSchemas]

		binaries map[stackaddrs.Provider]string // paths of providers' programs
		secret   []byte                         // see BindRuns
	}
}

var _ engine.Engine = (*Engine)(nil)

type fingerprintedHash struct{ fingerprint, hash string }

// onceValue computes a value once, for all who need it at the same time.
type onceValue[T any] struct {
	once  sync.Once
	value T
	err   error
}

func (o *onceValue[T]) get(compute func() (T, error)) (T, error) {
	o.once.Do(func() { o.value, o.err = compute() })
	return o.value, o.err
}

// New returns an engine for one stack. The binary is started only if it was not used before. The caller
// should close the engine after use. Ending ctx ends only the question for the version.
//
// Errors: an [*toolchain.TooOldError], or that the binary or the working directory can't be used.
func New(ctx context.Context, opts Options) (*Engine, error) {
	stackDir, err := filepath.Abs(opts.StackDir)
	if err != nil {
		return nil, fmt.Errorf("stack directory: %w", err)
	}
	workDir, err := filepath.Abs(opts.WorkDir)
	if err != nil {
		return nil, fmt.Errorf("working directory: %w", err)
	}
	if err := os.MkdirAll(workDir, 0o700); err != nil {
		return nil, fmt.Errorf("working directory: %w", err)
	}
	runsDir := filepath.Join(workDir, "runs")
	if opts.RunsDir != "" {
		if runsDir, err = filepath.Abs(opts.RunsDir); err != nil {
			return nil, fmt.Errorf("directory for runs: %w", err)
		}
	}
	binary, err := filepath.Abs(opts.Binary)
	if err != nil {
		return nil, fmt.Errorf("engine's binary: %w", err)
	}
	environ := opts.Environ
	if environ == nil {
		environ = os.Environ()
	}
	environ = cliconfig.AbsolutePaths(environ, stackDir)
	info, err := toolchain.Identifier{Environ: environ, RecordFile: RecordFile(workDir)}.Identify(ctx, binary)
	if err == nil {
		err = toolchain.CheckVersion(binary, info)
	}
	if err != nil {
		return nil, err
	}
	e := &Engine{
		binary:   binary,
		info:     info,
		stackDir: stackDir,
		workDir:  workDir,
		runsDir:  runsDir,
		environ:  environ,
		modules:  module.NewLoader(LoaderOptions(stackDir, info, opts.Resolver)),
		plugins:  providers.New(providers.Options{Environ: environ}),
	}
	if e.logEnv, err = logEnvironment(environ, workDir); err != nil {
		return nil, fmt.Errorf("log of the engine: %w", err)
	}
	if e.log = opts.Log; e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	if e.working = opts.Working; e.working == nil {
		e.working = func(string) {}
	}
	if opts.SchemaDir == "" {
		opts.SchemaDir = e.absolute("schemas")
	}
	e.schemaCache = schemacache.In(opts.SchemaDir)
	e.mu.hashes = map[string]fingerprintedHash{}
	e.mu.data = map[string]*onceValue[string]{}
	e.mu.valid = map[string]*onceValue[hcl.Diagnostics]{}
	e.mu.schemas = &onceValue[*providerSchemas]{}
	e.mu.binaries = map[stackaddrs.Provider]string{}
	return e, nil
}

// LoaderOptions returns how the named engine reads the modules of a stack.
func LoaderOptions(stackDir string, info engine.Info, resolver stackconfig.Resolver) module.Options {
	options := module.Options{Base: stackDir, Resolver: resolver}
	if options.Tofu = info.Name == toolchain.Tofu; !options.Tofu {
		options.Terraform = info.Version
	}
	return options
}

// RecordFile returns where it is remembered in a working directory what binaries are.
func RecordFile(workDir string) string { return filepath.Join(workDir, "engine.json") }

// Info implements [engine.Engine].
func (e *Engine) Info() engine.Info { return e.info }

// Module implements [engine.Engine].
func (e *Engine) Module(_ context.Context, dir string) (*engine.Module, hcl.Diagnostics) {
	tree, diags := e.modules.Load(dir)
	if tree == nil {
		return nil, diags
	}
	return tree.Module, diags
}

// Unsupported returns the errors about modules that are for other versions of the engine, of those in the given
// directories and those that they call. What else is wrong with a stack may be right with another engine.
func (e *Engine) Unsupported(dirs []string) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, dir := range dirs {
		if tree, _ := e.modules.Load(dir); tree != nil { //nolint:errcheck // Module reports the others
			diags = diags.Extend(tree.Unsupported)
		}
	}
	return diags
}

// env returns the environment for a process.
func (e *Engine) env(extra map[string]string) []string {
	all := maps.Clone(e.logEnv)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, extra)
	return runner.Environ(e.environ, all)
}

// writeFile replaces a file as a whole, so that no reader sees half of it.
func writeFile(name string, data []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(name), ".new-*") // of mode 0600
	if err != nil {
		return err
	}
	_, err = temporary.Write(data)
	err = errors.Join(err, temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	return nil
}

// failed returns an error that is not the configuration's fault as a diagnostic.
func failed(summary string, err error) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: sentence(err.Error())}
}

// sentence makes a whole sentence of an error's text.
func sentence(text string) string {
	if text == "" {
		return text
	}
	if first := text[0]; first >= 'a' && first <= 'z' {
		text = string(first-'a'+'A') + text[1:]
	}
	if last := text[len(text)-1]; last != '.' && last != '\n' {
		text += "."
	}
	return text
}
