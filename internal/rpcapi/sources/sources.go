// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package sources finds the sources of a stack in an unpacked source bundle, and gives its files
// the names by which clients of the RPC API know them: their source addresses.
//
// Rules:
//
//   - S1. A package that was reached through a registry has the address that it has there, with its
//     version; by others, its own. If both lead to a directory, the one counts that was found
//     first.
//   - S2. Of the versions in the bundle that satisfy a constraint, the newest is used.
//   - S3. Sources outside of the bundle are not available: nothing is fetched.
package sources

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/apparentlymart/go-versions/versions"
	"github.com/hashicorp/go-slug/sourceaddrs"
	"github.com/hashicorp/go-slug/sourcebundle"
	"github.com/hashicorp/go-version"

	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Resolver finds the sources of one stack. It is safe for concurrent use.
type Resolver struct {
	bundle   *sourcebundle.Bundle
	root     sourceaddrs.FinalSource
	dir      string
	packages []remotePackage

	mu     sync.Mutex
	mounts []mount // longest directory first
}

var _ stackconfig.Resolver = (*Resolver)(nil)

// remotePackage is a package of the bundle. Directories are absolute, and without symbolic links.
type remotePackage struct {
	addr sourceaddrs.RemotePackage
	dir  string
}

// mount is a directory that was reached through a registry.
type mount struct {
	dir  string
	addr sourceaddrs.FinalSource
	pkg  string // the directory of the package that it is in
}

// New returns a resolver for the stack at a source, whose directory the caller has found in the
// bundle or, for a local source, elsewhere.
func New(bundle *sourcebundle.Bundle, root sourceaddrs.FinalSource, dir string) (*Resolver, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	r := &Resolver{bundle: bundle, root: root, dir: realPath(abs)}
	for _, addr := range bundle.RemotePackages() { // sorted
		dir, err := bundle.LocalPathForRemoteSource(addr.SourceAddr(""))
		if err != nil {
			return nil, err
		}
		r.packages = append(r.packages, remotePackage{addr, realPath(dir)})
	}
	slices.SortStableFunc(r.packages, func(a, b remotePackage) int { return cmp.Compare(len(a.addr.String()), len(b.addr.String())) })
	return r, r.mountRoot()
}

// realPath resolves symbolic links as far as there are files. Loaders know stacks by their real
// paths.
func realPath(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	return path
}

// mountRoot lets the root stack have the address of a registry if it was reached through one.
func (r *Resolver) mountRoot() error {
	switch root := r.root.(type) {
	case sourceaddrs.RegistrySourceFinal:
		_, err := r.mountVersion(root.Unversioned(), root.SelectedVersion())
		return err
	case sourceaddrs.ComponentSourceFinal:
		_, err := r.mountVersion(root.Unversioned(), root.SelectedVersion())
		return err
	}
	return nil
}

// Dir returns the directory of the root stack.
func (r *Resolver) Dir() string { return r.dir }

// Root returns the source of the root stack.
func (r *Resolver) Root() sourceaddrs.FinalSource { return r.root }

// Resolve implements [stackconfig.Resolver].
func (r *Resolver) Resolve(source sourceaddrs.Source, constraint string) (stackconfig.Resolved, error) {
	if remote, ok := source.(sourceaddrs.RemoteSource); ok {
		dir, err := r.remote(remote)
		return stackconfig.Resolved{Dir: dir}, err
	}
	selected, err := r.Select(source, constraint)
	if err != nil {
		return stackconfig.Resolved{}, err
	}
	dir, err := r.mountVersion(source, selected)
	return stackconfig.Resolved{Dir: dir, Version: selected.String()}, err
}

// errMissing is the error for a source that is not in the bundle.
func errMissing(what string) error {
	return fmt.Errorf("%w: the source bundle does not have %s", stackconfig.ErrNotPrepared, what)
}

func (r *Resolver) remote(source sourceaddrs.RemoteSource) (string, error) {
	for _, p := range r.packages {
		if p.addr == source.Package() {
			return filepath.Join(p.dir, filepath.FromSlash(source.SubPath())), nil
		}
	}
	return "", errMissing(source.Package().String())
}

// Select returns the version of a registry source that is used.
func (r *Resolver) Select(source sourceaddrs.Source, constraint string) (versions.Version, error) {
	var available versions.List
	switch source := source.(type) {
	case sourceaddrs.RegistrySource:
		available = r.bundle.RegistryPackageVersions(source.Package())
	case sourceaddrs.ComponentSource:
		available = r.bundle.ComponentPackageVersions(source.Package())
	}
	if len(available) == 0 {
		return versions.Version{}, errMissing(source.String())
	}
	allowed, err := version.NewConstraint(cmp.Or(constraint, ">= 0.0.0"))
	if err != nil {
		return versions.Version{}, fmt.Errorf("the version constraint %q cannot be read: %w", constraint, err)
	}
	for _, candidate := range slices.Backward(available) {
		if v, err := version.NewVersion(candidate.String()); err == nil && allowed.Check(v) {
			return candidate, nil
		}
	}
	return versions.Version{}, errMissing(fmt.Sprintf("a version of %s that satisfies %q", source, constraint))
}

// mountVersion returns the directory of a source of a registry, and remembers by which address it
// was reached.
func (r *Resolver) mountVersion(source sourceaddrs.Source, selected versions.Version) (string, error) {
	var base sourceaddrs.RemoteSource
	var ok bool
	var final sourceaddrs.FinalSource
	var below string
	switch source := source.(type) {
	case sourceaddrs.RegistrySource:
		base, ok = r.bundle.RegistryPackageSourceAddr(source.Package(), selected)
		final, below = source.Versioned(selected), source.SubPath()
	case sourceaddrs.ComponentSource:
		base, ok = r.bundle.ComponentPackageSourceAddr(source.Package(), selected)
		final, below = source.Versioned(selected), source.SubPath()
	}
	if !ok {
		return "", errMissing(fmt.Sprintf("version %s of %s", selected, source))
	}
	dir, err := r.remote(base)
	if err != nil {
		return "", err
	}
	pkg, err := r.remote(base.Package().SourceAddr(""))
	if err != nil {
		return "", err
	}
	r.mount(mount{dir: dir, addr: withoutPath(final, below), pkg: pkg})
	return filepath.Join(dir, filepath.FromSlash(below)), nil
}

// withoutPath returns the address of the package that a source of a registry is in.
func withoutPath(final sourceaddrs.FinalSource, below string) sourceaddrs.FinalSource {
	if below == "" {
		return final
	}
	parsed, err := sourceaddrs.ParseFinalSource(strings.TrimSuffix(final.String(), "//"+below))
	if err != nil {
		return final
	}
	return parsed
}

func (r *Resolver) mount(added mount) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.ContainsFunc(r.mounts, func(m mount) bool { return m.dir == added.dir }) {
		return
	}
	r.mounts = append(r.mounts, added)
	slices.SortStableFunc(r.mounts, func(a, b mount) int { return cmp.Compare(len(b.dir), len(a.dir)) })
}

// Locate implements [stackconfig.Resolver].
func (r *Resolver) Locate(file string) (stackconfig.Place, bool) {
	r.mu.Lock()
	mounts := slices.Clone(r.mounts)
	r.mu.Unlock()
	for _, m := range mounts {
		if below, ok := pathBelow(m.dir, file); ok {
			return stackconfig.Place{Package: m.pkg, Address: addressBelow(m.addr.String(), below)}, true
		}
	}
	for _, p := range r.packages {
		if below, ok := pathBelow(p.dir, file); ok {
			return stackconfig.Place{Package: p.dir, Address: p.addr.SourceAddr(below).String()}, true
		}
	}
	return stackconfig.Place{}, false
}

func addressBelow(address, below string) string {
	if below == "" {
		return address
	}
	return address + "//" + below
}

// pathBelow returns a path relative to a directory that it is in, with slashes; empty for the
// directory itself.
func pathBelow(dir, file string) (string, bool) {
	if file == dir {
		return "", true
	}
	rest, ok := strings.CutPrefix(file, dir+string(filepath.Separator))
	return filepath.ToSlash(rest), ok
}

// Path returns the file that an address from Locate names.
func (r *Resolver) Path(address string) (string, bool) {
	source, err := sourceaddrs.ParseFinalSource(address)
	if err != nil {
		return "", false
	}
	if _, local := source.(sourceaddrs.LocalSource); local {
		return "", false
	}
	file, err := r.bundle.LocalPathForSource(source)
	return file, err == nil
}

// Name returns the name under which clients know a file in a diagnostic: its source address. A text
// that names no file is left as it is. Files of a stack with a local source are named relative to
// its directory until then.
func (r *Resolver) Name(file string) string {
	local, ok := r.root.(sourceaddrs.LocalSource)
	if !ok || strings.Contains(file, "//") || path.IsAbs(file) {
		return file
	}
	if _, err := os.Lstat(filepath.Join(r.dir, filepath.FromSlash(file))); file == "" || err != nil {
		return file
	}
	joined := path.Join(local.RelativePath(), file)
	if !strings.HasPrefix(joined, "../") {
		joined = "./" + joined
	}
	return joined
}

// Follow returns the final address of a source that is written in the stack at another one. It
// fails if the source could not be loaded.
func (r *Resolver) Follow(caller sourceaddrs.FinalSource, written stackconfig.Source) (sourceaddrs.FinalSource, error) {
	parsed, err := stackconfig.ParseSource(written.Written)
	if err != nil {
		return nil, err
	}
	var final sourceaddrs.FinalSource
	switch parsed := parsed.(type) {
	case sourceaddrs.RegistrySource:
		selected, err := r.Select(parsed, written.Version)
		if err != nil {
			return nil, err
		}
		final = parsed.Versioned(selected)
	case sourceaddrs.ComponentSource:
		selected, err := r.Select(parsed, written.Version)
		if err != nil {
			return nil, err
		}
		final = parsed.Versioned(selected)
	case sourceaddrs.RemoteSource:
		final = parsed
	case sourceaddrs.LocalSource:
		final = parsed
	}
	return sourceaddrs.ResolveRelativeFinalSource(caller, final)
}
