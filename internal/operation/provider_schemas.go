// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/installation"
	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/engine/toolchain/cliconfig"
	"github.com/cairnstacks/cairn/internal/enginelog"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/providers/instances"
	"github.com/cairnstacks/cairn/internal/providers/packagecache"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/internal/providers/schema/schemajson"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// ProviderSchemas returns the schemas of the providers of the stack, as "terraform providers schema -json" writes them for a module. It installs what is missing. Schemas come from the providers
// themselves: neither terraform nor tofu is needed, and only for a stack that uses tofu is that one asked to install.
func (s *Stack) ProviderSchemas(ctx context.Context) (_ []byte, diags hcl.Diagnostics) {
	config, diags := s.config()
	if diags.HasErrors() {
		return nil, diags
	}
	opened, closing, err := s.openInstaller(ctx)
	if err != nil {
		return nil, diags.Extend(Diagnostics(err))
	}
	defer closing()
	_, moreDiags := s.prepareWith(ctx, opened, config, false)
	diags = diags.Extend(moreDiags)
	if diags.HasErrors() {
		return nil, diags
	}
	packages, err := s.schemaPackages(ctx)
	if err != nil {
		return nil, diags.Extend(Diagnostics(err))
	}
	encoded, moreDiags := s.askSchemas(ctx, packages)
	return encoded, diags.Extend(moreDiags)
}

// openInstaller returns a session that installs providers: that of the engine, unless the engine would be terraform, in whose place the native one does the same. The caller calls closing.
func (s *Stack) openInstaller(ctx context.Context) (_ engine.Session, closing func(), err error) {
	closing = func() {}
	if s.session != nil || s.opts.ModulesEngine != nil || s.engineKind() != "" || s.moduleReader(ctx).Name == toolchain.Tofu {
		opened, err := s.openSession(ctx)
		return opened, closing, err
	}
	found, err := s.openNative()
	if err != nil {
		return nil, nil, err
	}
	opened, err := found.Open(ctx, engine.SessionOptions{StackDir: s.dir})
	if err != nil {
		return nil, nil, EngineError(err)
	}
	return opened, func() { _ = opened.Close() }, nil //nolint:errcheck // it has started nothing
}

// schemaPackages returns the packages of all providers that the stack and its modules require.
func (s *Stack) schemaPackages(ctx context.Context) ([]instances.Package, error) {
	config, err := cliconfig.ReadInstallation(s.environ, absolute(s.dir))
	if err != nil {
		return nil, failure.Error("Unusable CLI configuration", "%s.", failure.Capitalize(failure.Reason(err)))
	}
	required, diags := s.requiredProviders(ctx)
	if diags.HasErrors() {
		return nil, diags
	}
	locked, err := s.readProviderLocks()
	if err != nil {
		return nil, err
	}
	var packages []instances.Package
	if required.builtin {
		packages = append(packages, instances.Package{Address: stackaddrs.BuiltinProvider})
	}
	for provider := range required.constraints {
		found := &packagecache.Package{ID: release.ID{Provider: provider}, Dir: config.Overrides[provider]}
		one := instances.Package{Address: provider}
		if lock := locked.Provider(provider); lock != nil && found.Dir == "" {
			one.Hash = s.packageHash(ctx, lock.ID(), found)
		}
		if found.Dir == "" {
			continue // it is attached to
		}
		if one.Program, err = found.Executable(); err != nil {
			return nil, failure.Error("Provider not installed", "%s.", failure.Capitalize(failure.Reason(err)))
		}
		packages = append(packages, one)
	}
	return packages, nil
}

// packageHash finds the installed package of a release, and returns the hash by which its schema is kept.
func (s *Stack) packageHash(ctx context.Context, id release.ID, found *packagecache.Package) string {
	install := installation.In(absolute(s.work))
	dir := packagecache.Dir{Path: install.Providers(), Platform: release.CurrentPlatform}
	installed := dir.Package(id)
	if installed == nil {
		return ""
	}
	*found = *installed
	path := dir.PackagePath(id)
	return s.opts.Shared.native.Hashes.Remembered(ctx, "", []installation.Package{{Path: path, Dir: installed.Dir}})[path]
}

// askSchemas asks providers for their schemas.
func (s *Stack) askSchemas(ctx context.Context, packages []instances.Package) (encoded []byte, diags hcl.Diagnostics) {
	log, err := enginelog.Open(s.environ, s.work)
	if err != nil {
		return nil, Diagnostics(EngineError(err))
	}
	defer func() { _ = log.Close() }() //nolint:errcheck // each entry was written when it was made
	pool, err := instances.New(instances.Options{Environ: s.environ, SchemaDir: SchemaDir(), Log: log})
	if err != nil {
		return nil, Diagnostics(failure.Error("Unusable environment", "%s.", failure.Capitalize(err.Error())))
	}
	defer func() {
		if err := pool.Close(); err != nil {
			diags = diags.Extend(Diagnostics(fmt.Errorf("ending providers: %w", err)))
		}
	}()
	schemas := map[string]*schema.Provider{}
	for _, one := range packages {
		found, said := pool.Schema(ctx, one)
		if said.HasErrors() {
			for _, problem := range said {
				diags = diags.Append(failure.New(problem.Summary, "%s", problem.Detail))
			}
			continue
		}
		if one.Address.IsBuiltin() { // whose configuration has not even an empty block for terraform
			copied := *found
			copied.Config, found = nil, &copied
		}
		schemas[one.Address.String()] = found
	}
	if ctx.Err() != nil {
		return nil, Diagnostics(context.Cause(ctx))
	}
	if diags.HasErrors() {
		return nil, diags
	}
	encoded, err = schemajson.Encode(schemas)
	return encoded, diags.Extend(Diagnostics(err))
}
