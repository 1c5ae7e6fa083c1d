// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package install

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/internal/providers/packagecache"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Program is the program of a provider.
type Program struct {
	Path string
	Hash string // of the content of its package, as lock files have it; "" for a provider in development
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
func (i *Installer) useGiven(packages []engine.ProviderPackage) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.mu.given = map[stackaddrs.Provider]engine.ProviderPackage{}
	for _, one := range packages {
		i.mu.given[one.Provider] = one
	}
	clear(i.mu.found)
}

// givenVersions returns the versions of the packages that are used, or nil if the lock file says
// which these are.
func (i *Installer) givenVersions() map[stackaddrs.Provider]string {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.mu.given == nil {
		return nil
	}
	versions := make(map[stackaddrs.Provider]string, len(i.mu.given))
	for provider, one := range i.mu.given {
		versions[provider] = one.Version
	}
	return versions
}

// Program returns the program of a provider. The content of its package is that which is locked.
// Repeated calls for one provider are cheap.
//
// Errors: a [*NotInstalledError]; a [*packagecache.MismatchError], within a [*DamagedError] where
// the package was installed.
func (i *Installer) Program(ctx context.Context, provider stackaddrs.Provider) (*Program, error) {
	i.mu.Lock()
	found, given := i.mu.found[provider], i.mu.given
	i.mu.Unlock()
	if found != nil {
		return found, nil
	}
	var err error
	if given != nil {
		found, err = i.givenPackage(ctx, given, provider)
	} else {
		found, err = i.lockedPackage(ctx, provider)
	}
	if err != nil {
		return nil, err
	}
	i.mu.Lock()
	i.mu.found[provider] = found
	i.mu.Unlock()
	return found, nil
}

func (i *Installer) givenPackage(ctx context.Context, given map[stackaddrs.Provider]engine.ProviderPackage, provider stackaddrs.Provider) (*Program, error) {
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
	hash := i.opts.Hashes.Remembered(ctx, "", []Package{{Dir: dir}})[""]
	return checked(found, &lock, hash)
}

func (i *Installer) lockedPackage(ctx context.Context, provider stackaddrs.Provider) (*Program, error) {
	config, err := i.config()
	if err != nil {
		return nil, err
	}
	if dir, ok := config.Overrides[provider]; ok {
		program, err := (&packagecache.Package{ID: release.ID{Provider: provider}, Dir: dir}).Executable()
		if err != nil { // it is about a package, with a version
			return nil, fmt.Errorf("provider %s is in development in %s, where there is no program whose name starts with terraform-provider-%s", release.Short(provider), dir, provider.Type)
		}
		return &Program{Path: program}, nil
	}
	locked, err := i.locked()
	if err != nil {
		return nil, err
	}
	lock := locked.Provider(provider)
	if lock == nil {
		return nil, &NotInstalledError{provider}
	}
	found := i.packages().Package(lock.ID())
	if found == nil {
		return nil, &NotInstalledError{provider}
	}
	lock = i.dir.Lock(lock)
	one, err := checked(found, lock, i.hashOf(ctx, locked, found))
	if err != nil {
		return nil, &DamagedError{err}
	}
	return one, nil
}

// hashOf returns the hash of an installed package; "" if it cannot be read. Those of all that are
// locked are found out together, and remembered for other programs.
func (i *Installer) hashOf(ctx context.Context, locked *locks.Locks, found *packagecache.Package) string {
	i.mu.Lock()
	hashes := i.mu.hashes
	i.mu.Unlock()
	if hashes == nil {
		var all []Package
		for _, lock := range locked.All() {
			if one := i.packages().Package(lock.ID()); one != nil {
				all = append(all, Package{Path: i.packages().PackagePath(one.ID), Dir: one.Dir})
			}
		}
		hashes = i.opts.Hashes.Remembered(ctx, i.dir.HashesFile(), all)
		i.mu.Lock()
		i.mu.hashes = hashes
		i.mu.Unlock()
	}
	return hashes[i.packages().PackagePath(found.ID)]
}

// checked returns a package whose content has a hash that is locked, if there are any.
func checked(found *packagecache.Package, lock *locks.Lock, hash string) (*Program, error) {
	if hash == "" {
		return nil, &packagecache.MismatchError{ID: found.ID, Problem: fmt.Sprintf("has a package in %s that cannot be read", found.Dir)}
	}
	if len(lock.Hashes) > 0 && !slices.Contains(lock.Hashes, release.Hash(hash)) {
		problem := fmt.Sprintf("has a package in %s with the hash %s, which is none of those that are locked", found.Dir, hash)
		return nil, &packagecache.MismatchError{ID: found.ID, Problem: problem}
	}
	program, err := found.Executable()
	return &Program{Path: program, Hash: hash}, err
}
