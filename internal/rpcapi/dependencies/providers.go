// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package dependencies

import (
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/internal/providers/packagecache"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/rpcapi/handle"
)

// Handles are those by which a request says which providers its operation may use. Without locks,
// it has none but the built-in ones; the cache may be missing then, too.
type Handles struct {
	Locks, Cache int64
	Required     bool // neither may be 0
}

// Selected is a provider that an operation may use: the package of it that is locked, and the
// hashes that it may have, sorted.
type Selected struct {
	*packagecache.Package
	Hashes []release.Hash
}

// Providers returns the providers of an operation, besides those that are built in, sorted by
// address. The packages were compared with the locked hashes.
//
// Errors: InvalidArgument, also if the locks and the cache do not fit each other.
func Providers(handles *handle.Table, given Handles) ([]Selected, error) {
	selected, dir := &locks.Locks{}, (*packagecache.Dir)(nil)
	if given.Locks != 0 || given.Required {
		opened, err := handle.Get[*Locks](handles, given.Locks, LocksHandle)
		if err != nil {
			return nil, err
		}
		selected = opened.Locks
	}
	if given.Cache != 0 || given.Required {
		opened, err := handle.Get[*Cache](handles, given.Cache, CacheHandle)
		if err != nil {
			return nil, err
		}
		dir = &opened.Dir
	}
	if len(selected.All()) == 0 {
		return nil, nil
	}
	if dir == nil {
		return nil, status.Error(codes.InvalidArgument,
			"providers are locked, and there is no provider plugin cache that could have them: give its handle")
	}
	return packagesOf(selected, *dir)
}

func packagesOf(selected *locks.Locks, dir packagecache.Dir) ([]Selected, error) {
	packages, err := dir.Selected(selected)
	if err != nil {
		return nil, status.Errorf(codes.InvalidArgument, "the provider plugin cache does not fit the dependency locks: %s", err)
	}
	var found []Selected
	for _, pkg := range packages {
		found = append(found, Selected{pkg, slices.Clone(selected.Provider(pkg.Provider).Hashes)})
	}
	return found, nil
}
