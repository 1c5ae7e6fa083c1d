// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/install"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/operation/notice"
	"github.com/cairnstacks/cairn/internal/operation/requirements"
	"github.com/cairnstacks/cairn/internal/providers/selection"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// LockProviders completes the lock file of the stack with the checksums of packages for several
// platforms, as they are published, whatever the CLI configuration says of installing them. The
// packages are returned by provider and platform.
func (s *Stack) LockProviders(ctx context.Context, req requirements.LockRequest) ([]requirements.Package, hcl.Diagnostics) {
	return s.requirements().Lock(ctx, req)
}

// MirrorProviders fetches the packages of the stack's providers from their registries into a
// directory that they can be installed from. They are returned by provider and platform.
func (s *Stack) MirrorProviders(ctx context.Context, req requirements.MirrorRequest) ([]requirements.Package, hcl.Diagnostics) {
	return s.requirements().Mirror(ctx, req)
}

// ProviderTree returns the tree of provider requirements. It installs nothing, and asks no
// provider.
func (s *Stack) ProviderTree(ctx context.Context) (*requirements.Tree, hcl.Diagnostics) {
	return s.requirements().Tree(ctx)
}

// KnownProviders returns the providers of which a version is locked, or packages are on the disk.
// It starts no process, and asks nobody.
func (s *Stack) KnownProviders(ctx context.Context) []requirements.Known {
	at := s.requirements()
	at.Reader = func(context.Context) engine.Info { return s.LastEngine() }
	return at.Known(ctx)
}

// DescribeProvider returns the schema of a provider that is at hand, by its program if need be; see
// [requirements.Stack.Describe].
func (s *Stack) DescribeProvider(ctx context.Context, provider stackaddrs.Provider, constraints []string) (*engines.Kept, error) {
	at := s.requirements()
	at.Reader = func(context.Context) engine.Info { return s.LastEngine() }
	found, err := at.Describe(ctx, provider, constraints)
	if err != nil {
		return nil, err
	}
	return engines.KeptOf(found), nil
}

// ProviderSchemas returns the schemas of the providers of the stack, as "terraform providers schema
// -json" writes them for a module. It installs missing ones. Schemas come from the providers
// themselves: neither terraform nor tofu is needed, and only for a stack that uses tofu is that one
// asked to install.
func (s *Stack) ProviderSchemas(ctx context.Context) ([]byte, hcl.Diagnostics) {
	config, diags := s.config()
	if diags.HasErrors() {
		return nil, diags
	}
	opened, closing, err := s.openInstaller(ctx)
	if err != nil {
		return nil, diags.Extend(Diagnostics(err))
	}
	defer closing()
	_, moreDiags := s.prepareWith(ctx, opened, config, installing{})
	diags = diags.Extend(moreDiags)
	if diags.HasErrors() {
		return nil, diags
	}
	encoded, moreDiags := s.requirements().Schemas(ctx)
	return encoded, diags.Extend(moreDiags)
}

// openInstaller returns a session that installs providers: that of the engine, unless the engine
// would be terraform, in whose place the native one does the same. The caller calls closing.
func (s *Stack) openInstaller(ctx context.Context) (_ engine.Session, closing func(), err error) {
	closing = func() {}
	if s.session != nil || s.opts.ModulesEngine != nil || s.engines.Kind() != "" || s.engines.Reader(ctx).Name == toolchain.Tofu {
		opened, err := s.openSession(ctx)
		return opened, closing, err
	}
	found, err := s.engines.OpenNative()
	if err != nil {
		return nil, nil, err
	}
	opened, err := found.Open(ctx, engine.SessionOptions{StackDir: s.dir})
	if err != nil {
		return nil, nil, engines.Unusable(err)
	}
	return opened, func() { _ = opened.Close() }, nil //nolint:errcheck // it has started nothing
}

// requirements are the providers that the stack and its modules require.
func (s *Stack) requirements() *requirements.Stack {
	return &requirements.Stack{
		Dir: absolute(s.dir), WorkDir: absolute(s.work), LockFile: s.join(LockFile), Environ: s.environ,
		Config: s.config, Reader: s.engines.Reader, Modules: s.engines.Sources, Files: s.opts.Files,
		Exclusive: s.lockInstallation, Observe: s.observeProviders(), Hashes: &s.opts.Shared.engines.Native.Hashes, SchemaDir: engines.SchemaDir(),
	}
}

// lockInstallation keeps other programs from changing the lock file at the same time.
func (s *Stack) lockInstallation(ctx context.Context) (unlock func(), err error) {
	if err := s.prepareWorkDir(); err != nil {
		return nil, err
	}
	unlock, err = install.In(s.work).Exclusive(ctx)
	if err != nil {
		return nil, failure.Error("Unusable working directory", "%s.", failure.Capitalize(failure.Reason(err)))
	}
	return unlock, nil
}

// observeProviders passes on the progress of fetching packages.
func (s *Stack) observeProviders() selection.Observer {
	return selection.OneAtATime(func(event selection.Event) { s.opts.Notify.Send(notice.ProviderFetch(event)) })
}
