// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package source knows where packages of providers come from: the registry that the address of a
// provider names, and mirrors on the disk or in the network. It asks them for versions and
// packages, fetches packages, and checks them.
//
// Rules:
//
//	S1. A package of a registry has the checksum that the publisher has signed, unless the registry is
//	    one that may know no key of the publisher, and does not. One of a mirror has a checksum that
//	    the mirror gives, if it gives any.
//	S2. If hashes are locked, the package has one of them. A directory has no hash of an archive: if
//	    only such are locked, it is taken as it is, as terraform does.
//	S3. Nothing of a package is in its place before it was checked.
package source

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/apparentlymart/go-versions/versions"

	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Source has packages of providers.
type Source interface {
	// Versions returns the versions of a provider.
	//
	// Errors: [ErrNoProvider] among others.
	Versions(ctx context.Context, provider stackaddrs.Provider) (*Available, error)

	// Package returns where the package of a version is.
	//
	// Errors: [ErrNoPackage] among others.
	Package(ctx context.Context, id release.ID, platform release.Platform) (*Package, error)
}

// Errors for a provider or a package that a source does not have. They are wrapped in others that
// say more.
var (
	ErrNoProvider = errors.New("the source does not have the provider")
	ErrNoPackage  = errors.New("the source does not have the package")
)

// Available is the offer of a source for a provider.
type Available struct {
	Versions []versions.Version // ascending, without repetitions
	Notices  []string           // messages of a registry to users of the provider
}

// newAvailable sorts versions. Texts that are no versions are left out.
func newAvailable(texts []string, notices []string) *Available {
	available := &Available{Notices: notices}
	for _, text := range texts {
		if version, err := release.ParseVersion(text); err == nil {
			available.Versions = append(available.Versions, version)
		}
	}
	available.sort()
	return available
}

func (a *Available) sort() {
	slices.SortFunc(a.Versions, release.CompareVersions)
	a.Versions = slices.CompactFunc(a.Versions, func(x, y versions.Version) bool { return release.CompareVersions(x, y) == 0 })
}

// Several are sources of which the first that has a package is used. No sources have nothing.
type Several []Source

var _ Source = Several(nil)

// Versions implements [Source]: those of all sources.
func (s Several) Versions(ctx context.Context, provider stackaddrs.Provider) (*Available, error) {
	all, found := &Available{}, false
	var missing []string
	for _, source := range s {
		available, err := source.Versions(ctx, provider)
		if errors.Is(err, ErrNoProvider) {
			missing = append(missing, err.Error())
			continue
		}
		if err != nil {
			return nil, err
		}
		found = true
		all.Versions = append(all.Versions, available.Versions...)
		all.Notices = append(all.Notices, available.Notices...)
	}
	if !found {
		return nil, several(ErrNoProvider, missing)
	}
	all.sort()
	return all, nil
}

// Package implements [Source].
func (s Several) Package(ctx context.Context, id release.ID, platform release.Platform) (*Package, error) {
	var missing []string
	for _, source := range s {
		found, err := source.Package(ctx, id, platform)
		if !errors.Is(err, ErrNoPackage) && !errors.Is(err, ErrNoProvider) {
			return found, err
		}
		missing = append(missing, err.Error())
	}
	return nil, several(ErrNoPackage, missing)
}

func several(err error, missing []string) error {
	if len(missing) == 0 {
		return &missingError{err, "there is no source of packages to ask"}
	}
	return &missingError{err, strings.Join(missing, "; ")}
}

// missingError is one of the errors of this package, with more words.
type missingError struct {
	kind error
	text string
}

func (e *missingError) Error() string { return e.text }
func (e *missingError) Unwrap() error { return e.kind }
