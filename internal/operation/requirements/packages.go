// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package requirements

import (
	"context"
	"errors"
	"os"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/install"
	"github.com/cairnstacks/cairn/internal/providers/checksums"
	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/internal/providers/mirrordir"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/providers/source"
	"github.com/cairnstacks/cairn/internal/registry"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// LockRequest says for which packages checksums are locked.
type LockRequest struct {
	Platforms []string // such as linux_amd64; that of this program if there are none
	Providers []string // source addresses; all that the stack requires if there are none

	// Directory is the path of a mirror, Network the address of one, which is asked in place of the
	// registries. At most one of them is given.
	Directory, Network string
}

// MirrorRequest says which packages are mirrored, and where.
type MirrorRequest struct {
	Dir        string   // made when needed
	Platforms  []string // such as linux_amd64; that of this program if there are none
	IgnoreLock bool     // take the newest versions that are allowed, regardless of locked ones
}

// Package is the package of a provider for a platform.
type Package struct {
	Provider          stackaddrs.Provider
	Version, Platform string

	New, Added bool   // after locking: nothing was locked for the provider before; checksums were added
	File       string // after mirroring: its path in the mirror, with slashes
}

// Lock completes the lock file of the stack with the checksums of packages for several platforms,
// as they are published, whatever the CLI configuration says of installing them. The packages are
// returned by provider and platform.
func (s *Stack) Lock(ctx context.Context, req LockRequest) ([]Package, hcl.Diagnostics) {
	sources, err := s.publishers(req.Directory, req.Network)
	if err != nil {
		return nil, failure.Diagnostics(err)
	}
	required, diags := s.required(ctx)
	if diags.HasErrors() {
		return nil, diags
	}
	platforms, err := parsePlatforms(req.Platforms)
	if err == nil {
		err = required.restrict(req.Providers)
	}
	if err != nil {
		return nil, diags.Extend(failure.Diagnostics(err))
	}
	unlock, err := s.exclusive(ctx)
	if err != nil {
		return nil, diags.Extend(failure.Diagnostics(err))
	}
	defer unlock()
	before, err := s.readLocks()
	if err != nil {
		return nil, diags.Extend(failure.Diagnostics(err))
	}
	request := &checksums.Request{
		Requirements: required.constraints, Locks: before, Platforms: platforms, Sources: sources, Observe: s.engines.Observe(),
	}
	locked, found, err := request.Lock(ctx)
	if err != nil {
		return nil, diags.Extend(required.diagnostics("Provider checksums not locked", err))
	}
	if after := locks.Format(locked); string(after) != string(locks.Format(before)) {
		if moreDiags := install.WriteLock(s.lockFile(), after, nil); moreDiags.HasErrors() {
			return nil, diags.Extend(moreDiags)
		}
	}
	var packages []Package
	for _, one := range found {
		packages = append(packages, Package{
			Provider: one.Provider, Version: one.Version.String(), Platform: one.Platform.String(), New: one.New,
			Added: one.Added,
		})
	}
	return packages, diags
}

// Mirror fetches the packages of the stack's providers from their registries into a directory that
// they can be installed from. They are returned by provider and platform.
func (s *Stack) Mirror(ctx context.Context, req MirrorRequest) ([]Package, hcl.Diagnostics) {
	required, diags := s.required(ctx)
	if diags.HasErrors() {
		return nil, diags
	}
	platforms, err := parsePlatforms(req.Platforms)
	if err != nil {
		return nil, diags.Extend(failure.Diagnostics(err))
	}
	sources, err := s.publishers("", "")
	if err != nil {
		return nil, diags.Extend(failure.Diagnostics(err))
	}
	request := &mirrordir.Request{
		Requirements: required.constraints, Platforms: platforms, Sources: sources, Dir: req.Dir,
		Observe: s.engines.Observe(),
	}
	if _, err := os.Stat(s.lockFile()); err == nil && !req.IgnoreLock {
		if request.Locks, err = s.readLocks(); err != nil {
			return nil, diags.Extend(failure.Diagnostics(err))
		}
	}
	mirrored, err := request.Write(ctx)
	if err != nil {
		diags = diags.Extend(required.diagnostics("Provider not mirrored", err))
	}
	var packages []Package
	for _, one := range mirrored {
		packages = append(packages, Package{
			Provider: one.Provider, Version: one.Version.String(), Platform: one.Platform.String(),
			File: one.File,
		})
	}
	return packages, diags
}

// publishers returns where packages are published: a mirror if one is given, else the registries.
func (s *Stack) publishers(directory, network string) (func(stackaddrs.Provider) source.Source, error) {
	client := registry.New(registry.NewHTTPClient(), s.env.Environ)
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

// readLocks returns the contents of the lock file of the stack; nothing if there is none.
func (s *Stack) readLocks() (*locks.Locks, error) {
	text, err := os.ReadFile(s.lockFile())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, failure.Error("Unreadable provider lock file", "%s.", failure.Capitalize(failure.Reason(err)))
	}
	s.env.Files[locks.FileName] = &hcl.File{Bytes: text}
	read, diags := locks.Parse(text, locks.FileName)
	if diags.HasErrors() {
		return nil, diags
	}
	return read, nil
}
