// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"fmt"
	"iter"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/go-slug/sourceaddrs"
	"github.com/hashicorp/go-version"

	"github.com/cairnstacks/cairn/internal/unpack"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// Options are the parameters of [Open] and [NewFetcher].
type Options struct {
	StackDir string // where the lock file is
	Dir      string // where the packages are; made when needed

	// Environ is the environment for git, and where credentials are looked for; nil stands for that of
	// this program.
	Environ []string

	// Client is used for registries and archives; nil stands for one with sensible limits of time.
	Client *http.Client

	// Limits are of the contents of a package; zero values stand for defaults.
	Limits unpack.Limits
}

// Bundle finds sources among the prepared packages. It is safe for concurrent use.
type Bundle struct {
	paths paths
	load  func() (*contents, error)
}

var _ stackconfig.Resolver = (*Bundle)(nil)

// paths are the places of a bundle's files.
type paths struct{ dir, lockFile string }

func newPaths(opts Options) paths {
	absolute := func(path string) string {
		if abs, err := filepath.Abs(path); err == nil {
			path = abs
		}
		return path
	}
	stackDir := absolute(opts.StackDir)
	dir := absolute(opts.Dir)
	// Loaders know the stack by its real path.
	if realDir, err := filepath.EvalSymlinks(stackDir); err == nil {
		if rel, err := filepath.Rel(stackDir, dir); err == nil && filepath.IsLocal(rel) {
			dir = filepath.Join(realDir, rel)
		}
	}
	return paths{dir: dir, lockFile: filepath.Join(stackDir, LockFileName)}
}

// contents are the usable packages: those that are both locked and prepared.
type contents struct {
	locked   map[packageID]lockedPackage
	prepared map[packageID]*preparedPackage
	byDir    map[string]*preparedPackage
}

// Open returns a bundle. Files are read when they are needed, and once.
func Open(opts Options) *Bundle {
	b := &Bundle{paths: newPaths(opts)}
	b.load = sync.OnceValues(func() (*contents, error) {
		locked, err := readLockFile(b.paths.lockFile)
		if err != nil {
			return nil, err
		}
		packages, err := readManifest(b.paths.dir)
		if err != nil {
			return nil, err
		}
		found := &contents{locked: locked, prepared: map[packageID]*preparedPackage{}, byDir: map[string]*preparedPackage{}}
		for i := range packages {
			p := &packages[i]
			found.byDir[p.Dir] = p
			if locked[p.packageID].Hash == p.Hash {
				found.prepared[p.packageID] = p
			}
		}
		return found, nil
	})
	return b
}

// errNotFetched is of a package that can be fetched. Those of others than this bundle cannot.
var errNotFetched = fault.Error(stackconfig.ErrNotPrepared, fault.SourceNotPrepared)

// Resolve implements [stackconfig.Resolver].
func (b *Bundle) Resolve(source sourceaddrs.Source, constraint string) (stackconfig.Resolved, error) {
	found, err := b.load()
	if err != nil {
		return stackconfig.Resolved{}, err
	}
	id, below := splitSource(source)
	if id.Kind != remoteKind {
		var versions []string
		for locked := range found.locked {
			if locked.Kind == id.Kind && locked.Address == id.Address {
				versions = append(versions, locked.Version)
			}
		}
		if len(versions) == 0 {
			return stackconfig.Resolved{}, errNotFetched
		}
		if id.Version, err = newest(versions, constraint); err != nil {
			return stackconfig.Resolved{}, err
		}
		if id.Version == "" {
			return stackconfig.Resolved{}, fmt.Errorf("%w in a version that satisfies the constraint %q", errNotFetched, constraint)
		}
	}
	p := found.prepared[id]
	if p == nil {
		return stackconfig.Resolved{}, errNotFetched
	}
	return b.paths.resolved(p, below), nil
}

// resolved returns the directory for a path that a source names in a package.
func (p paths) resolved(pkg *preparedPackage, below string) stackconfig.Resolved {
	dir := filepath.Join(p.dir, pkg.Dir, filepath.FromSlash(pkg.Root), filepath.FromSlash(below))
	return stackconfig.Resolved{Dir: dir, Version: pkg.Version}
}

// Locate implements [stackconfig.Resolver].
func (b *Bundle) Locate(path string) (stackconfig.Place, bool) {
	return b.paths.locate(path, func(dir string) *preparedPackage {
		found, err := b.load()
		if err != nil {
			return nil
		}
		return found.byDir[dir]
	})
}

func (p paths) locate(path string, find func(dir string) *preparedPackage) (stackconfig.Place, bool) {
	rest, ok := strings.CutPrefix(path, p.dir+string(filepath.Separator))
	if !ok {
		return stackconfig.Place{}, false
	}
	dir, below, _ := strings.Cut(filepath.ToSlash(rest), "/")
	pkg := find(dir)
	if pkg == nil {
		return stackconfig.Place{}, false
	}
	return stackconfig.Place{Package: filepath.Join(p.dir, dir), Address: pkg.addressOf(below)}, true
}

// Path returns the file that a source address names, which must be one that Locate returned.
func (b *Bundle) Path(address string) (path string, ok bool) {
	if !strings.Contains(address, "//") {
		return "", false
	}
	found, err := b.load()
	if err != nil {
		return "", false
	}
	return b.paths.path(address, maps.Values(found.byDir))
}

func (p paths) path(address string, packages iter.Seq[*preparedPackage]) (path string, ok bool) {
	longest := -1
	for pkg := range packages {
		below, matches := pkg.pathOf(address)
		if _, suffix := pkg.affixes(); matches && len(suffix) > longest {
			longest = len(suffix)
			path = filepath.Join(p.dir, pkg.Dir, filepath.FromSlash(below))
		}
	}
	return path, longest >= 0
}

// newest returns the newest version that satisfies a constraint, or "". An empty constraint allows
// all but pre-releases.
func newest(versions []string, constraint string) (string, error) {
	if constraint == "" {
		constraint = ">= 0.0.0"
	}
	allowed, err := version.NewConstraint(constraint)
	if err != nil {
		return "", fmt.Errorf("the version constraint %q cannot be read: %w", constraint, err)
	}
	var candidates []*version.Version
	for _, text := range versions {
		if v, err := version.NewVersion(text); err == nil && allowed.Check(v) {
			candidates = append(candidates, v)
		}
	}
	if len(candidates) == 0 {
		return "", nil
	}
	return slices.MaxFunc(candidates, (*version.Version).Compare).Original(), nil
}
