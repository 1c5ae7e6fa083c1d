// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-slug/sourceaddrs"

	"github.com/cairnstacks/cairn/internal/registry"
	"github.com/cairnstacks/cairn/internal/tempdir"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// FetcherOptions are the parameters of [NewFetcher].
type FetcherOptions struct {
	Options

	// Upgrade chooses versions, and commits of branches and tags, anew.
	Upgrade bool

	// Started is called when a package is going to be fetched; possibly from several goroutines. May
	// be nil.
	Started func(name string)

	// Shared has the packages that fetchers for several stacks share. Nil shares nothing.
	Shared *Shared
}

// Fetcher fetches packages when sources in them are resolved. The caller resolves all sources of a
// configuration, again as long as [Fetcher.Again] says so, and then saves the choices, or keeps the
// fetched packages.
//
// It is safe for concurrent use but for Again, Save and Keep.
type Fetcher struct {
	paths    paths
	opts     FetcherOptions
	client   *http.Client
	git      *gitFetcher
	registry *registryClient

	locked   map[packageID]lockedPackage    // the content of the lock file
	listed   []preparedPackage              // the packages in the directory at the beginning
	prepared map[packageID]*preparedPackage // the same, by package
	pinned   map[packageID][]string         // versions that are chosen from in this pass, by package without version

	mu struct {
		sync.Mutex
		results map[packageID]*fetched
		used    map[packageID]bool // in this pass
	}
}

// fetched is the outcome for one package.
type fetched struct {
	once sync.Once
	pkg  *preparedPackage
	err  error
}

// NewFetcher returns a fetcher that knows the locked and the prepared packages.
//
// Errors: the lock file or the directory cannot be used.
func NewFetcher(opts FetcherOptions) (*Fetcher, error) {
	if opts.Environ == nil {
		opts.Environ = os.Environ()
	}
	client := opts.Client
	if client == nil {
		client = registry.NewHTTPClient()
	}
	f := &Fetcher{
		paths:    newPaths(opts.Options),
		opts:     opts,
		client:   client,
		git:      &gitFetcher{opts.Environ},
		registry: newRegistryClient(client, opts.Environ),
		prepared: map[packageID]*preparedPackage{},
		pinned:   map[packageID][]string{},
	}
	f.mu.results = map[packageID]*fetched{}
	f.mu.used = map[packageID]bool{}
	var err error
	if f.locked, err = readLockFile(f.paths.lockFile); err != nil {
		return nil, err
	}
	if f.listed, err = readManifest(f.paths.dir); err != nil {
		return nil, err
	}
	for i := range f.listed {
		f.prepared[f.listed[i].packageID] = &f.listed[i]
	}
	if !opts.Upgrade {
		f.pin(maps.Keys(f.locked))
	}
	return f, nil
}

// pin makes versions those that are chosen from.
func (f *Fetcher) pin(ids func(yield func(packageID) bool)) {
	for id := range ids {
		if id.Kind == remoteKind {
			continue
		}
		text := id.Version
		id.Version = ""
		if !slices.Contains(f.pinned[id], text) {
			f.pinned[id] = append(f.pinned[id], text)
		}
	}
}

// Prefetch fetches at the same time the packages that the lock file has and the directory lacks. A
// failure is reported when a source in the package is resolved.
func (f *Fetcher) Prefetch(ctx context.Context) {
	if f.opts.Upgrade {
		return
	}
	var wait sync.WaitGroup
	limiter := make(chan struct{}, 4)
	for _, id := range slices.SortedFunc(maps.Keys(f.locked), comparePackages) {
		limiter <- struct{}{}
		wait.Go(func() {
			defer func() { <-limiter }()
			_, _ = f.fetch(ctx, id) //nolint:errcheck // see above
		})
	}
	wait.Wait()
}

// Resolver returns a resolver that fetches missing packages. It ends with the context.
func (f *Fetcher) Resolver(ctx context.Context) stackconfig.Resolver { return &fetching{f, ctx} }

// fetching binds a fetcher to the operation that it works for: loading knows no contexts.
type fetching struct {
	*Fetcher
	ctx context.Context //nolint:containedctx // see above
}

// Resolve implements [stackconfig.Resolver].
func (f *fetching) Resolve(source sourceaddrs.Source, constraint string) (stackconfig.Resolved, error) {
	id, below := splitSource(source)
	if id.Kind != remoteKind {
		var err error
		if id.Version, err = f.choose(f.ctx, id, constraint); err != nil {
			return stackconfig.Resolved{}, err
		}
	}
	pkg, err := f.fetch(f.ctx, id)
	if err != nil {
		return stackconfig.Resolved{}, err
	}
	f.mu.Lock()
	f.mu.used[id] = true
	f.mu.Unlock()
	return f.paths.resolved(pkg, below), nil
}

// Locate implements [stackconfig.Resolver].
func (f *Fetcher) Locate(path string) (stackconfig.Place, bool) {
	return f.paths.locate(path, func(dir string) *preparedPackage {
		f.mu.Lock()
		defer f.mu.Unlock()
		for id := range f.mu.used {
			if pkg := f.mu.results[id].pkg; pkg.Dir == dir {
				return pkg
			}
		}
		return nil
	})
}

// Path is [Bundle.Path] for the packages of a fetcher.
func (f *Fetcher) Path(address string) (path string, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.paths.path(address, func(yield func(*preparedPackage) bool) {
		for id := range f.mu.used {
			if !yield(f.mu.results[id].pkg) {
				return
			}
		}
	})
}

// choose returns the version of a registry package that a constraint stands for (rule B2).
func (f *Fetcher) choose(ctx context.Context, id packageID, constraint string) (string, error) {
	chosen, err := newest(f.pinned[id], constraint)
	if chosen != "" || err != nil {
		return chosen, err
	}
	versions, err := f.registry.Versions(ctx, id)
	if err != nil {
		return "", err
	}
	if chosen, err = newest(versions, constraint); err != nil {
		return "", err
	}
	if chosen == "" {
		return "", noVersion(id, constraint, versions)
	}
	return chosen, nil
}

func noVersion(id packageID, constraint string, versions []string) error {
	if len(versions) == 0 {
		return fmt.Errorf("the registry has no version of %s", id)
	}
	slices.SortFunc(versions, func(a, b string) int { return compareVersions(b, a) })
	some, more := versions, ""
	if len(versions) > 5 {
		some, more = versions[:5], " and older ones"
	}
	return fmt.Errorf("no version of %s satisfies the constraint %q; the registry has %s%s", id, constraint, strings.Join(some, ", "), more)
}

// fetch returns a package, fetched if need be.
func (f *Fetcher) fetch(ctx context.Context, id packageID) (*preparedPackage, error) {
	f.mu.Lock()
	result := f.mu.results[id]
	if result == nil {
		result = &fetched{}
		f.mu.results[id] = result
	}
	f.mu.Unlock()
	result.once.Do(func() {
		if result.pkg = f.usable(id); result.pkg == nil {
			result.pkg, result.err = f.obtain(ctx, f.wanted(id))
		}
	})
	return result.pkg, result.err
}

// usable returns a package from the directory, or nil if it must be fetched. Versions in registries
// don't change.
func (f *Fetcher) usable(id packageID) *preparedPackage {
	pkg := f.prepared[id]
	if pkg == nil || f.locked[id].Hash != pkg.Hash || (f.opts.Upgrade && id.Kind == remoteKind) {
		return nil
	}
	return pkg
}

// wanted returns the properties that a package to fetch must have.
func (f *Fetcher) wanted(id packageID) lockedPackage {
	if locked, ok := f.locked[id]; ok && !f.opts.Upgrade {
		return locked
	}
	return lockedPackage{packageID: id}
}

// fetchNew fetches a package and puts it into the directory. It must have the locked content.
func (f *Fetcher) fetchNew(ctx context.Context, locked lockedPackage) (*preparedPackage, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	if f.opts.Started != nil {
		f.opts.Started(locked.packageID.String())
	}
	pkg := &preparedPackage{lockedPackage: lockedPackage{packageID: locked.packageID}}
	err := f.inTemporary(func(dir string) error {
		err := f.download(ctx, pkg, locked.Commit, dir)
		if err != nil {
			return err
		}
		if pkg.Hash, err = hashDirectory(dir); err != nil {
			return err
		}
		if locked.Hash != "" && locked.Hash != pkg.Hash {
			return fmt.Errorf("%w: the files of %s are others than when %s was written", stackconfig.ErrLocked, locked.packageID, LockFileName)
		}
		pkg.Dir = dirName(pkg.packageID, pkg.Hash)
		return f.place(dir, pkg.Dir)
	})
	if err != nil {
		return nil, err
	}
	return pkg, nil
}

// inTemporary calls a function with a new directory, next to those of packages, and removes its
// remains.
func (f *Fetcher) inTemporary(use func(dir string) error) (err error) {
	if err := os.MkdirAll(f.paths.dir, 0o700); err != nil {
		return fmt.Errorf("the directory for source packages cannot be used: %w", err)
	}
	temporary, err := tempdir.Kind{Parent: f.paths.dir, Prefix: ".new-"}.Replace()
	if err != nil {
		return fmt.Errorf("the directory for source packages cannot be used: %w", err)
	}
	defer func() { err = errors.Join(err, temporary.Remove()) }()
	dir := filepath.Join(temporary.Path, "package")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("the directory for source packages cannot be used: %w", err)
	}
	return use(dir)
}

// place makes a directory with a package the one with a name, unless there is one already: it has
// the same files.
func (f *Fetcher) place(temporary, name string) error {
	target := filepath.Join(f.paths.dir, name)
	if err := os.Chmod(temporary, 0o755); err != nil { //nolint:gosec // as for other modules; the directory above is private
		return err
	}
	if hash, err := hashDirectory(target); err == nil {
		if fresh, err := hashDirectory(temporary); err == nil && fresh == hash {
			return nil
		}
		if err := os.RemoveAll(target); err != nil { // somebody has changed it
			return err
		}
	}
	return os.Rename(temporary, target)
}

// download puts the files of a package into a directory and completes its description.
func (f *Fetcher) download(ctx context.Context, pkg *preparedPackage, commit, dir string) error {
	source, err := f.location(ctx, pkg.packageID)
	if err != nil {
		return err
	}
	location := source.Package().URL()
	if source.Package().SourceType() == "git" {
		pkg.Commit, err = f.git.fetch(ctx, location, dir, commit)
	} else {
		err = fetchArchive(ctx, f.client, location, dir, f.opts.Limits)
	}
	if err != nil {
		return err
	}
	pkg.Root, err = findRoot(dir, source.SubPath())
	return err
}

func (f *Fetcher) location(ctx context.Context, id packageID) (sourceaddrs.RemoteSource, error) {
	if id.Kind != remoteKind {
		return f.registry.Location(ctx, id)
	}
	source, err := stackconfig.ParseSource(id.Address)
	if err != nil {
		return sourceaddrs.RemoteSource{}, err
	}
	remote, ok := source.(sourceaddrs.RemoteSource)
	if !ok {
		return sourceaddrs.RemoteSource{}, fmt.Errorf("%q is not a remote address", id.Address)
	}
	return remote, nil
}

// findRoot returns the directory that a registry's entry stands for. Entries for archives whose top
// directory has an unforeseeable name have a pattern there.
func findRoot(dir, written string) (string, error) {
	if !strings.Contains(written, "*") {
		return written, nil
	}
	matches, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(written)))
	if err != nil || len(matches) != 1 {
		return "", fmt.Errorf("the registry says that the files are at %q, which is not one directory", written)
	}
	rel, err := filepath.Rel(dir, matches[0])
	return path.Clean(filepath.ToSlash(rel)), err
}

// Again reports whether all sources must be resolved once more: a version was fetched that other
// constraints allow, too.
func (f *Fetcher) Again() bool {
	count := func() (n int) {
		for _, versions := range f.pinned {
			n += len(versions)
		}
		return n
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	before := count()
	f.pin(maps.Keys(f.mu.used))
	if count() == before {
		return false
	}
	f.mu.used = map[packageID]bool{}
	return true
}

// Save makes the packages in which sources were resolved since the last Again the prepared ones,
// and writes the lock file.
func (f *Fetcher) Save() error {
	var prepared []preparedPackage
	var locked []lockedPackage
	for id := range f.mu.used {
		pkg := f.mu.results[id].pkg
		prepared, locked = append(prepared, *pkg), append(locked, pkg.lockedPackage)
	}
	if len(prepared) > 0 || len(f.listed) > 0 {
		if err := writeManifest(f.paths.dir, prepared); err != nil {
			return fmt.Errorf("saving the list of source packages: %w", err)
		}
		if err := prune(f.paths.dir, f.listed, prepared, time.Now()); err != nil {
			return fmt.Errorf("removing old source packages: %w", err)
		}
	}
	return f.writeLocked(locked)
}

func (f *Fetcher) writeLocked(locked []lockedPackage) error {
	if err := writeLockFile(f.paths.lockFile, locked); err != nil {
		return fault.Error(fmt.Errorf("the lock file %s cannot be written, and lacks packages that were fetched: %w. "+
			"Have it written where that is possible, and commit it", LockFileName, err), fault.LockFileUnusable)
	}
	return nil
}

// Keep is Save where a package could not be fetched: the others are locked and prepared beside
// those from before, so that they are not fetched again. Those with mistakes, in files with these
// addresses, are not: the next attempt takes them as they are then. Of an upgrade, versions locked
// before stay beside newer ones, from which the next attempt chooses.
func (f *Fetcher) Keep(mistaken []string) error {
	prepared, locked := map[packageID]preparedPackage{}, map[packageID]lockedPackage{}
	for id, pkg := range f.prepared {
		prepared[id] = *pkg
	}
	maps.Copy(locked, f.locked)
	isNew, failed := false, false
	f.mu.Lock()
	for id, result := range f.mu.results {
		pkg := result.pkg
		switch {
		case pkg == nil:
			failed = true
		case pkg != f.prepared[id] && !slices.ContainsFunc(mistaken, func(address string) bool { _, is := pkg.pathOf(address); return is }):
			prepared[id], locked[id], isNew = *pkg, pkg.lockedPackage, true
		}
	}
	f.mu.Unlock()
	if !isNew || !failed {
		return nil
	}
	if err := writeManifest(f.paths.dir, slices.Collect(maps.Values(prepared))); err != nil {
		return fmt.Errorf("saving the list of source packages: %w", err)
	}
	return f.writeLocked(slices.Collect(maps.Values(locked)))
}

// Package is a package that was chosen.
type Package struct {
	Address string
	Version string // or empty
	Commit  string // or empty
}

// Packages returns the packages that Save saves, sorted.
func (f *Fetcher) Packages() []Package {
	ids := slices.SortedFunc(maps.Keys(f.mu.used), comparePackages)
	packages := make([]Package, len(ids))
	for i, id := range ids {
		packages[i] = Package{id.Address, id.Version, f.mu.results[id].pkg.Commit}
	}
	return packages
}
