// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package packagecache is a directory of unpacked packages of providers:
// HOST/NAMESPACE/TYPE/VERSION/OS_ARCH, each with the provider's program.
//
// Rules:
//
//	C1. A package is there as a whole or not at all.
//	C2. A package may have been changed by others: before a program runs, the hash of its package is
//	    compared with those that are locked.
package packagecache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/filelock"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Dir is a directory of packages, of which those for one platform are used. It need not exist.
type Dir struct {
	Path     string
	Platform release.Platform
}

// Package is one package in a directory.
type Package struct {
	release.ID
	Dir string // path of the package
}

// PackagePath returns where the package of a release is or would be, relative to the directory.
func (d Dir) PackagePath(id release.ID) string {
	return filepath.Join(id.Provider.Hostname, id.Provider.Namespace, id.Provider.Type, id.Version.String(), d.Platform.String())
}

// Package returns the package of a release, or nil if there is none.
func (d Dir) Package(id release.ID) *Package {
	path := filepath.Join(d.Path, d.PackagePath(id))
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return nil
	}
	return &Package{id, path}
}

// Packages returns all packages for the platform, sorted by provider and version. Other files are
// ignored.
//
// Errors: that the directory cannot be read; it is empty if it does not exist.
func (d Dir) Packages() ([]*Package, error) {
	names, err := fs.Glob(os.DirFS(d.Path), "*/*/*/*/"+d.Platform.String())
	if err != nil {
		return nil, err
	}
	if _, err := os.ReadDir(d.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var packages []*Package
	for _, name := range names {
		if id, ok := parsePath(name); ok {
			if one := d.Package(id); one != nil {
				packages = append(packages, one)
			}
		}
	}
	slices.SortFunc(packages, func(a, b *Package) int { return release.Compare(a.ID, b.ID) })
	return packages, nil
}

// parsePath returns the release of a slash-separated path, if it is one in its normal form.
func parsePath(path string) (id release.ID, ok bool) {
	parts := strings.Split(path, "/")
	provider, err := release.ParseProvider(strings.Join(parts[:3], "/"))
	if err != nil || provider != (stackaddrs.Provider{Hostname: parts[0], Namespace: parts[1], Type: parts[2]}) {
		return id, false
	}
	version, err := release.ParseVersion(parts[3])
	return release.ID{Provider: provider, Version: version}, err == nil && version.String() == parts[3]
}

// Hash returns the hash of the files in the package.
func (p *Package) Hash() (release.Hash, error) { return release.HashContent(p.Dir) }

// Executable returns the path of the provider's program.
func (p *Package) Executable() (string, error) {
	entries, err := os.ReadDir(p.Dir)
	if err != nil {
		return "", err
	}
	name := "terraform-provider-" + p.Provider.Type
	for _, entry := range entries { // which are sorted
		rest, ok := strings.CutPrefix(entry.Name(), name)
		if !ok || rest != "" && rest[0] != '_' && rest[0] != '.' {
			continue
		}
		path := filepath.Join(p.Dir, entry.Name())
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	return "", fmt.Errorf("the package of %s has no program whose name starts with %s", p.ID, name)
}

// temporaryPrefix is of directories in which packages are made.
const temporaryPrefix = ".new-"

// Install puts the package of a release in its place, instead of one that is there. The function
// makes it, at a path where nothing is.
//
// It may be called for the same package from several processes: one of the packages stays (rule
// C1).
func (d Dir) Install(id release.ID, fill func(path string) error) (_ *Package, err error) {
	if err := os.MkdirAll(d.Path, 0o755); err != nil { //nolint:gosec // as for other programs
		return nil, err
	}
	d.removeStale()
	temporary, err := os.MkdirTemp(d.Path, temporaryPrefix+"*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	fresh := filepath.Join(temporary, "package")
	if err := fill(fresh); err != nil {
		return nil, err
	}
	target := filepath.Join(d.Path, d.PackagePath(id))
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil { //nolint:gosec // as for other programs
		return nil, err
	}
	if err := os.Rename(target, filepath.Join(temporary, "old")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := os.Rename(fresh, target); err != nil && d.Package(id) == nil {
		return nil, err
	}
	return &Package{id, target}, nil
}

// Lock keeps other programs, and others in this one, from installing the package of a release at
// the same time.
//
// Errors: the cause of the end of ctx among others.
func (d Dir) Lock(ctx context.Context, id release.ID) (unlock func(), err error) {
	if err := os.MkdirAll(d.Path, 0o755); err != nil { //nolint:gosec // as for other programs
		return nil, err
	}
	sum := sha256.Sum256([]byte(d.PackagePath(id)))
	return filelock.Lock(ctx, filepath.Join(d.Path, ".lock-"+hex.EncodeToString(sum[:8])))
}

// staleTime is the age from which a temporary directory belongs to nobody who is still making a
// package.
const staleTime = 24 * time.Hour

// removeStale removes the temporary directories of programs that were killed while they made
// packages.
func (d Dir) removeStale() {
	left, err := filepath.Glob(filepath.Join(d.Path, temporaryPrefix+"*"))
	if err != nil {
		return
	}
	for _, path := range left {
		if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > staleTime {
			_ = os.RemoveAll(path) //nolint:errcheck // the next one tries again
		}
	}
}

// Link makes a package in another directory that of a release, by a link; where only administrators
// make links, by a copy.
func (d Dir) Link(id release.ID, target string) (*Package, error) {
	real, err := filepath.Abs(target)
	if err == nil {
		real, err = filepath.EvalSymlinks(real)
	}
	if err != nil {
		return nil, err
	}
	return d.Install(id, func(path string) error {
		if os.Symlink(real, path) == nil {
			return nil
		}
		return os.CopyFS(path, os.DirFS(real))
	})
}

// Remove removes the package of a release, if it is there.
func (d Dir) Remove(id release.ID) error {
	return os.RemoveAll(filepath.Join(d.Path, d.PackagePath(id)))
}
