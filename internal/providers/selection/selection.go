// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package selection chooses versions of providers for the requirements of a configuration, as
// terraform does, and puts their packages into a directory. The result are the locks that terraform
// would write.
//
// Rules:
//
//	L1. A version that is locked is kept, unless all are to be chosen anew. If it does not fit the
//	    requirements, that is an error.
//	L2. The newest version that fits is chosen. A prerelease is chosen only if it is required by its
//	    whole version.
//	L3. A package that is there and has a locked checksum is used as it is, and nobody is asked for
//	    it.
//	L4. A lock has the checksum of the files of the package for this platform, and those that a
//	    registry's publisher has signed for all platforms. Checksums that were locked before for the
//	    same version stay.
//	L5. A provider that is not required has no lock.
package selection

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apparentlymart/go-versions/versions"
	"github.com/apparentlymart/go-versions/versions/constraints"

	"github.com/cairnstacks/cairn/internal/providers/install"
	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/internal/providers/packagecache"
	"github.com/cairnstacks/cairn/internal/providers/parallel"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/providers/source"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Request has the requirements, and the sources of packages.
type Request struct {
	Requirements map[stackaddrs.Provider][]string // constraints of versions, each as written
	Locks        *locks.Locks                     // from before
	Upgrade      bool                             // ignores which versions are locked

	Sources func(stackaddrs.Provider) source.Source
	Dir     packagecache.Dir // for the packages

	// Cache is a directory in which packages are kept for others, too; Dir gets links to them. Nil for
	// none. Unlocked allows packages in it that have no locked checksum.
	Cache    *packagecache.Dir
	Unlocked bool

	// Shared has the packages that requests of several stacks share. May be nil.
	Shared *Shared

	// Observe is told which packages are fetched. May be nil.
	Observe Observer

	// Hash is as in [source.FetchOptions].
	Hash func(dir string) (release.Hash, error)
}

// Error is why a provider could not be installed.
type Error struct {
	Provider stackaddrs.Provider
	Err      error
}

func (e *Error) Error() string {
	return fmt.Sprintf("provider %s: %s", release.Short(e.Provider), e.Err)
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// LockedError is the error for a locked version that is not allowed any more.
type LockedError struct {
	Locked   versions.Version
	Required string // the constraints, as lock files have them
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("version %s is locked, and does not satisfy the present requirements: %s", e.Locked, e.Required)
}

// UnmetError is the error for constraints that no version of a provider satisfies.
type UnmetError struct {
	Required string           // the constraints, as lock files have them
	Newest   versions.Version // that is released; [versions.Unspecified] if there is none
}

func (e *UnmetError) Error() string {
	text := "none of the versions that there are satisfies " + e.Required
	if e.Newest != versions.Unspecified {
		text += fmt.Sprintf("; the newest is %s", e.Newest)
	}
	return text
}

// Errors returns the errors that are joined in one, as [Request.Install] and others do it.
func Errors(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, one := range joined.Unwrap() {
		all = append(all, Errors(one)...)
	}
	return all
}

// Install chooses versions and installs packages, several at the same time. It goes on with other
// providers after an error.
//
// Errors: joined [*Error]; context.Cause(ctx).
func (r *Request) Install(ctx context.Context) (*locks.Locks, error) {
	providers := slices.SortedFunc(maps.Keys(r.Requirements), release.CompareProviders)
	chosen, problems := make([]*locks.Lock, len(providers)), make([]error, len(providers))
	parallel.Each(providers, parallel.Downloads, func(i int, provider stackaddrs.Provider) {
		lock, err := r.one(ctx, provider)
		if err != nil {
			err = &Error{provider, err}
		}
		chosen[i], problems[i] = lock, err
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	selected := &locks.Locks{}
	for _, lock := range chosen {
		selected.Set(*lock)
	}
	return selected, nil
}

// one chooses and installs one provider.
func (r *Request) one(ctx context.Context, provider stackaddrs.Provider) (*locks.Lock, error) {
	before := r.Locks.Provider(provider)
	from := r.Sources(provider)
	lock, err := Choose(ctx, Choice{
		Provider:    provider,
		Constraints: r.Requirements[provider],
		Before:      before,
		Upgrade:     r.Upgrade,
		Source:      from,
	})
	if err != nil {
		return nil, err
	}
	if before != nil && !r.Upgrade {
		if found := r.Dir.Package(lock.ID()); found != nil && len(lock.Hashes) > 0 && found.Check(lock.Hashes) == nil {
			return lock, nil // rule L3
		}
	}
	added, err := r.install(ctx, from, lock)
	lock.Hashes = slices.Concat(lock.Hashes, added)
	return lock, err
}

// Choice has the grounds for the choice of a version.
type Choice struct {
	Provider    stackaddrs.Provider
	Constraints []string      // each as written
	Before      *locks.Lock   // nil if none is locked
	Upgrade     bool          // ignores which version is locked
	Source      source.Source // asked only where no version is kept
}

// Choose returns a lock for the version that is locked, or else for the newest one that fits (rules
// L1 and L2). It has the checksums that were locked for the same version.
//
// Errors: also for a locked version that does not fit.
func Choose(ctx context.Context, c Choice) (*locks.Lock, error) {
	required, err := parse(c.Constraints)
	if err != nil {
		return nil, err
	}
	lock := &locks.Lock{Provider: c.Provider, Constraints: required.text}
	if c.Before != nil && !c.Upgrade {
		if !required.allowed.Has(c.Before.Version) {
			return nil, &LockedError{Locked: c.Before.Version, Required: required.text}
		}
		lock.Version, lock.Hashes = c.Before.Version, c.Before.Hashes
		return lock, nil
	}
	if lock.Version, err = newest(ctx, c.Source, c.Provider, required); err != nil {
		return nil, err
	}
	if c.Before != nil && c.Before.Version.Same(lock.Version) {
		lock.Hashes = c.Before.Hashes
	}
	return lock, nil
}

// requirement are constraints of versions.
type requirement struct {
	allowed versions.Set
	text    string // as lock files have it
}

func parse(all []string) (requirement, error) {
	all = slices.Clone(all)
	slices.Sort(all)
	var written []string
	for _, one := range slices.Compact(all) {
		if strings.TrimSpace(one) != "" {
			written = append(written, one)
		}
	}
	text, err := locks.NormalizeConstraints(strings.Join(written, ", "))
	if err != nil || text == "" {
		return requirement{allowed: versions.Released}, err
	}
	spec, err := constraints.ParseRubyStyleMulti(text)
	if err != nil {
		return requirement{}, err
	}
	return requirement{versions.MeetingConstraints(spec), text}, nil
}

// newest returns the newest version that is allowed (rule L2).
func newest(ctx context.Context, from source.Source, provider stackaddrs.Provider, required requirement) (versions.Version, error) {
	available, err := from.Versions(ctx, provider)
	if err != nil {
		return versions.Unspecified, err
	}
	chosen := versions.List(available.Versions).NewestInSet(required.allowed)
	if chosen == versions.Unspecified {
		return chosen, &UnmetError{Required: required.text, Newest: versions.List(available.Versions).NewestInSet(versions.Released)}
	}
	return chosen, nil
}

// install puts the package of a lock into the directory. It returns the checksums to lock.
func (r *Request) install(ctx context.Context, from source.Source, lock *locks.Lock) ([]release.Hash, error) {
	if r.Cache != nil {
		if hash, ok := r.cached(lock); ok { // also in a cache that nothing can be written to
			return []release.Hash{hash}, r.link(lock.ID())
		}
		unlock, err := r.Cache.Lock(ctx, lock.ID()) // others may be fetching the same
		if err != nil {
			return nil, err
		}
		defer unlock()
		if hash, ok := r.cached(lock); ok {
			return []release.Hash{hash}, r.link(lock.ID())
		}
	}
	found, err := from.Package(ctx, lock.ID(), r.Dir.Platform)
	if err != nil {
		return nil, err
	}
	hash, err := r.fetch(ctx, found, lock)
	if err == nil && r.Cache != nil {
		err = r.link(lock.ID())
	}
	if err != nil {
		return nil, err
	}
	hashes := []release.Hash{hash}
	if found.Signed != nil {
		hashes = append(hashes, found.Signed.Hashes...)
	}
	return hashes, nil
}

// fetchNew fetches a package into the cache if there is one, else into the directory.
func (r *Request) fetchNew(ctx context.Context, found *source.Package, lock *locks.Lock) (release.Hash, error) {
	target := r.Dir
	if r.Cache != nil {
		target = *r.Cache
	}
	installer := &install.Installer{Cache: target, Fetch: source.FetchOptions{Progress: r.Observe.Begin(found), Hash: r.Hash}}
	hash, err := installer.Fetched(ctx, found, lock.Hashes)
	if err == nil {
		r.Observe.End(found)
	}
	return hash, err
}

// cached returns the checksum of a package in the cache that may be used for a lock.
func (r *Request) cached(lock *locks.Lock) (hash release.Hash, ok bool) {
	found := r.Cache.Package(lock.ID())
	if found == nil {
		return "", false
	}
	hash, err := source.FetchOptions{Hash: r.Hash}.HashOf(found.Dir)
	if err != nil {
		return "", false
	}
	return hash, slices.Contains(lock.Hashes, hash) || r.Unlocked && !release.HasScheme(lock.Hashes, release.ContentScheme)
}

// link makes the package in the cache the one of the directory.
func (r *Request) link(id release.ID) error {
	_, err := r.Dir.Link(id, r.Cache.Package(id).Dir)
	return err
}
