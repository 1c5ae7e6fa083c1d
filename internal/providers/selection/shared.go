// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package selection

import (
	"context"
	"slices"

	"github.com/cairnstacks/cairn/internal/once"
	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/providers/source"
)

// Shared has packages that several requests of one program fetch once. The zero value has none yet.
// Safe for concurrent use.
type Shared struct {
	packages once.Map[sharedKey, sharedPackage]
}

// sharedKey identifies the content of a download.
type sharedKey struct {
	id       release.ID
	platform release.Platform
	location string
	hash     release.Hash
}

// sharedPackage is a package that was fetched for one request.
type sharedPackage struct {
	dir  string
	hash release.Hash
}

// fetch puts a package into the directory of a request. Of several requests that would fetch the
// same, one does, and the others get links to its package.
func (r *Request) fetch(ctx context.Context, found *source.Package, lock *locks.Lock) (release.Hash, error) {
	sum, packed := found.Sum()
	if r.Shared == nil || r.Cache != nil || !packed {
		return r.fetchNew(ctx, found, lock)
	}
	ours := false
	key := sharedKey{lock.ID(), r.Dir.Platform, found.Location(), sum}
	made, err := r.Shared.packages.Get(ctx, key, func() (sharedPackage, error) {
		ours = true
		hash, err := r.fetchNew(ctx, found, lock)
		if err != nil {
			return sharedPackage{}, err
		}
		return sharedPackage{r.Dir.Package(lock.ID()).Dir, hash}, nil
	})
	if err != nil || ours {
		return made.hash, err
	}
	if len(lock.Hashes) == 0 || slices.Contains(lock.Hashes, made.hash) || slices.Contains(lock.Hashes, sum) {
		if linked, err := r.Dir.Link(lock.ID(), made.dir); err == nil && linked.Check([]release.Hash{made.hash}) == nil {
			return made.hash, nil
		}
	}
	return r.fetchNew(ctx, found, lock) // the other one was changed or removed, or is not the one that is locked
}
