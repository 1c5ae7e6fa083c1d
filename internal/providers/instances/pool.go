// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package instances

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/enginelog"
	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/once"
	"github.com/cairnstacks/cairn/internal/providers/builtin"
	"github.com/cairnstacks/cairn/internal/providers/plugin"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Options are the parameters of [New].
type Options struct {
	// Environ is the environment of processes; nil stands for that of this program.
	Environ []string

	// MaxProcesses is how many processes there should be at most; 0 stands for any number. See rule
	// S3.
	MaxProcesses int

	// SchemaDir is the directory in which schemas are kept, which is made when it is needed; empty for
	// none.
	SchemaDir string

	// EmptyDir is the directory in which processes work that are shared (rule S7), made when it is
	// needed. Empty for that of this program.
	EmptyDir string

	// BuiltIn are the parameters of the provider that is built in.
	BuiltIn builtin.Options

	// StartTimeout is how long a process may take to start; 0 stands for a minute.
	StartTimeout time.Duration

	// CallTimeout is how long an answer may take before the process is ended; 0 stands for any time.
	CallTimeout time.Duration

	// FunctionsOnly is for a pool that is asked for functions alone: its schemas have nothing else, so
	// that most providers need not be asked for the rest.
	FunctionsOnly bool

	// Log has the output of processes, and their calls. Nil stands for none. It belongs to the caller,
	// which closes it after the pool.
	Log *enginelog.Log
}

// Package is the program of a provider.
type Package struct {
	Address stackaddrs.Provider
	Program string // path; not used for the provider that is built in, and for those of [plugin.ReattachVariable]

	// Hash identifies the content of the package; empty if it is not known, and the schemas then are
	// not kept on disk.
	Hash string
}

// Configuration is how a provider is to be configured.
type Configuration struct {
	Value            cty.Value // of the type of the provider's schema; may have unknown parts and marks
	TerraformVersion string
	DeferralAllowed  bool

	// Name and Phase decide with which others a configuration is shared that is not wholly known, or
	// ephemeral in part: such as the address of the provider configuration in the stack, and the kind
	// of work that is done there.
	Name, Phase string

	// Dir is the directory of the root module, to which paths are relative for the provider that is
	// built in.
	Dir string

	// WorkDir is the directory in which the process is to work; empty for one that all share (rule
	// S7).
	WorkDir string
}

// Pool has the processes of a run. Made by [New]. Safe for concurrent use.
type Pool struct {
	opts     Options
	attached map[stackaddrs.Provider]plugin.Reattach
	builtIn  *builtin.Provider
	kept     once.Map[Package, *schema.Provider] // on disk, nil where there is none
	asked    once.Map[Package, *schema.Provider] // of processes

	life     context.Context //nolint:containedctx // of all starts, which belong to no caller; ends when the pool closes
	end      context.CancelCauseFunc
	starting sync.WaitGroup

	mu struct {
		sync.Mutex
		closed    bool
		instances map[key]*instance
		clock     int // counts the instances that become idle
		users     int // of all instances
		phase     string
	}
}

var errClosed = errors.New("the providers have been shut down")

// New returns a pool without processes.
//
// Errors: an invalid [plugin.ReattachVariable].
func New(opts Options) (*Pool, error) {
	if opts.Environ == nil {
		opts.Environ = os.Environ()
	}
	named, err := plugin.ParseReattach(environ.Get(opts.Environ, plugin.ReattachVariable))
	if err != nil {
		return nil, err
	}
	if opts.BuiltIn.Environ == nil {
		opts.BuiltIn.Environ = opts.Environ
	}
	p := &Pool{opts: opts, builtIn: builtin.New(opts.BuiltIn)}
	p.attached = make(map[stackaddrs.Provider]plugin.Reattach, len(named))
	for address, to := range named {
		parsed, err := parseAddress(address)
		if err != nil {
			return nil, err
		}
		p.attached[parsed] = to
	}
	p.life, p.end = context.WithCancelCause(context.Background())
	p.mu.instances = map[key]*instance{}
	return p, nil
}

// Unmanaged reports whether somebody else has started the provider, so that it need not be
// installed.
func (p *Pool) Unmanaged(address stackaddrs.Provider) bool {
	_, attached := p.attached[address]
	return attached
}

// Configured returns a provider with a configuration. Without errors, the caller must release it.
// It starts nothing for the provider that is built in.
func (p *Pool) Configured(ctx context.Context, pkg Package, config Configuration) (*Lease, provider.Diagnostics) {
	if pkg.Address.IsBuiltin() {
		return &Lease{Provider: p.builtIn.In(config.Dir)}, nil
	}
	value, k, err := keyOf(pkg, config)
	if err != nil {
		return nil, provider.Errorf(summaryConfigured, "The configuration of provider %s cannot be sent: %s.", pkg.Address, err)
	}
	p.enter(config.Phase)
	return p.lease(ctx, k, func(ctx context.Context) result {
		return p.startConfigured(ctx, pkg, config.WorkDir, provider.ConfigureRequest{
			Config: value, TerraformVersion: config.TerraformVersion, DeferralAllowed: config.DeferralAllowed,
		})
	})
}

// Unconfigured returns a provider that is not configured. Without errors, the caller must release
// it.
func (p *Pool) Unconfigured(ctx context.Context, pkg Package) (*Lease, provider.Diagnostics) {
	return p.UnconfiguredIn(ctx, pkg, "")
}

// UnconfiguredIn is Unconfigured for a process that works in a directory; see
// [Configuration.WorkDir].
func (p *Pool) UnconfiguredIn(ctx context.Context, pkg Package, workDir string) (*Lease, provider.Diagnostics) {
	if pkg.Address.IsBuiltin() {
		return &Lease{Provider: p.builtIn}, nil
	}
	return p.lease(ctx, unconfiguredKey(pkg, workDir), func(ctx context.Context) result {
		p.makeRoom()
		return p.start(ctx, pkg, workDir)
	})
}

// Any returns a provider for requests that need no configuration, such as validation: one that runs
// already, or else one that is not configured. Without errors, the caller must release it.
func (p *Pool) Any(ctx context.Context, pkg Package) (*Lease, provider.Diagnostics) {
	if running := p.running(pkg); running != nil {
		return running, nil
	}
	return p.Unconfigured(ctx, pkg)
}

// Close ends all processes and waits for that. Calls that are under way fail. The pool starts no
// others after that.
func (p *Pool) Close() error {
	p.end(errClosed)
	p.mu.Lock()
	p.mu.closed = true
	instances := p.mu.instances
	p.mu.instances = map[key]*instance{}
	p.mu.Unlock()
	p.starting.Wait()

	var all sync.WaitGroup
	for _, one := range instances {
		if one.process != nil {
			all.Go(one.process.End)
		}
	}
	all.Wait()
	return nil
}
