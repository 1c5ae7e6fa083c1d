// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package requirements

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/cairnstacks/cairn/internal/engine/toolchain/cliconfig"
	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/providers/instances"
	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/internal/providers/packagecache"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/internal/providers/selection"
	"github.com/cairnstacks/cairn/internal/providers/source"
	"github.com/cairnstacks/cairn/internal/tempdir"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Describe returns the schemas of a provider that is at hand: the cached ones, or else those of its
// program, which is started for that. Nothing is fetched, and no program runs that a checkout may
// have brought: the package is one that has a locked checksum, or the newest that fits where none
// is locked, among those that this user's cairn has installed, those of the plugin cache, or of a
// mirror that the user has chosen.
//
// Errors: also that there is no such package.
func (s *Stack) Describe(ctx context.Context, provider stackaddrs.Provider, constraints []string) (_ *engines.Kept, err error) {
	address := engineAddress(s.engines.Last())(provider)
	var sources source.Several
	for _, place := range s.places() {
		if place.chosen && place.allows(address) {
			sources = append(sources, place.Directory)
		}
	}
	choice := selection.Choice{Provider: address, Constraints: constraints, Source: sources}
	if locked, diags := locks.Read(s.lockFile()); !diags.HasErrors() {
		choice.Before = locked.Provider(address)
	}
	lock, err := selection.Choose(ctx, choice)
	if err != nil {
		return nil, err
	}
	found, err := sources.Package(ctx, lock.ID(), release.CurrentPlatform)
	if err != nil {
		return nil, err
	}
	dir, err := packages.Make()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, dir.Remove()) }()
	target := filepath.Join(dir.Path, "package")
	hash, err := found.Fetch(ctx, target, source.FetchOptions{Allowed: lock.Hashes})
	if err != nil {
		return nil, err
	}
	program, err := (&packagecache.Package{ID: lock.ID(), Dir: target}).Executable()
	if err != nil {
		return nil, err
	}
	described, err := s.describe(ctx, instances.Package{Address: address, Program: program, Hash: string(hash)},
		filepath.Join(dir.Path, "empty"))
	if err != nil {
		return nil, err
	}
	return engines.KeptOf(described), nil
}

// packages are directories of packages that run for a moment.
var packages = tempdir.Kind{Prefix: "cairn-provider-"}

func (s *Stack) describe(ctx context.Context, pkg instances.Package, emptyDir string) (_ *schema.Provider, err error) {
	pool, err := instances.New(instances.Options{
		Environ:   cliconfig.AbsolutePaths(environ.WithoutOwn(s.env.Environ), s.dir()),
		SchemaDir: engines.SchemaDir(), EmptyDir: emptyDir,
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	found, said := pool.Schema(ctx, pkg)
	return found, said.Err()
}
