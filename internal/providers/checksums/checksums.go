// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package checksums completes locks: it fetches packages for the platforms that a configuration is
// used on, and locks their checksums.
//
// Rules, which are those of "terraform providers lock":
//
//	K1. A version that is locked is kept. One of a provider that is not locked is chosen as an
//	    installation would do it.
//	K2. Locks and checksums from before stay, also of providers that nothing requires, and checksums
//	    that the packages do not have: they may be of other platforms.
//	K3. Packages are fetched each time, whether or not they are installed or kept in a cache: a lock
//	    is to have the checksums of the source.
package checksums

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/internal/providers/parallel"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/providers/selection"
	"github.com/cairnstacks/cairn/internal/providers/source"
	"github.com/cairnstacks/cairn/internal/tempdir"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Request names the providers and platforms whose checksums are locked, and the sources of
// packages.
type Request struct {
	Requirements map[stackaddrs.Provider][]string // of the providers to lock: constraints of versions, each as written
	Locks        *locks.Locks                     // from before
	Platforms    []release.Platform
	Sources      func(stackaddrs.Provider) source.Source
	Observe      selection.Observer // may be nil
}

// Locked is the outcome for the package for one platform.
type Locked struct {
	release.ID
	Platform release.Platform
	New      bool // nothing was locked for the provider before
	Added    bool // checksums were
}

// fetched are the checksums of a package.
type fetched struct {
	lock     *locks.Lock // as it was chosen
	platform release.Platform
	hashes   []release.Hash
	err      error
}

// Lock returns the locks with the checksums of all packages, and the outcome for each, sorted by
// provider and platform. It goes on with other packages after an error.
//
// Errors: joined [*selection.Error]; context.Cause(ctx).
func (r *Request) Lock(ctx context.Context) (*locks.Locks, []Locked, error) {
	dir, err := tempdir.Kind{Prefix: "cairn-providers-lock-"}.Replace()
	if err != nil {
		return nil, nil, err
	}
	chosen, err := r.choose(ctx)
	all := r.packages(chosen)
	if err == nil {
		parallel.Each(all, parallel.Downloads, func(i int, one *fetched) {
			one.hashes, one.err = r.fetch(ctx, one, filepath.Join(dir.Path, fmt.Sprint(i)))
		})
		err = failures(all)
	}
	err = errors.Join(err, dir.Remove())
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	completed, found := r.complete(chosen, all)
	return completed, found, nil
}

// choose returns a lock for each provider, sorted.
func (r *Request) choose(ctx context.Context) ([]*locks.Lock, error) {
	providers := slices.SortedFunc(maps.Keys(r.Requirements), release.CompareProviders)
	chosen, problems := make([]*locks.Lock, len(providers)), make([]error, len(providers))
	parallel.Each(providers, parallel.Downloads, func(i int, provider stackaddrs.Provider) {
		choice := selection.Choice{
			Provider:    provider,
			Constraints: r.Requirements[provider],
			Before:      r.Locks.Provider(provider),
			Source:      r.Sources(provider),
		}
		lock, err := selection.Choose(ctx, choice)
		if err != nil {
			err = &selection.Error{Provider: provider, Err: err}
		}
		chosen[i], problems[i] = lock, err
	})
	return chosen, errors.Join(problems...)
}

// packages returns the packages to fetch, each once.
func (r *Request) packages(chosen []*locks.Lock) (all []*fetched) {
	platforms := slices.Clone(r.Platforms)
	slices.SortFunc(platforms, release.ComparePlatforms)
	platforms = slices.Compact(platforms)
	for _, lock := range chosen {
		for _, platform := range platforms {
			all = append(all, &fetched{lock: lock, platform: platform})
		}
	}
	return all
}

// fetch returns the checksums of a package, which was at a path meanwhile.
func (r *Request) fetch(ctx context.Context, one *fetched, path string) ([]release.Hash, error) {
	id := one.lock.ID()
	found, err := r.Sources(id.Provider).Package(ctx, id, one.platform)
	if err != nil {
		return nil, err
	}
	opts := source.FetchOptions{Progress: r.Observe.Begin(found)}
	hash, err := found.Save(ctx, path, opts)
	if errors.Is(err, source.ErrNotPacked) {
		hash, err = found.Fetch(ctx, path, opts)
	}
	if err != nil {
		return nil, err
	}
	r.Observe.End(found)
	hashes := []release.Hash{hash}
	if found.Signed != nil {
		hashes = append(hashes, found.Signed.Hashes...)
	}
	return hashes, os.RemoveAll(path)
}

// failures returns the errors of all packages.
func failures(all []*fetched) error {
	var problems error
	for _, one := range all {
		if one.err != nil {
			problems = errors.Join(problems, &selection.Error{Provider: one.lock.Provider, Err: one.err})
		}
	}
	return problems
}

// complete adds checksums to the locks from before.
func (r *Request) complete(chosen []*locks.Lock, all []*fetched) (*locks.Locks, []Locked) {
	completed := &locks.Locks{}
	for _, lock := range r.Locks.All() {
		completed.Set(*lock)
	}
	var found []Locked
	for _, lock := range chosen {
		lock := *lock
		before := r.Locks.Provider(lock.Provider)
		for _, one := range all {
			if one.lock.Provider != lock.Provider {
				continue
			}
			isKnown := func(h release.Hash) bool { return before != nil && slices.Contains(before.Hashes, h) }
			found = append(found, Locked{
				lock.ID(),
				one.platform,
				before == nil,
				slices.ContainsFunc(one.hashes, func(h release.Hash) bool { return !isKnown(h) }),
			})
			lock.Hashes = slices.Concat(lock.Hashes, one.hashes)
		}
		completed.Set(lock)
	}
	return completed, found
}
