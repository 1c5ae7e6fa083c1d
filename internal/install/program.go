// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/internal/providers/packagecache"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// Program is the program of a provider.
type Program struct {
	Path string
	Hash string // of the content of its package, as lock files have it; "" for a provider in development
}

// NotInstalledError is the error for a provider that is not installed.
type NotInstalledError struct{ Provider stackaddrs.Provider }

func (e *NotInstalledError) Error() string {
	return fmt.Sprintf("provider %s is not installed", e.Provider)
}

// Fault is for programs that can have it installed.
func (e *NotInstalledError) Fault() fault.Named {
	return fault.Named{Code: fault.ProviderNotInstalled}
}

// DamagedError is the error for an installed package that cannot be used as it is. It wraps the
// reason.
type DamagedError struct{ Err error }

func (e *DamagedError) Error() string { return e.Err.Error() }

// Fault is for programs that can have it installed again.
func (e *DamagedError) Fault() fault.Named { return fault.Named{Code: fault.ProviderDamaged} }

// Unwrap returns the reason.
func (e *DamagedError) Unwrap() error { return e.Err }

// use makes the packages of locked providers those that are used: installed ones, or else those in
// the directories that are given.
func (i *Installer) use(selected *locks.Locks, given map[stackaddrs.Provider]string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.mu.locked, i.mu.given, i.mu.hashes = selected, given, nil
	clear(i.mu.programs)
}

// useGiven makes packages those that are used, and no others.
func (i *Installer) useGiven(packages []engine.ProviderPackage) error {
	selected, given := &locks.Locks{}, map[stackaddrs.Provider]string{}
	for _, one := range packages {
		version, err := release.ParseVersion(one.Version)
		if err != nil {
			return fmt.Errorf("package of %s: %w", one.Provider, err)
		}
		lock := locks.Lock{Provider: i.address(one.Provider), Version: version}
		for _, hash := range one.Hashes {
			lock.Hashes = append(lock.Hashes, release.Hash(hash))
		}
		if given[lock.Provider], err = filepath.Abs(one.Dir); err != nil {
			return fmt.Errorf("package of %s: %w", one.Provider, err)
		}
		selected.Set(lock)
	}
	i.use(selected, given)
	return nil
}

// LockFile returns the text of the lock file that has the checksums of all packages. It is empty if
// nothing is locked.
func (i *Installer) LockFile() ([]byte, error) {
	i.mu.Lock()
	locked, given := i.mu.locked, i.mu.given
	i.mu.Unlock()
	if given != nil {
		return locks.Format(locked), nil
	}
	text, err := os.ReadFile(i.dir.LockFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// Packages returns the packages of all providers that are installed, or in development, sorted by
// provider.
func (i *Installer) Packages() ([]Package, error) {
	locked, err := i.locked()
	if err != nil {
		return nil, err
	}
	all := i.packagesOf(locked)
	config, err := i.config()
	if err != nil {
		return nil, err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, provider := range i.mu.supplied {
		if dir, ok := config.Overrides[provider]; ok && i.mu.given == nil {
			all = append(all, Package{
				Path: filepath.Join(filepath.FromSlash(provider.String()), "dev", release.CurrentPlatform.String()), Dir: dir,
				InDevelopment: true,
			})
		}
	}
	slices.SortStableFunc(all, func(a, b Package) int { return strings.Compare(a.Source(), b.Source()) })
	return all, nil
}

// packagesOf returns the packages of locks, as far as they are there and not supplied otherwise.
func (i *Installer) packagesOf(locked *locks.Locks) []Package {
	i.mu.Lock()
	supplied := i.mu.supplied
	i.mu.Unlock()
	var all []Package
	for _, lock := range locked.All() {
		if one := i.installed(lock.ID()); one != nil && !slices.Contains(supplied, lock.Provider) {
			all = append(all, Package{Path: i.packages().PackagePath(one.ID), Dir: one.Dir})
		}
	}
	return all
}

// installed returns the package of a release; nil if there is none.
func (i *Installer) installed(id release.ID) *packagecache.Package {
	i.mu.Lock()
	given := i.mu.given
	i.mu.Unlock()
	if given == nil {
		return i.packages().Package(id)
	}
	return &packagecache.Package{ID: id, Dir: given[id.Provider]}
}

// Hashes returns the hash of each package by its path, and none of packages that cannot be read.
func (i *Installer) Hashes(ctx context.Context, packages []Package) map[string]string {
	i.mu.Lock()
	given := i.mu.given
	i.mu.Unlock()
	file := i.dir.Hashes
	if given != nil { // which may be in the place of others
		file = ""
	}
	return i.opts.Hashes.Remembered(ctx, file, packages)
}

// Address returns the address by which stacks know the provider of a package.
func (i *Installer) Address(one Package) stackaddrs.Provider {
	parts := strings.Split(one.Source(), "/")
	return i.stackAddress(stackaddrs.Provider{Hostname: parts[0], Namespace: parts[1], Type: parts[2]})
}

// Program returns the program of a provider. The content of its package is that which is locked.
// Repeated calls for one provider are cheap.
//
// Errors: a [*NotInstalledError]; a [*packagecache.MismatchError], within a [*DamagedError] where
// the package was installed.
func (i *Installer) Program(ctx context.Context, provider stackaddrs.Provider) (*Program, error) {
	i.mu.Lock()
	found := i.mu.programs[provider]
	i.mu.Unlock()
	if found != nil {
		return found, nil
	}
	found, err := i.program(ctx, i.address(provider))
	if missing, ok := errors.AsType[*NotInstalledError](err); ok {
		missing.Provider = provider
	}
	if err != nil {
		return nil, err
	}
	i.mu.Lock()
	i.mu.programs[provider] = found
	i.mu.Unlock()
	return found, nil
}

func (i *Installer) program(ctx context.Context, provider stackaddrs.Provider) (*Program, error) {
	i.mu.Lock()
	given := i.mu.given != nil
	i.mu.Unlock()
	config, err := i.config()
	if err != nil {
		return nil, err
	}
	if dir, ok := config.Overrides[provider]; ok && !given {
		program, err := (&packagecache.Package{ID: release.ID{Provider: provider}, Dir: dir}).Executable()
		if err != nil { // it is about a package, with a version
			return nil, fmt.Errorf("provider %s is in development in %s, where there is no program whose name starts with terraform-provider-%s",
				release.Short(provider), dir, provider.Type)
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
	found := i.installed(lock.ID())
	if found == nil {
		return nil, &NotInstalledError{provider}
	}
	if !given {
		lock = i.dir.Lock(lock)
	}
	one, err := checked(found, lock, i.hashOf(ctx, locked, found))
	if err != nil && !given {
		return nil, &DamagedError{err}
	}
	return one, err
}

// hashOf returns the hash of a package; "" if it cannot be read. Those of all that are locked are
// found out together, and remembered for other programs.
func (i *Installer) hashOf(ctx context.Context, locked *locks.Locks, found *packagecache.Package) string {
	i.mu.Lock()
	hashes := i.mu.hashes
	i.mu.Unlock()
	if hashes == nil {
		hashes = i.Hashes(ctx, i.packagesOf(locked))
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
