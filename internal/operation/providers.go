// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"
	"errors"
	"os"

	"github.com/hashicorp/hcl/v2"
	tfaddr "github.com/hashicorp/terraform-registry-address"

	"github.com/cairnstacks/cairn/internal/engine/installation"
	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/notice"
	"github.com/cairnstacks/cairn/internal/providers/checksums"
	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/internal/providers/mirrordir"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/providers/selection"
	"github.com/cairnstacks/cairn/internal/providers/source"
	"github.com/cairnstacks/cairn/internal/registry"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// LockProvidersRequest says for which packages checksums are locked.
type LockProvidersRequest struct {
	Platforms []string // such as linux_amd64; that of this program if there are none
	Providers []string // source addresses; all that the stack requires if there are none

	// Directory is the path of a mirror, Network the address of one, which is asked in place of the registries. At most one of them is given.
	Directory, Network string
}

// MirrorProvidersRequest says which packages are mirrored, and where.
type MirrorProvidersRequest struct {
	Dir        string   // made when needed
	Platforms  []string // such as linux_amd64; that of this program if there are none
	IgnoreLock bool     // take the newest versions that are allowed, whatever is locked
}

// ProviderPackage is the package of a provider for a platform.
type ProviderPackage struct {
	Provider          stackaddrs.Provider
	Version, Platform string

	New, Added bool   // after locking: nothing was locked for the provider before; checksums were added
	File       string // after mirroring: its path in the mirror, with slashes
}

// LockProviders completes the lock file of the stack with the checksums of packages for several platforms, as they are published, whatever the CLI configuration says of installing them.
// The packages are returned by provider and platform.
func (s *Stack) LockProviders(ctx context.Context, req LockProvidersRequest) ([]ProviderPackage, hcl.Diagnostics) {
	sources, err := s.publishers(req.Directory, req.Network)
	if err != nil {
		return nil, Diagnostics(err)
	}
	required, diags := s.requiredProviders(ctx)
	if diags.HasErrors() {
		return nil, diags
	}
	platforms, err := parsePlatforms(req.Platforms)
	if err == nil {
		err = required.restrict(req.Providers)
	}
	if err != nil {
		return nil, diags.Extend(Diagnostics(err))
	}
	unlock, err := s.lockInstallation(ctx)
	if err != nil {
		return nil, diags.Extend(Diagnostics(err))
	}
	defer unlock()
	before, err := s.readProviderLocks()
	if err != nil {
		return nil, diags.Extend(Diagnostics(err))
	}
	request := &checksums.Request{
		Requirements: required.constraints, Locks: before, Platforms: platforms, Sources: sources, Observe: s.observeProviders(),
	}
	locked, found, err := request.Lock(ctx)
	if err != nil {
		return nil, diags.Extend(required.diagnostics("Provider checksums not locked", err))
	}
	if after := locks.Format(locked); string(after) != string(locks.Format(before)) {
		if err := installation.WriteLock(s.join(LockFile), after); err != nil {
			return nil, diags.Append(failure.New("Unwritable provider lock file", "%s.", failure.Capitalize(failure.Reason(err))))
		}
	}
	var packages []ProviderPackage
	for _, one := range found {
		packages = append(packages, ProviderPackage{Provider: one.Provider, Version: one.Version.String(), Platform: one.Platform.String(), New: one.New, Added: one.Added})
	}
	return packages, diags
}

// MirrorProviders fetches the packages of the stack's providers from their registries into a directory that they can be installed from. They are returned by provider and platform.
func (s *Stack) MirrorProviders(ctx context.Context, req MirrorProvidersRequest) ([]ProviderPackage, hcl.Diagnostics) {
	required, diags := s.requiredProviders(ctx)
	if diags.HasErrors() {
		return nil, diags
	}
	platforms, err := parsePlatforms(req.Platforms)
	if err != nil {
		return nil, diags.Extend(Diagnostics(err))
	}
	sources, err := s.publishers("", "")
	if err != nil {
		return nil, diags.Extend(Diagnostics(err))
	}
	request := &mirrordir.Request{Requirements: required.constraints, Platforms: platforms, Sources: sources, Dir: req.Dir, Observe: s.observeProviders()}
	if _, err := os.Stat(s.join(LockFile)); err == nil && !req.IgnoreLock {
		if request.Locks, err = s.readProviderLocks(); err != nil {
			return nil, diags.Extend(Diagnostics(err))
		}
	}
	mirrored, err := request.Write(ctx)
	if err != nil {
		diags = diags.Extend(required.diagnostics("Provider not mirrored", err))
	}
	var packages []ProviderPackage
	for _, one := range mirrored {
		packages = append(packages, ProviderPackage{Provider: one.Provider, Version: one.Version.String(), Platform: one.Platform.String(), File: one.File})
	}
	return packages, diags
}

// publishers returns where packages are published: a mirror if one is given, else the registries.
func (s *Stack) publishers(directory, network string) (func(stackaddrs.Provider) source.Source, error) {
	client := registry.New(registry.NewHTTPClient(), s.environ)
	var one source.Source = source.Registry{Client: client}
	switch {
	case directory != "" && network != "":
		return nil, failure.Error("Conflicting mirrors", "Packages come from one mirror: name a directory, or an address.")
	case directory != "":
		one = source.Directory{Path: directory}
	case network != "":
		mirror, err := source.NewNetwork(client, network)
		if err != nil {
			return nil, failure.Error("Invalid mirror", "%s.", failure.Capitalize(err.Error()))
		}
		one = mirror
	}
	return func(stackaddrs.Provider) source.Source { return one }, nil
}

func parsePlatforms(texts []string) ([]release.Platform, error) {
	var platforms []release.Platform
	for _, text := range texts {
		platform, err := release.ParsePlatform(text)
		if err != nil {
			return nil, failure.Error("Invalid platform", "%s.", failure.Capitalize(err.Error()))
		}
		platforms = append(platforms, platform)
	}
	if len(platforms) == 0 {
		return []release.Platform{release.CurrentPlatform}, nil
	}
	return platforms, nil
}

// requiredProviders are those that a stack and its modules require, without what is built in, by their addresses for the engine.
type requiredProviders struct {
	constraints map[stackaddrs.Provider][]string
	ranges      map[stackaddrs.Provider]hcl.Range // where the stack requires them
	builtin     bool                              // modules require the one that is part of the engine
	address     func(stackaddrs.Provider) stackaddrs.Provider
}

// requiredProviders reads the configuration and its modules, which starts no process but one that identifies the engine.
func (s *Stack) requiredProviders(ctx context.Context) (*requiredProviders, hcl.Diagnostics) {
	config, diags := s.config()
	if diags.HasErrors() {
		return nil, diags
	}
	required := &requiredProviders{
		constraints: map[stackaddrs.Provider][]string{}, ranges: map[stackaddrs.Provider]hcl.Range{}, address: s.engineAddress(ctx),
	}
	add := func(all map[stackaddrs.Provider][]string) {
		for provider, constraints := range all {
			if provider.IsBuiltin() {
				continue
			}
			address := required.address(provider)
			required.constraints[address] = append(required.constraints[address], constraints...)
		}
	}
	add(config.Requirements())
	for provider, at := range config.RequirementRanges() {
		required.ranges[required.address(provider)] = at
	}
	modules, moreDiags := s.moduleRequirements(ctx, config)
	for _, one := range modules {
		_, builtin := one[stackaddrs.BuiltinProvider]
		required.builtin = required.builtin || builtin
		add(one)
	}
	return required, diags.Extend(moreDiags)
}

// moduleRequirements returns what each module of a component requires.
func (s *Stack) moduleRequirements(ctx context.Context, config *stackconfig.Config) (all []map[stackaddrs.Provider][]string, diags hcl.Diagnostics) {
	session := s.openSources(config.Resolver)
	for _, dir := range config.ModuleDirs() {
		module, moreDiags := session.Module(ctx, dir)
		diags = diags.Extend(moreDiags)
		if module != nil {
			all = append(all, module.Requirements)
		}
	}
	return all, diags
}

// engineAddress returns what the address of a provider is in the lock file: tofu finds those without a host in a registry of its own.
func (s *Stack) engineAddress(ctx context.Context) func(stackaddrs.Provider) stackaddrs.Provider {
	isTofu := s.moduleReader(ctx).Name == toolchain.Tofu
	return func(provider stackaddrs.Provider) stackaddrs.Provider {
		if isTofu && provider.Hostname == string(tfaddr.DefaultProviderRegistryHost) {
			provider.Hostname = toolchain.TofuRegistry
		}
		return provider
	}
}

// restrict leaves the providers that are named, if any are.
func (r *requiredProviders) restrict(names []string) error {
	if len(names) == 0 {
		return nil
	}
	named := map[stackaddrs.Provider][]string{}
	for _, name := range names {
		provider, err := release.ParseProvider(name)
		if err != nil {
			return failure.Error("Invalid provider address", "%s.", failure.Capitalize(err.Error()))
		}
		provider = r.address(provider)
		constraints, ok := r.constraints[provider]
		if !ok {
			return failure.Error("Provider not required", "Neither the stack nor its modules require provider %s. Name one that is required, or none for all of them.", provider)
		}
		named[provider] = constraints
	}
	r.constraints = named
	return nil
}

// diagnostics returns the errors about providers, each where the stack requires it.
func (r *requiredProviders) diagnostics(summary string, err error) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, one := range selection.Errors(err) {
		diag := failure.New(summary, "%s.", failure.Capitalize(failure.Reason(one)))
		if about, ok := errors.AsType[*selection.Error](one); ok {
			if at, known := r.ranges[about.Provider]; known {
				diag.Subject = &at
			}
		}
		diags = diags.Append(diag)
	}
	return diags
}

// lockInstallation keeps other programs from changing the lock file at the same time.
func (s *Stack) lockInstallation(ctx context.Context) (unlock func(), err error) {
	if err := s.prepareWorkDir(); err != nil {
		return nil, err
	}
	unlock, err = installation.In(s.work).Exclusive(ctx)
	if err != nil {
		return nil, failure.Error("Unusable working directory", "%s.", failure.Capitalize(failure.Reason(err)))
	}
	return unlock, nil
}

// readProviderLocks returns what is in the lock file of the stack; nothing if there is none.
func (s *Stack) readProviderLocks() (*locks.Locks, error) {
	text, err := os.ReadFile(s.join(LockFile))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, failure.Error("Unreadable provider lock file", "%s.", failure.Capitalize(failure.Reason(err)))
	}
	s.opts.Files[LockFile] = &hcl.File{Bytes: text}
	read, diags := locks.Parse(text, LockFile)
	if diags.HasErrors() {
		return nil, diags
	}
	return read, nil
}

// observeProviders passes on what is fetched.
func (s *Stack) observeProviders() selection.Observer {
	return selection.OneAtATime(func(event selection.Event) { s.opts.Notify.Send(notice.ProviderFetch(event)) })
}
