// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package instances

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cairnstacks/cairn/internal/providers/client"
	"github.com/cairnstacks/cairn/internal/providers/plugin"
	"github.com/cairnstacks/cairn/internal/providers/provider"
)

// instance is a provider in a process. Fields after ready must be read only after that is closed;
// fields after users only with the pool's lock.
type instance struct {
	ready    chan struct{}
	process  *plugin.Process // nil if there is none: see diags
	provider *client.Client
	diags    provider.Diagnostics // with errors it cannot be used
	passing  bool                 // the reason for that may be gone the next time

	phase    string // in which it was started
	users    int
	stopping int // how many of the users want it to stop
	stopped  bool
	retired  bool
	idleFrom int // the pool's clock when the last user left
}

// result is the outcome of starting an instance.
type result struct {
	process  *plugin.Process
	provider *client.Client
	diags    provider.Diagnostics
	passing  bool
}

// Unstartable is the summary of diagnostics about a program that could not be started as a
// provider.
const Unstartable = "Unstartable provider"

const summaryConfigured = "Invalid provider configuration"

// lease returns the instance for a key, which is started by the first caller that needs it, while
// others wait.
func (p *Pool) lease(ctx context.Context, k key, start func(context.Context) result) (*Lease, provider.Diagnostics) {
	for {
		one, isNew, err := p.take(k)
		if err != nil {
			return nil, provider.Errorf(Unstartable, "Provider %s was needed, but %w.", k.address, err)
		}
		if isNew {
			p.fill(ctx, k, one, start)
		}
		select {
		case <-one.ready:
		case <-ctx.Done():
			p.release(k, one, false)
			return nil, provider.Errorf(Unstartable, "Provider %s was needed, but that was given up: %w.", k.address, context.Cause(ctx))
		}
		switch {
		case one.diags.HasErrors() && (isNew || !one.passing):
			p.release(k, one, false)
			return nil, one.diags
		case !one.diags.HasErrors() && !one.process.Exited():
			lease := &Lease{Provider: one.provider, pool: p, key: k, instance: one}
			if isNew {
				return lease, one.diags
			}
			return lease, nil // the first one has the warnings
		}
		p.retire(k, one) // it has crashed, or the caller that wanted to start it has given up
		p.release(k, one, false)
		if isNew {
			return nil, provider.Errorf(Unstartable, "The program of provider %s ended as soon as it had been started.", k.address)
		}
	}
}

// take returns the instance for a key, with one user more.
func (p *Pool) take(k key) (one *instance, isNew bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.closed {
		return nil, false, errClosed
	}
	one = p.mu.instances[k]
	if one == nil || one.failed() && one.phase != p.mu.phase && p.mu.users == 0 { // rule S5
		one, isNew = &instance{ready: make(chan struct{}), phase: p.mu.phase}, true
		p.mu.instances[k] = one
		p.starting.Add(1)
	}
	one.users++
	p.mu.users++
	return one, isNew, nil
}

// failed reports whether there is no provider, as its program could not be started or it has
// refused its configuration.
func (one *instance) failed() bool {
	select {
	case <-one.ready:
		return one.diags.HasErrors()
	default:
		return false
	}
}

// enter begins a phase.
func (p *Pool) enter(phase string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.phase = phase
}

// fill starts an instance that take has returned as a new one.
func (p *Pool) fill(ctx context.Context, k key, one *instance, start func(context.Context) result) {
	defer p.starting.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(p.life, func() { cancel(errClosed) })()
	started := start(ctx)
	p.mu.Lock()
	one.process, one.provider, one.diags, one.passing = started.process, started.provider, started.diags, started.passing
	closed := p.mu.closed
	p.mu.Unlock()
	if one.passing {
		p.retire(k, one)
	}
	if closed && one.process != nil {
		one.process.End()
	}
	close(one.ready)
}

// start starts a process without configuring it.
func (p *Pool) start(ctx context.Context, pkg Package, workDir string) result {
	process, err := p.startProcess(ctx, pkg, workDir)
	if err != nil {
		return result{diags: notStarted(pkg, err), passing: ctx.Err() != nil}
	}
	found, err := p.schemaOf(ctx, pkg, process)
	if err != nil {
		process.End()
		return result{diags: noSchema(pkg, err), passing: ctx.Err() != nil}
	}
	return result{process: process, provider: client.New(pkg.Address, process, found)}
}

func (p *Pool) startProcess(ctx context.Context, pkg Package, workDir string) (*plugin.Process, error) {
	if to, attached := p.attached[pkg.Address]; attached {
		return plugin.Attach(to, p.opts.Log)
	}
	if workDir == "" {
		workDir = p.emptyDir()
	}
	return plugin.Start(ctx, pkg.Program, plugin.Options{
		Dir: workDir, Environ: p.opts.Environ, StartTimeout: p.opts.StartTimeout, CallTimeout: p.opts.CallTimeout, Log: p.opts.Log,
	})
}

// emptyDir returns the directory of processes that are shared: one in which nobody but a superuser
// can write.
func (p *Pool) emptyDir() string {
	if p.opts.EmptyDir == "" {
		return ""
	}
	err := os.MkdirAll(filepath.Dir(p.opts.EmptyDir), 0o700)
	if err == nil {
		err = os.Mkdir(p.opts.EmptyDir, 0o500)
	}
	if err == nil || errors.Is(err, fs.ErrExist) {
		return p.opts.EmptyDir
	}
	// That nothing can be written is no reason to do without providers.
	return filepath.VolumeName(p.opts.EmptyDir) + string(filepath.Separator)
}

func notStarted(pkg Package, err error) provider.Diagnostics {
	return provider.Errorf(Unstartable, "Provider %s was needed. %w", pkg.Address, err)
}

func noSchema(pkg Package, err error) provider.Diagnostics {
	return provider.Errorf("Provider schema unavailable", "Provider %s was asked for its schema. %w", pkg.Address, err)
}

// startConfigured configures a process: the one without a configuration, if nobody uses that, or
// else one that it starts. A provider that refuses the configuration is ended.
func (p *Pool) startConfigured(ctx context.Context, pkg Package, workDir string, req provider.ConfigureRequest) result {
	one, idle := p.takeOver(unconfiguredKey(pkg, workDir))
	if !idle {
		p.makeRoom()
		if one = p.start(ctx, pkg, workDir); one.diags.HasErrors() {
			return one
		}
	}
	if one.diags = one.provider.ValidateConfig(ctx, req.Config); !one.diags.HasErrors() {
		one.diags = append(one.diags, one.provider.Configure(ctx, req)...)
	}
	if one.diags.HasErrors() {
		one.process.End()
		one.process, one.passing = nil, ctx.Err() != nil
	}
	return one
}

// takeOver removes the instance without a configuration and returns its content, unless somebody
// uses it (rule S9).
func (p *Pool) takeOver(k key) (result, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.mu.instances[k]
	if one == nil || one.users > 0 || !one.runs() {
		return result{}, false
	}
	delete(p.mu.instances, k)
	return result{process: one.process, provider: one.provider}, true
}

// running returns a lease of an instance that runs, with any configuration; nil if there is none.
func (p *Pool) running(pkg Package) *Lease {
	p.mu.Lock()
	defer p.mu.Unlock()
	for k, one := range p.mu.instances {
		if k.address == pkg.Address && k.program == pkg.Program && k.dir == "" && one.runs() {
			one.users++
			p.mu.users++
			return &Lease{Provider: one.provider, pool: p, key: k, instance: one}
		}
	}
	return nil
}

// runs reports whether an instance that is not retired can be used at once.
func (one *instance) runs() bool {
	select {
	case <-one.ready:
		return !one.diags.HasErrors() && !one.process.Exited()
	default:
		return false
	}
}

// makeRoom ends the process that has been idle for longest, if the limit leaves no room for another
// (rule S3).
func (p *Pool) makeRoom() {
	if oldest := p.excess(); oldest != nil {
		oldest.process.End()
	}
}

// excess removes and returns the instance that is to make room, nil if none has to or none can.
func (p *Pool) excess() *instance {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.opts.MaxProcesses <= 0 {
		return nil
	}
	var count int
	var oldest *instance
	var of key
	for k, one := range p.mu.instances {
		if one.users > 0 || one.process != nil {
			count++
		}
		if one.users == 0 && one.process != nil && (oldest == nil || one.idleFrom < oldest.idleFrom) {
			oldest, of = one, k
		}
	}
	if count <= p.opts.MaxProcesses { // the new one is among them
		return nil
	}
	if oldest != nil {
		delete(p.mu.instances, of)
	}
	return oldest
}

// retire makes sure that nobody else gets an instance.
func (p *Pool) retire(k key, one *instance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one.retired = true
	if p.mu.instances[k] == one {
		delete(p.mu.instances, k)
	}
}

// release takes a user away. The last one of an instance that is retired, or in a directory (rule
// S7), ends it.
func (p *Pool) release(k key, one *instance, wasStopping bool) {
	p.mu.Lock()
	one.users--
	p.mu.users--
	if wasStopping {
		one.stopping--
	}
	p.mu.clock++
	one.idleFrom = p.mu.clock
	if one.users == 0 && k.dir != "" && one.process != nil {
		one.retired = true
		if p.mu.instances[k] == one {
			delete(p.mu.instances, k)
		}
	}
	end := one.users == 0 && one.retired && one.process != nil
	p.mu.Unlock()
	if end {
		one.process.End()
	}
}
