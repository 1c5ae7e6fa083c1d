// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package requirements

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/apparentlymart/go-versions/versions"

	"github.com/cairnstacks/cairn/internal/engine/toolchain/cliconfig"
	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/install"
	"github.com/cairnstacks/cairn/internal/operation/workdir"
	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/providers/source"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Known is a provider that is at hand: a version of it is locked, or there are packages of it on
// the disk.
type Known struct {
	Provider stackaddrs.Provider // as stacks write it
	Versions []versions.Version  // the newest first, and none twice
	Locked   versions.Version    // one of them; [versions.Unspecified] if none is locked
}

// Known returns the providers that are at hand, sorted by address. Nobody is asked, and an
// unreadable place has none.
func (s *Stack) Known(ctx context.Context) []Known {
	written := stackAddress(s.engines.Last())
	all := map[stackaddrs.Provider]*Known{}
	add := func(provider stackaddrs.Provider, found ...versions.Version) *Known {
		address := written(provider)
		if all[address] == nil {
			all[address] = &Known{Provider: address, Locked: versions.Unspecified}
		}
		all[address].Versions = append(all[address].Versions, found...)
		return all[address]
	}
	if locked, diags := locks.Read(s.lockFile()); !diags.HasErrors() {
		for _, lock := range locked.All() {
			add(lock.Provider, lock.Version).Locked = lock.Version
		}
	}
	for _, place := range s.places() {
		for _, provider := range place.Providers() {
			if available, err := place.Versions(ctx, provider); err == nil {
				add(provider, available.Versions...)
			}
		}
	}
	var sorted []Known
	for _, one := range all {
		slices.SortFunc(one.Versions, func(a, b versions.Version) int { return release.CompareVersions(b, a) })
		one.Versions = slices.CompactFunc(one.Versions, versions.Version.Same)
		sorted = append(sorted, *one)
	}
	slices.SortFunc(sorted, func(a, b Known) int { return release.CompareProviders(a.Provider, b.Provider) })
	return sorted
}

// place is a directory of packages.
type place struct {
	source.Directory
	method *cliconfig.Method // that names it; nil for one that has packages which were installed

	chosen bool // by the user: it did not come with a checkout
}

// places are the directories that have packages of providers, or could: where those of the stack
// are installed, the cache for all configurations, and mirrors.
func (s *Stack) places() []place {
	own := environ.Get(s.env.Environ, workdir.Variable) != "" || workdir.IsOwn(s.workDir())
	all := []place{{Directory: source.Directory{Path: install.In(s.workDir()).Providers}, chosen: own}}
	config, err := cliconfig.ReadInstallation(s.env.Environ, s.dir(), s.engines.Last().Name)
	if err != nil {
		return all
	}
	if config.CacheDir != "" {
		all = append(all, place{Directory: source.Directory{Path: config.CacheDir}, chosen: s.isElsewhere(config.CacheDir)})
	}
	for i := range config.Methods {
		if method := &config.Methods[i]; method.Directory != "" {
			all = append(all, place{source.Directory{Path: method.Directory}, method, s.isElsewhere(method.Directory)})
		}
	}
	return all
}

// isElsewhere reports whether a directory is not one of the stack, as terraform.d/plugins is.
func (s *Stack) isElsewhere(dir string) bool {
	relative, err := filepath.Rel(s.dir(), dir)
	return err == nil && !filepath.IsLocal(relative)
}

// Providers are those that may come from there.
func (p place) Providers() []stackaddrs.Provider {
	return slices.DeleteFunc(p.Directory.Providers(), func(provider stackaddrs.Provider) bool { return !p.allows(provider) })
}

// allows reports whether a provider may come from there.
func (p place) allows(provider stackaddrs.Provider) bool {
	return p.method == nil || p.method.Allows(provider)
}
