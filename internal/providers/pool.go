// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package providers

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/plugin"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Options are the parameters of [New].
type Options struct {
	// Environ is the environment for processes; nil stands for that of this program.
	Environ []string

	// StartTimeout and CallTimeout are how long a process may take to start and to answer; 0 stands
	// for a minute.
	StartTimeout time.Duration
	CallTimeout  time.Duration
}

func (o Options) withDefaults() Options {
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.StartTimeout == 0 {
		o.StartTimeout = time.Minute
	}
	if o.CallTimeout == 0 {
		o.CallTimeout = time.Minute
	}
	return o
}

func (o Options) start(ctx context.Context, binary string) (*plugin.Process, error) {
	return plugin.Start(ctx, binary, plugin.Options{Environ: o.Environ, StartTimeout: o.StartTimeout})
}

// Pool keeps one process for each provider that was asked for something. Made by [New]. Safe for
// concurrent use.
type Pool struct {
	opts Options

	mu struct {
		sync.Mutex
		closed    bool
		providers map[string]*provider // by path of the binary
	}
}

// errClosed says that there are no processes any more.
var errClosed = errors.New("the providers have been shut down")

// New returns a pool without processes.
func New(opts Options) *Pool {
	p := &Pool{opts: opts.withDefaults()}
	p.mu.providers = map[string]*provider{}
	return p
}

// Close ends all processes, and waits until they have ended. The pool starts no others after that.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.mu.closed = true
	providers := p.mu.providers
	p.mu.providers = map[string]*provider{}
	p.mu.Unlock()

	var all sync.WaitGroup
	for _, one := range providers {
		all.Go(one.close)
	}
	all.Wait()
	return nil
}

// Functions returns the functions of the provider with this binary, by name. The provider is asked
// once.
//
// Errors: a [*engine.FunctionError]; that the process could not be started; context.Cause(ctx).
func (p *Pool) Functions(ctx context.Context, binary string) (map[string]*engine.Function, error) {
	one, err := p.provider(binary)
	if err != nil {
		return nil, err
	}
	return one.signatures(ctx)
}

// Call calls a function. See [engine.FunctionCaller] for the arguments, the result and the errors.
func (p *Pool) Call(ctx context.Context, binary, name string, args []cty.Value) (cty.Value, error) {
	one, err := p.provider(binary)
	if err != nil {
		return cty.NilVal, err
	}
	return one.call(ctx, name, args)
}

func (p *Pool) provider(binary string) (*provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.closed {
		return nil, errClosed
	}
	one := p.mu.providers[binary]
	if one == nil {
		one = &provider{binary: binary, opts: p.opts, turn: make(chan struct{}, 1)}
		p.mu.providers[binary] = one
	}
	return one, nil
}
