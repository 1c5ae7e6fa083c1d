// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package install puts packages of locked providers into a cache. Versions are not chosen here: the
// locked ones are installed.
package install

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apparentlymart/go-versions/versions"

	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/internal/providers/packagecache"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/providers/source"
)

// Installer installs packages in a directory, for its platform.
type Installer struct {
	Source source.Source
	Cache  packagecache.Dir
	Fetch  source.FetchOptions // but for the hashes, which are those that are locked
}

// Observer is told of the steps of an installer. Its methods are called one after the other, in
// this order, and for each provider.
type Observer interface {
	QueryBegin(id release.ID)
	QueryWarnings(id release.ID, warnings []string) // if there are any
	QuerySuccess(id release.ID)
	AlreadyInstalled(id release.ID) // and nothing after it
	FetchBegin(id release.ID, location string)
	FetchComplete(id release.ID, signed *source.Signed) // nil without a signature
}

// QueryError is the error for a version that is not found.
type QueryError struct {
	ID  release.ID
	Err error
}

// Error implements error.
func (e *QueryError) Error() string {
	return fmt.Sprintf("provider %s cannot be found: %s", e.ID, e.Err)
}

// Unwrap returns the reason.
func (e *QueryError) Unwrap() error { return e.Err }

// Install installs the package of one lock, unless one that fits is there.
//
// Errors: a [*QueryError]; the reason why the package cannot be used; context.Cause(ctx).
func (i *Installer) Install(ctx context.Context, lock *locks.Lock, observer Observer) error {
	id := lock.ID()
	observer.QueryBegin(id)
	available, err := i.Source.Versions(ctx, id.Provider)
	if err == nil && !slices.ContainsFunc(available.Versions, func(v versions.Version) bool { return v.Same(id.Version) }) {
		err = fmt.Errorf("version %s is locked, and there is none", id.Version)
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return &QueryError{id, err}
	}
	if len(available.Notices) > 0 {
		observer.QueryWarnings(id, available.Notices)
	}
	observer.QuerySuccess(id)
	if found := i.Cache.Package(id); found != nil && found.Check(lock.Hashes) == nil {
		observer.AlreadyInstalled(id)
		return nil
	}
	return i.install(ctx, lock, observer)
}

func (i *Installer) install(ctx context.Context, lock *locks.Lock, observer Observer) error {
	id := lock.ID()
	found, err := i.Source.Package(ctx, id, i.Cache.Platform)
	if err != nil {
		return err
	}
	observer.FetchBegin(id, found.Location())
	if _, err := i.Fetched(ctx, found, lock.Hashes); err != nil {
		return err
	}
	observer.FetchComplete(id, found.Signed)
	return nil
}

// errThere says that a package with the same files is in its place. It stays: others may be using
// it.
var errThere = errors.New("the package is there already")

// has reports whether a package of a release is there, with a hash and a program.
func (i *Installer) has(id release.ID, hash release.Hash) bool {
	there := i.Cache.Package(id)
	if there == nil {
		return false
	}
	found, err := there.Hash()
	if err != nil || found != hash {
		return false
	}
	_, err = there.Executable()
	return err == nil
}

// Fetched fetches a package and puts it into the cache. It returns the hash of its files.
func (i *Installer) Fetched(ctx context.Context, found *source.Package, allowed []release.Hash) (hash release.Hash, err error) {
	opts := i.Fetch
	opts.Allowed = allowed
	installed, err := i.Cache.Install(found.ID, func(path string) (err error) {
		if hash, err = found.Fetch(ctx, path, opts); err == nil && i.has(found.ID, hash) {
			err = errThere
		}
		return err
	})
	switch {
	case errors.Is(err, errThere):
		return hash, nil
	case err != nil && ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", err
	}
	if _, err := installed.Executable(); err != nil {
		return "", errors.Join(err, i.Cache.Remove(found.ID))
	}
	return hash, nil
}
