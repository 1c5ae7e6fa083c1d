// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package locks is the model of the file .terraform.lock.hcl: the selected version of each
// provider, the version constraints on it, and the hashes that its packages may have.
//
// [Parse] accepts the files that terraform accepts, and [Format] writes them as terraform does,
// byte by byte.
package locks

import (
	"maps"
	"slices"

	"github.com/apparentlymart/go-versions/versions"

	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// FileName is the name of the file, in the directory of a configuration.
const FileName = ".terraform.lock.hcl"

// Lock is the selection for one provider.
type Lock struct {
	Provider    stackaddrs.Provider
	Version     versions.Version
	Constraints string // as [NormalizeConstraints] returns them; empty if none are known
	Hashes      []release.Hash
}

// ID returns the release that is selected.
func (l *Lock) ID() release.ID { return release.ID{Provider: l.Provider, Version: l.Version} }

// Locks are the selections for several providers. The zero value has none. They may be read
// concurrently.
type Locks struct {
	providers map[stackaddrs.Provider]*Lock
}

// Set adds a lock, in place of one for the same provider. Its hashes are sorted, and those that are
// there twice are removed.
func (l *Locks) Set(lock Lock) {
	if l.providers == nil {
		l.providers = map[stackaddrs.Provider]*Lock{}
	}
	lock.Hashes = slices.Sorted(slices.Values(lock.Hashes))
	lock.Hashes = slices.Compact(lock.Hashes)
	l.providers[lock.Provider] = &lock
}

// Remove removes the lock of a provider, if there is one.
func (l *Locks) Remove(provider stackaddrs.Provider) { delete(l.providers, provider) }

// Provider returns the lock of a provider, or nil. The caller must not change it.
func (l *Locks) Provider(provider stackaddrs.Provider) *Lock { return l.providers[provider] }

// All returns the locks, sorted by provider. The caller must not change them.
func (l *Locks) All() []*Lock {
	return slices.SortedFunc(maps.Values(l.providers), func(a, b *Lock) int { return release.CompareProviders(a.Provider, b.Provider) })
}
