// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package packagecache

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/internal/providers/release"
)

// MismatchError is the error for packages that are not those that are locked.
type MismatchError struct {
	ID      release.ID
	Problem string // a clause after the release: "is not in the cache"
}

// Error implements error.
func (e *MismatchError) Error() string { return fmt.Sprintf("%s %s", e.ID, e.Problem) }

// Selected returns the packages of all locked providers, sorted by provider. Other packages in the
// directory do not matter.
//
// Errors: all [*MismatchError] together.
func (d Dir) Selected(selected *locks.Locks) ([]*Package, error) {
	var packages []*Package
	var problems error
	for _, lock := range selected.All() {
		found, err := d.locked(lock)
		problems = errors.Join(problems, err)
		packages = append(packages, found)
	}
	if problems != nil {
		return nil, problems
	}
	return packages, nil
}

// locked returns the package of one locked provider (rule C2).
func (d Dir) locked(lock *locks.Lock) (*Package, error) {
	found := d.Package(lock.ID())
	if found == nil {
		return nil, &MismatchError{lock.ID(), fmt.Sprintf("is locked, and there is no package of it for %s in %s", d.Platform, d.Path)}
	}
	return found, found.Check(lock.Hashes)
}

// Check compares the package with hashes of which it must have one, unless there are none.
//
// Errors: a [*MismatchError].
func (p *Package) Check(allowed []release.Hash) error {
	if len(allowed) == 0 {
		return nil
	}
	hash, err := p.Hash()
	switch {
	case err != nil:
		return &MismatchError{p.ID, fmt.Sprintf("has a package in %s that cannot be checked: %s", p.Dir, err)}
	case slices.Contains(allowed, hash):
		return nil
	case !release.HasScheme(allowed, release.ContentScheme):
		return &MismatchError{p.ID, fmt.Sprintf("is locked without a hash of scheme %s:, which its package in %s could be checked with",
			release.ContentScheme, p.Dir)}
	default:
		return &MismatchError{p.ID, fmt.Sprintf("has a package in %s with the hash %s, which is none of those that are locked", p.Dir, hash)}
	}
}
