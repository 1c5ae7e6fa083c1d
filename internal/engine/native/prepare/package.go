// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package prepare

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/cairnstacks/cairn/internal/engine/installation"
	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/internal/providers/packagecache"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Package is an installed package of a provider.
type Package struct {
	Program string // path
	Hash    string // of its content, as lock files have it; "" for a provider in development
}

// NotInstalledError is the error for a provider that is not installed.
type NotInstalledError struct{ Provider stackaddrs.Provider }

func (e *NotInstalledError) Error() string {
	return fmt.Sprintf("provider %s is not installed. Run cairn init", e.Provider)
}

// DamagedError is the error for an installed package that cannot be used as it is. It wraps the
// reason.
type DamagedError struct{ Err error }

func (e *DamagedError) Error() string {
	return e.Err.Error() + ". \"cairn init\" installs it again"
}

// Unwrap returns the reason.
func (e *DamagedError) Unwrap() error { return e.Err }

// useGiven makes packages those that are used, and no others.
func (p *Preparer) useGiven(packages []engine.ProviderPackage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.given = map[stackaddrs.Provider]engine.ProviderPackage{}
	for _, one := range packages {
		p.mu.given[one.Provider] = one
	}
	clear(p.mu.found)
}

// givenVersions returns the versions of the packages that are used, or nil if the lock file says
// which these are.
func (p *Preparer) givenVersions() map[stackaddrs.Provider]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.given == nil {
		return nil
	}
	versions := make(map[stackaddrs.Provider]string, len(p.mu.given))
	for provider, one := range p.mu.given {
		versions[provider] = one.Version
	}
	return versions
}

// Package returns the package of a provider. Its content is that which is locked. Repeated calls
// for one provider are cheap.
//
// Errors: a [*NotInstalledError]; a [*packagecache.MismatchError], within a [*DamagedError] where
// the package was installed.
func (p *Preparer) Package(ctx context.Context, provider stackaddrs.Provider) (*Package, error) {
	p.mu.Lock()
	found, given := p.mu.found[provider], p.mu.given
	p.mu.Unlock()
	if found != nil {
		return found, nil
	}
	var err error
	if given != nil {
		found, err = p.givenPackage(ctx, given, provider)
	} else {
		found, err = p.lockedPackage(ctx, provider)
	}
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.mu.found[provider] = found
	p.mu.Unlock()
	return found, nil
}

func (p *Preparer) givenPackage(ctx context.Context, given map[stackaddrs.Provider]engine.ProviderPackage, provider stackaddrs.Provider) (*Package, error) {
	one, ok := given[provider]
	if !ok {
		return nil, &NotInstalledError{provider}
	}
	version, err := release.ParseVersion(one.Version)
	if err != nil {
		return nil, fmt.Errorf("package of %s: %w", provider, err)
	}
	lock := locks.Lock{Provider: provider, Version: version}
	for _, hash := range one.Hashes {
		lock.Hashes = append(lock.Hashes, release.Hash(hash))
	}
	dir, err := filepath.Abs(one.Dir)
	if err != nil {
		return nil, fmt.Errorf("package of %s: %w", provider, err)
	}
	found := &packagecache.Package{ID: lock.ID(), Dir: dir}
	hash := p.opts.Hashes.Remembered(ctx, "", []installation.Package{{Dir: dir}})[""]
	return checked(found, &lock, hash)
}

func (p *Preparer) lockedPackage(ctx context.Context, provider stackaddrs.Provider) (*Package, error) {
	config, err := p.config()
	if err != nil {
		return nil, err
	}
	if dir, ok := config.Overrides[provider]; ok {
		program, err := (&packagecache.Package{ID: release.ID{Provider: provider}, Dir: dir}).Executable()
		if err != nil { // it is about a package, with a version
			return nil, fmt.Errorf("provider %s is in development in %s, where there is no program whose name starts with terraform-provider-%s", release.Short(provider), dir, provider.Type)
		}
		return &Package{Program: program}, nil
	}
	locked, err := p.locked()
	if err != nil {
		return nil, err
	}
	lock := locked.Provider(provider)
	if lock == nil {
		return nil, &NotInstalledError{provider}
	}
	found := p.packages().Package(lock.ID())
	if found == nil {
		return nil, &NotInstalledError{provider}
	}
	lock = p.install.Lock(lock)
	one, err := checked(found, lock, p.hashOf(ctx, locked, found))
	if err != nil {
		return nil, &DamagedError{err}
	}
	return one, nil
}

// hashOf returns the hash of an installed package; "" if it cannot be read. Those of all that are
// locked are found out together, and remembered for other programs.
func (p *Preparer) hashOf(ctx context.Context, locked *locks.Locks, found *packagecache.Package) string {
	p.mu.Lock()
	hashes := p.mu.hashes
	p.mu.Unlock()
	if hashes == nil {
		var all []installation.Package
		for _, lock := range locked.All() {
			if one := p.packages().Package(lock.ID()); one != nil {
				all = append(all, installation.Package{Path: p.packages().PackagePath(one.ID), Dir: one.Dir})
			}
		}
		hashes = p.opts.Hashes.Remembered(ctx, p.install.HashesFile(), all)
		p.mu.Lock()
		p.mu.hashes = hashes
		p.mu.Unlock()
	}
	return hashes[p.packages().PackagePath(found.ID)]
}

// checked returns a package whose content has a hash that is locked, if there are any.
func checked(found *packagecache.Package, lock *locks.Lock, hash string) (*Package, error) {
	if hash == "" {
		return nil, &packagecache.MismatchError{ID: found.ID, Problem: fmt.Sprintf("has a package in %s that cannot be read", found.Dir)}
	}
	if len(lock.Hashes) > 0 && !slices.Contains(lock.Hashes, release.Hash(hash)) {
		problem := fmt.Sprintf("has a package in %s with the hash %s, which is none of those that are locked", found.Dir, hash)
		return nil, &packagecache.MismatchError{ID: found.ID, Problem: problem}
	}
	program, err := found.Executable()
	return &Package{Program: program, Hash: hash}, err
}
