// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package workercmd

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cairnstacks/cairn/internal/buildinfo"
	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	engineremote "github.com/cairnstacks/cairn/internal/engine/remote"
	"github.com/cairnstacks/cairn/internal/engine/toolchain/cliconfig"
	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet/remote"
	"github.com/cairnstacks/cairn/internal/glob"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/internal/statestore/locations"
	"github.com/cairnstacks/cairn/internal/workers/calls"
	"github.com/cairnstacks/cairn/internal/workers/components"
	"github.com/cairnstacks/cairn/internal/workers/config"
	"github.com/cairnstacks/cairn/internal/workers/connect"
	"github.com/cairnstacks/cairn/internal/workers/sources"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// workerOptions are the options of a worker.
type workerOptions struct {
	pool        string
	config      cmdline.File
	slots       cmdline.Count
	name        string
	cache       string
	deployments cmdline.List
}

// Command is the command of a worker.
func Command() *session.Command {
	var o workerOptions
	return &session.Command{
		Name:    "worker",
		Summary: "Does the work of runs for a pool, until it is interrupted.",
		Long: `
A worker takes units of runs from the queue of its pool, which a block "workers" of cairn.workspace.hcl names, plans
and applies them here, with the credentials of this machine, and answers. The file with that block is the one in the
current directory, or that of -config or CAIRN_WORKERS. The key of the pool is in CAIRN_POOL_KEY. With CAIRN_RUN_KEY, the
worker asks those of other pools for the components of a stack that are there.

Interrupted once, it takes nothing more and waits for what it has begun. Interrupted twice, it asks that to stop, as an
interrupted "cairn apply" does. The third time it ends at once.`,
		Example: "CAIRN_POOL_KEY=prod.key cairn worker -pool=prod\ncairn worker keys -out=keys prod default",
		Flags: func(f *session.Flags) {
			o = workerOptions{slots: usualSlots}
			f.StringVar(&o.pool, "pool", config.DefaultPool, "work for the pool `NAME`")
			f.Var(&o.config, "config", "take the block \"workers\" from `FILE` (default: CAIRN_WORKERS, or "+settings.WorkspaceFile+")")
			f.Var(&o.slots, "slots", fmt.Sprintf("work on `N` units at the same time (default: %d)", usualSlots))
			f.StringVar(&o.name, "name", "", "show this worker under `NAME` (default: the name of the machine)")
			f.StringVar(&o.cache, "cache", "", "keep the files of runs in `DIR` (default: below the directory for caches)")
			f.Var(&o.deployments, "deployments", "work on deployments that match `PATTERN` only; can be repeated")
			session.EngineFlags(f)
		},
		Run: func(ctx context.Context, s *session.Session, _ []string) (int, error) {
			w, err := open(ctx, s, o)
			if err != nil {
				return 0, err
			}
			return cmdline.ExitOK, w.serve(ctx)
		},
		Commands: []*session.Command{keysCommand()},
	}
}

const usualSlots = 4

// worker is a worker that runs.
type worker struct {
	session    *session.Session
	options    workerOptions
	config     *config.Config
	connection *connect.Connection
	calls      *calls.Worker
}

// open connects a worker.
func open(ctx context.Context, s *session.Session, o workerOptions) (*worker, error) {
	c, err := readConfig(s, o)
	if err != nil {
		return nil, err
	}
	if err := checkState(); err != nil {
		return nil, err
	}
	key, err := config.PoolKey(os.Environ())
	if err != nil {
		return nil, err
	}
	switch pool := c.Pool(o.pool); {
	case pool == nil:
		return nil, failure.Error("Unknown pool", "The block %q has no pool %q.", config.BlockType, o.pool)
	case string(pool.Recipient) != key.Recipient():
		return nil, failure.Error("Key of another pool", "The key in %s is not the one of the pool %q: its argument \"recipient\" has the "+
			"public half of another key.", config.PoolKeyVariable, o.pool)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	self := calls.Attempt{Worker: cmp.Or(o.name, host), Host: host, PID: os.Getpid(), Pool: o.pool, Process: rand.Text()}
	w := &worker{session: s, options: o, config: c}
	w.connection, err = connect.Open(ctx, c, connect.Options{
		Environ: os.Environ(), Identity: self.Worker, Away: s.QueueAway, RecordsAway: s.RecordsAway,
	})
	if err != nil {
		return nil, err
	}
	server, err := w.server()
	if err != nil {
		return nil, err
	}
	build := buildinfo.Read()
	w.calls = &calls.Worker{
		Records: w.connection.Records, Key: key, Trusted: c.Trusted, Version: build.Protocol(), Self: self,
	}
	server.Fetch = w.calls.Fetch
	handler := &components.Handler{Server: w.components(), Cache: server.Cache, Fetch: w.calls.Fetch}
	w.calls.Handlers = map[string]calls.Handler{remote.Kind: server.Handle, components.Kind: handler.Handle}
	return w, nil
}

// checkState refuses a place of states that has one state only: this worker works on many stacks.
func checkState() error {
	location := os.Getenv(env.StateVariable)
	if location == "" || locations.NeedsKey(location) {
		return nil
	}
	return failure.Error("State of one stack", "%s names one state, %s, and would have all stacks of this worker in it. "+
		"Name a place that has those of many stacks: a database without the parameter \"schema\", a bucket, or file:///DIRECTORY.",
		env.StateVariable, locations.Shown(location))
}

// readConfig reads the block about workers.
func readConfig(s *session.Session, o workerOptions) (*config.Config, error) {
	name := cmp.Or(string(o.config), os.Getenv(config.Variable), settings.WorkspaceFile)
	c, diags := config.ReadFile(name, s.Files)
	if diags.HasErrors() {
		if string(o.config) == "" && os.Getenv(config.Variable) == "" {
			if _, err := os.Stat(name); err != nil {
				return nil, failure.Error("No workers", "There is no file %s here, which says in a block %q where the queue is and which pools there "+
					"are. Name it with -config=FILE or %s.", name, config.BlockType, config.Variable)
			}
		}
		return nil, diags
	}
	return c, nil
}

// components returns the server for the work on components of stacks.
func (w *worker) components() *engineremote.Server {
	return engineremote.NewServer(engineremote.ServerOptions{
		Open: func(stackDir string) (engine.Engine, error) {
			options := operation.Options{Env: env.Options{Dir: stackDir}, ReadOnlyLocks: true}
			return operation.Open(options).Engines().OpenForWorker()
		},
		Parallelism: int(w.options.slots), Version: buildinfo.Read().Protocol(),
	})
}

// engineRequest is the engine for stacks.
func (w *worker) engineRequest() engines.Request {
	request := w.session.EngineRequest()
	request.Workers, request.Pool = nil, w.options.pool // workers are chosen for each unit
	return request
}

// others returns the workers that do components in other pools, for stacks of a run.
func (w *worker) others(top string, files sources.Archive) engines.Workers {
	return func(stackDir string, waiting func(component, pool string)) (engineremote.Transport, error) {
		return components.New(components.Options{
			StackDir: stackDir, Version: buildinfo.Read().Protocol(), Files: components.Files{Archive: files, Top: top},
			Connect: w.toOthers, Waiting: waiting,
		}), nil
	}
}

// toOthers returns the connection with other workers. It needs the key of those who may start work,
// which most workers do not have.
func (w *worker) toOthers(context.Context) (*components.Connection, error) {
	if os.Getenv(config.RunKeyVariable) == "" {
		return nil, failure.Error("Worker without key", "The worker %s of the pool %s has no key to ask those of other pools "+
			"for components. Start it with %s, as those have it who start runs.", w.calls.Self.Worker, w.options.pool, config.RunKeyVariable)
	}
	key, err := w.config.RunKey(os.Environ())
	if err != nil {
		return nil, err
	}
	return &components.Connection{
		Queue: w.connection.Queues, Records: w.connection.Records, Key: key, Pools: w.config.Recipients(),
	}, nil
}

// server returns the server for the work on units.
func (w *worker) server() (*remote.Server, error) {
	cache := w.options.cache
	if cache == "" {
		below, err := os.UserCacheDir()
		if err != nil {
			return nil, failure.Error("No directory for caches", "%s. Name one for the files of runs with -cache=DIR.",
				failure.Capitalize(failure.Reason(err)))
		}
		cache = filepath.Join(below, "cairn", "worker")
	}
	if err := keepProviders(filepath.Join(cache, "providers")); err != nil {
		return nil, err
	}
	all := &operation.Shared{}
	server := &remote.Server{
		Cache: sources.Cache{Dir: cache}, Screens: &screens{session: w.session}, Version: session.Version(),
		Environ: environ.WithoutKeys(os.Environ()), Workers: w.others,
		Stack: operation.Options{Engine: w.engineRequest(), ReadOnlyLocks: true},
		Shared: func() *operation.Shared {
			shared := all.Renewed()
			shared.OfEngines().Binary.AllowProcesses(int(w.options.slots))
			return shared
		},
		Roots: w.session.RootEngine,
	}
	for _, text := range w.options.deployments {
		pattern, err := glob.Compile(text)
		if err != nil {
			return nil, failure.Error("Invalid pattern", "%q is not a pattern of names: %s.", text, failure.Reason(err))
		}
		server.Deployments = append(server.Deployments, pattern)
	}
	return server, nil
}

// keepProviders has providers installed once for all files of runs, which are others with each
// change of a repository.
func keepProviders(dir string) error {
	if os.Getenv(cliconfig.CacheVariable) != "" || cliconfig.SharesProviders(os.Environ()) {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return failure.Error("Cache not usable", "The directory for caches cannot be made: %s. Name another one with -cache=DIR.",
			failure.Reason(err))
	}
	return os.Setenv(cliconfig.CacheVariable, dir)
}

// inWork names the work that an interrupted worker waits for.
func inWork(units int) string {
	switch units {
	case 0:
		return "nothing is in work."
	case 1:
		return "waiting for 1 unit in work. Interrupt once more to ask it to stop."
	}
	return fmt.Sprintf("waiting for %d units in work. Interrupt once more to ask them to stop.", units)
}

// serve works until the worker is interrupted.
func (w *worker) serve(ctx context.Context) error {
	ctx, drain := context.WithCancel(ctx)
	defer drain()
	defer w.connection.Close() //nolint:errcheck // all that matters is recorded
	stopped := false
	unwatch := w.session.WatchInterrupts(session.InterruptActions{
		First: func(os.Signal) {
			drain()
			w.session.Note("\nInterrupted. Nothing more is taken; %s\n", inWork(w.calls.Running()))
		},
		Second: func() {
			if !stopped {
				w.session.Note("\nThe units in work are asked to stop. Interrupt once more to end at once.\n")
			}
			stopped = true
			w.calls.StopAll()
		},
		Third:       true,
		WritesPipes: true, // operations write to providers
		Quiet:       true,
	})
	defer unwatch()
	w.session.Note("Working for the pool %s at %s, on %d units at the same time.\n", w.options.pool, w.config.Address, w.options.slots)
	err := w.calls.Serve(ctx, w.connection.Queues, int(w.options.slots))
	if err != nil {
		return failure.Error("Queue not usable", "The queue at %s cannot be used: %s.", w.config.Address, failure.Reason(err))
	}
	return nil
}
