// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package slots gives the modules of one component the providers that it was given: for each slot
// of its root module, a provider with the configuration of that slot.
package slots

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/providers/instances"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// Options are the parts that the providers of a component are made of.
type Options struct {
	Pool *instances.Pool

	// Package returns the installed package of a provider.
	Package func(ctx context.Context, addr stackaddrs.Provider) (instances.Package, error)

	Slots map[engine.ProviderSlot]engine.ProviderConfig

	// TerraformVersion is the version of terraform that providers are told.
	TerraformVersion string

	// Directory is that of the component.
	Directory Directory

	// Used returns the types of a provider's objects that the modules of the component have.
	Used func(addr stackaddrs.Provider) []stackaddrs.Resource

	// Phase is the phase in which the providers are used: configurations that are not wholly known are
	// shared within one phase only.
	Phase string
}

// Directory is where relative names lead to in a component. Safe for concurrent use.
type Directory interface {
	// Make returns the absolute path of the directory in which a process is to work, after making
	// it.
	Make() (string, error)

	// Root is that directory, or as long as it is not made the one of the root module, which has
	// the same files.
	Root() string

	// Has reports whether there is something of a name in it.
	Has(name string) bool
}

// Slots are the providers of a component. Made by [New]. Safe for concurrent use.
type Slots struct {
	opts Options

	mu struct {
		sync.Mutex
		slots   map[slotKey]*slot
		own     []*instances.Lease // of processes in the directory of the component that routers have started
		stopped bool
	}
}

// slotKey names a provider; a provider that no slot was filled with has the slot of its type.
type slotKey struct {
	addr stackaddrs.Provider
	slot engine.ProviderSlot
}

// slot is a provider, once somebody has asked for it.
type slot struct {
	once   sync.Once
	lease  *instances.Lease
	router *router // nil if the lease has a process that works in the directory of the component, or none
	known  bool
	ok     bool
	diags  hcl.Diagnostics
}

// New returns the providers of a component, of which none is started.
func New(opts Options) *Slots {
	s := &Slots{opts: opts}
	s.mu.slots = map[slotKey]*slot{}
	return s
}

// Provider implements resource.Providers.
func (s *Slots) Provider(ctx context.Context, addr stackaddrs.Provider,
	name engine.ProviderSlot,
) (p provider.Provider, known, ok bool, diags hcl.Diagnostics) {
	key := slotKey{addr, name}
	s.mu.Lock()
	one := s.mu.slots[key]
	if one == nil {
		one = &slot{}
		s.mu.slots[key] = one
	}
	s.mu.Unlock()
	one.once.Do(func() {
		s.open(ctx, one, addr, name)
		diags = one.diags
	})
	if !one.ok {
		return nil, false, false, diags
	}
	if one.router != nil {
		return one.router, one.known, true, diags
	}
	return one.lease.Provider, one.known, true, diags
}

// open finds or starts the provider of a slot.
func (s *Slots) open(ctx context.Context, one *slot, addr stackaddrs.Provider, name engine.ProviderSlot) {
	pkg := instances.Package{Address: addr}
	if !addr.IsBuiltin() && !s.opts.Pool.Unmanaged(addr) {
		var err error
		if pkg, err = s.opts.Package(ctx, addr); err != nil {
			one.diags = hcl.Diagnostics{failure.New("Provider not available", "The provider %s cannot be used: %s.", addr, err)}
			return
		}
	}
	given, filled := s.opts.Slots[name]
	one.known = !filled || !given.Unknown
	open := func(ctx context.Context, workDir string) (*instances.Lease, provider.Diagnostics) {
		if !one.known {
			return s.opts.Pool.UnconfiguredIn(ctx, pkg, workDir)
		}
		config := s.configuration(given, filled)
		config.WorkDir = workDir
		return s.opts.Pool.Configured(ctx, pkg, config)
	}
	var lease *instances.Lease
	workDir, said := s.workDir(ctx, pkg, given)
	if !said.HasErrors() {
		lease, said = open(ctx, workDir)
	}
	one.diags = Diagnostics(said, name)
	if one.ok = !said.HasErrors(); !one.ok {
		return
	}
	if workDir == "" && !addr.IsBuiltin() {
		one.router = &router{Provider: lease.Provider, slots: s, open: open}
		one.router.mu.types = map[string]bool{}
	}
	if s.keep(one, lease) {
		_ = lease.Stop(ctx) //nolint:errcheck // as in Stop
	}
}

// workDir returns the directory of the component for a provider that has to work there in any case,
// as its configuration names files, or all that it is asked for does.
func (s *Slots) workDir(ctx context.Context, pkg instances.Package, given engine.ProviderConfig) (string, provider.Diagnostics) {
	if pkg.Address.IsBuiltin() {
		return "", nil
	}
	needed := namesFiles(given.Config, s.opts.Directory.Has)
	if used := s.opts.Used(pkg.Address); !needed && len(used) > 0 {
		found, diags := s.opts.Pool.Schema(ctx, pkg)
		if diags.HasErrors() {
			return "", diags
		}
		needed = onlyFiles(found, used)
	}
	if !needed {
		return "", nil
	}
	dir, err := s.opts.Directory.Make()
	if err != nil {
		return "", notMade(err)
	}
	return dir, nil
}

func notMade(err error) provider.Diagnostics {
	return provider.Errorf("Component directory not made", "The provider may open files of the component, whose directory cannot "+
		"be made: %s.", err)
}

// keep keeps the lease to release, and reports whether the component is being stopped.
func (s *Slots) keep(one *slot, lease *instances.Lease) (stopped bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one.lease = lease
	return s.mu.stopped
}

// keepOwn keeps the process of a router.
func (s *Slots) keepOwn(ctx context.Context, lease *instances.Lease) {
	s.mu.Lock()
	s.mu.own = append(s.mu.own, lease)
	stopped := s.mu.stopped
	s.mu.Unlock()
	if stopped {
		_ = lease.Stop(ctx) //nolint:errcheck // as in Stop
	}
}

// leases returns those of the component. Must be called with the lock held.
func (s *Slots) leases() []*instances.Lease {
	all := slices.Clone(s.mu.own)
	for _, one := range s.mu.slots {
		if one.lease != nil {
			all = append(all, one.lease)
		}
	}
	return all
}

// configuration returns how the provider of a slot is configured: one that was not given anything,
// as with an empty block.
func (s *Slots) configuration(given engine.ProviderConfig, filled bool) instances.Configuration {
	config := instances.Configuration{
		Value: cty.NilVal, TerraformVersion: s.opts.TerraformVersion, DeferralAllowed: true, Phase: s.opts.Phase,
		Dir: s.opts.Directory.Root(),
	}
	if filled {
		config.Value, config.Name = given.Config, given.Instance.String()
	}
	return config
}

// Diagnostics returns the diagnostics of a provider about the configuration in a slot.
func Diagnostics(said provider.Diagnostics, name engine.ProviderSlot) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, one := range said {
		diag := &hcl.Diagnostic{
			Severity: hcl.DiagError, Summary: one.Summary, Detail: one.Detail,
			Extra: &engine.DiagnosticData{Provider: &engine.ProviderArgument{Slot: name, Path: one.Path}},
		}
		if one.Severity == provider.Warning {
			diag.Severity = hcl.DiagWarning
		}
		diags = append(diags, diag)
	}
	return diags
}

// Slot implements resource.Providers.
func (s *Slots) Slot(config tfstate.ProviderConfig) (engine.ProviderSlot, bool) {
	var found []engine.ProviderSlot
	for name, given := range s.opts.Slots {
		if name.Alias == config.Alias && config.IsOf(given.Provider) {
			found = append(found, name)
		}
	}
	if len(found) > 0 {
		return slices.MinFunc(found, compareSlots), true
	}
	if config.IsOf(stackaddrs.BuiltinProvider) {
		return engine.ProviderSlot{LocalName: stackaddrs.BuiltinProvider.Type, Alias: config.Alias}, true
	}
	return engine.ProviderSlot{}, false
}

// Stop asks the providers to end their work for the component soon.
func (s *Slots) Stop(ctx context.Context) {
	s.mu.Lock()
	s.mu.stopped = true
	running := s.leases()
	s.mu.Unlock()
	for _, lease := range running {
		_ = lease.Stop(ctx) //nolint:errcheck // waiting callers see that it has not stopped
	}
}

// Release says that the component is done.
func (s *Slots) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, lease := range s.leases() {
		lease.Release()
	}
}

func compareSlots(a, b engine.ProviderSlot) int {
	return cmp.Or(cmp.Compare(a.LocalName, b.LocalName), cmp.Compare(a.Alias, b.Alias))
}
