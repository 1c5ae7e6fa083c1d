// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package requirements

import (
	"context"
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/toolchain/cliconfig"
	"github.com/cairnstacks/cairn/internal/enginelog"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/install"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/providers/instances"
	"github.com/cairnstacks/cairn/internal/providers/packagecache"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/internal/providers/schema/schemajson"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// Schemas returns the schemas of the providers of the stack, which are installed, as "terraform
// providers schema -json" writes them for a module. They come from the providers themselves.
func (s *Stack) Schemas(ctx context.Context) ([]byte, hcl.Diagnostics) {
	described, diags := s.describeAll(ctx)
	if diags.HasErrors() {
		return nil, diags
	}
	schemas := make(map[string]*schema.Provider, len(described))
	for provider, found := range described {
		if provider.IsBuiltin() { // whose configuration has not even an empty block for terraform
			copied := *found
			copied.Config, found = nil, &copied
		}
		schemas[provider.String()] = found
	}
	encoded, err := schemajson.Encode(schemas)
	return encoded, diags.Extend(failure.Diagnostics(err))
}

// Described returns the schemas of the providers of the stack, which are installed, by the
// addresses that the stack and its modules have for them.
func (s *Stack) Described(ctx context.Context) (map[stackaddrs.Provider]*schema.Provider, hcl.Diagnostics) {
	described, diags := s.describeAll(ctx)
	address := stackAddress(s.engines.Reader(ctx))
	all := make(map[stackaddrs.Provider]*schema.Provider, len(described))
	for provider, found := range described {
		all[address(provider)] = found
	}
	return all, diags
}

// describeAll returns the schemas by the addresses that the engine has for the providers.
func (s *Stack) describeAll(ctx context.Context) (map[stackaddrs.Provider]*schema.Provider, hcl.Diagnostics) {
	packages, err := s.schemaPackages(ctx)
	if err != nil {
		return nil, failure.Diagnostics(err)
	}
	return s.askSchemas(ctx, packages)
}

// schemaPackages returns the packages of all providers that the stack and its modules require.
func (s *Stack) schemaPackages(ctx context.Context) ([]instances.Package, error) {
	config, err := cliconfig.ReadInstallation(s.env.Environ, s.dir(), s.engines.Reader(ctx).Name)
	if err != nil {
		return nil, failure.Error("Unusable CLI configuration", "%s.", failure.Capitalize(failure.Reason(err)))
	}
	required, diags := s.required(ctx)
	if diags.HasErrors() {
		return nil, diags
	}
	locked, err := s.readLocks()
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
			if allowed := install.In(s.workDir()).Lock(lock).Hashes; found.Dir != "" && len(allowed) > 0 &&
				!slices.Contains(allowed, release.Hash(one.Hash)) {
				return nil, hcl.Diagnostics{failure.With(fault.ProviderDamaged, failure.New("Damaged provider package",
					"The package of %s in %s has none of the checksums that are locked.", lock.ID(), found.Dir))}
			}
		}
		if found.Dir == "" { // somebody else has started it
			packages = append(packages, one)
			continue
		}
		if one.Program, err = found.Executable(); err != nil {
			return nil, failure.Error("Provider not installed", "%s.", failure.Capitalize(failure.Reason(err)))
		}
		packages = append(packages, one)
	}
	return packages, nil
}

// packageHash finds the installed package of a release, and returns the hash by which its schema is
// kept.
func (s *Stack) packageHash(ctx context.Context, id release.ID, found *packagecache.Package) string {
	dir := packagecache.Dir{Path: install.In(s.workDir()).Providers, Platform: release.CurrentPlatform}
	installed := dir.Package(id)
	if installed == nil {
		return ""
	}
	*found = *installed
	path := dir.PackagePath(id)
	return s.shared.Native.Hashes.Remembered(ctx, "", []install.Package{{Path: path, Dir: installed.Dir}})[path]
}

// askSchemas asks providers for their schemas.
func (s *Stack) askSchemas(ctx context.Context, packages []instances.Package) (
	schemas map[stackaddrs.Provider]*schema.Provider, diags hcl.Diagnostics,
) {
	log, err := enginelog.Open(s.env.Environ, s.workDir())
	if err != nil {
		return nil, failure.Diagnostics(engines.Unusable(err))
	}
	defer func() { _ = log.Close() }() //nolint:errcheck // each entry was written when it was made
	pool, err := instances.New(instances.Options{Environ: s.env.Environ, SchemaDir: engines.SchemaDir(), Log: log})
	if err != nil {
		return nil, failure.Diagnostics(failure.Error("Unusable environment", "%s.", failure.Capitalize(err.Error())))
	}
	defer func() {
		if err := pool.Close(); err != nil {
			diags = diags.Extend(failure.Diagnostics(fmt.Errorf("ending providers: %w", err)))
		}
	}()
	schemas = map[stackaddrs.Provider]*schema.Provider{}
	for _, one := range packages {
		switch {
		case pool.Unmanaged(one.Address):
			one = instances.Package{Address: one.Address}
		case one.Program == "" && !one.Address.IsBuiltin():
			continue
		}
		found, said := pool.Schema(ctx, one)
		if said.HasErrors() {
			for _, problem := range said {
				diags = diags.Append(failure.New(problem.Summary, "%s", problem.Detail))
			}
			continue
		}
		schemas[one.Address] = found
	}
	if ctx.Err() != nil {
		return nil, failure.Diagnostics(context.Cause(ctx))
	}
	return schemas, diags
}
