// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package install

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/engine/toolchain/cliconfig"
	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/internal/providers/packagecache"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/providers/selection"
	"github.com/cairnstacks/cairn/internal/providers/source"
	"github.com/cairnstacks/cairn/internal/registry"
	"github.com/cairnstacks/cairn/internal/safefile"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Options are the parameters of [New].
type Options struct {
	StackDir string // absolute
	WorkDir  string // absolute; made when needed
	Dir      *Dir   // where somebody else has installed; nil stands for the place in WorkDir
	Environ  []string
	Modules  *module.Loader
	Engine   string // name: tofu has other settings, and another registry

	// Unsupported returns the errors about a module, with those that it calls, that the engine cannot
	// do. May be nil.
	Unsupported func(dir string) hcl.Diagnostics

	// Unmanaged reports whether somebody else has started a provider. May be nil.
	Unmanaged func(stackaddrs.Provider) bool

	Hashes     *Hashes
	Registries *registry.Client  // nil stands for those of the environment
	Working    func(what string) // may be nil
	Fetching   selection.Observer
	Fetched    *selection.Shared // may be nil
}

// Installer is an [engine.Preparer]. Made by [New]. Safe for concurrent use.
type Installer struct {
	opts   Options
	dir    Dir
	config func() (*cliconfig.Installation, error)

	mu struct {
		sync.Mutex
		locked   *locks.Locks                     // of the stack, or of packages that are given; nil until somebody asks
		given    map[stackaddrs.Provider]string   // directories of packages that are all that there are; nil for none
		supplied []stackaddrs.Provider            // those that Prepare was told of
		programs map[stackaddrs.Provider]*Program // that were checked
		hashes   map[string]string                // of all packages, by path; nil until somebody asks
		done     bool                             // Prepare has succeeded
	}
}

var _ engine.Preparer = (*Installer)(nil)

// New returns a preparer that has looked at nothing yet.
func New(opts Options) *Installer {
	if opts.Working == nil {
		opts.Working = func(string) {}
	}
	if opts.Unmanaged == nil {
		opts.Unmanaged = func(stackaddrs.Provider) bool { return false }
	}
	if opts.Hashes == nil {
		opts.Hashes = &Hashes{}
	}
	i := &Installer{opts: opts, dir: In(opts.WorkDir)}
	if opts.Dir != nil {
		i.dir = *opts.Dir
	}
	i.config = sync.OnceValues(func() (*cliconfig.Installation, error) {
		return cliconfig.ReadInstallation(opts.Environ, opts.StackDir, opts.Engine)
	})
	i.mu.programs = map[stackaddrs.Provider]*Program{}
	return i
}

// address returns the address by which a provider is installed and locked; all but the results of
// exported functions have that one.
func (i *Installer) address(provider stackaddrs.Provider) stackaddrs.Provider {
	return toolchain.InstalledAddress(i.opts.Engine, provider)
}

// stackAddress is the reverse of address.
func (i *Installer) stackAddress(provider stackaddrs.Provider) stackaddrs.Provider {
	return toolchain.StackAddress(i.opts.Engine, provider)
}

// Unsupported implements [engine.Preparer].
func (i *Installer) Unsupported(_ context.Context, dirs []string) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, dir := range dirs {
		tree, _ := i.opts.Modules.Load(dir) //nolint:errcheck // describing the module reports the others
		if tree != nil {
			diags = diags.Extend(tree.Unsupported)
		}
		if i.opts.Unsupported != nil && (tree == nil || len(tree.Unsupported) == 0) {
			diags = diags.Extend(i.opts.Unsupported(dir))
		}
	}
	return diags
}

// Prepare implements [engine.Preparer].
//
// Entries of the lock file that nothing requires are removed from it, as init of terraform does.
// Providers in development, and those that somebody else has started, are not installed and not
// locked; entries of them stay.
func (i *Installer) Prepare(ctx context.Context, req *engine.PrepareRequest) (*engine.PrepareResult, hcl.Diagnostics) {
	result, diags := i.satisfy(ctx, req)
	if !diags.HasErrors() {
		i.mu.Lock()
		i.mu.done = true
		i.mu.Unlock()
	}
	return result, diags
}

// IsPrepared reports whether Prepare has succeeded.
func (i *Installer) IsPrepared() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.mu.done
}

func (i *Installer) satisfy(ctx context.Context, req *engine.PrepareRequest) (*engine.PrepareResult, hcl.Diagnostics) {
	if req.InstallNothing {
		if err := i.useGiven(req.Packages); err != nil {
			return nil, hcl.Diagnostics{failure.Of("Unusable provider packages", err)}
		}
		return &engine.PrepareResult{}, nil
	}
	config, err := i.config()
	if err != nil {
		return nil, hcl.Diagnostics{failure.Of("Unusable CLI configuration", err)}
	}
	requirements := i.requirements(req)
	supplied := i.supplied(config, requirements)
	i.mu.Lock()
	i.mu.supplied = supplied
	i.mu.Unlock()
	diags := i.overridden(config, supplied)
	before, err := os.ReadFile(i.lockFile())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, diags.Append(failure.Of("Unreadable provider lock file", err))
	}
	if len(requirements) == len(supplied) && len(before) == 0 {
		i.use(&locks.Locks{}, nil)
		return &engine.PrepareResult{}, diags
	}
	if err := os.MkdirAll(i.dir.Path, 0o700); err != nil {
		return nil, diags.Append(failure.Of(summaryInstall, err))
	}
	unlock, err := i.dir.Exclusive(ctx)
	if err != nil {
		return nil, diags.Append(failure.Of(summaryInstall, err))
	}
	defer unlock()
	result, moreDiags := i.prepare(ctx, req, required{requirements, supplied}, before)
	return result, diags.Extend(moreDiags)
}

const summaryInstall = "Provider installation failed"

// requirements returns the requirements of the stack, without built-in providers.
func (i *Installer) requirements(req *engine.PrepareRequest) map[stackaddrs.Provider][]string {
	all := map[stackaddrs.Provider][]string{}
	merge := func(more map[stackaddrs.Provider][]string) {
		for provider, constraints := range more {
			if !provider.IsBuiltin() {
				address := i.address(provider)
				all[address] = append(all[address], constraints...)
			}
		}
	}
	merge(req.Requirements)
	for _, dir := range req.Modules {
		if tree, _ := i.opts.Modules.Load(dir); tree != nil { //nolint:errcheck // describing the module reports them
			merge(tree.Module.Requirements)
		}
	}
	return all
}

// required is the providers that a stack requires.
type required struct {
	requirements map[stackaddrs.Provider][]string
	supplied     []stackaddrs.Provider // those of them that need no package
}

// installed returns the requirements of providers that need packages.
func (r required) installed() map[stackaddrs.Provider][]string {
	requirements := maps.Clone(r.requirements)
	for _, provider := range r.supplied {
		delete(requirements, provider)
	}
	return requirements
}

// prepare installs, unless that was done before.
func (i *Installer) prepare(ctx context.Context, req *engine.PrepareRequest, all required,
	before []byte,
) (*engine.PrepareResult, hcl.Diagnostics) {
	locked, diags := locks.Parse(before, locks.FileName)
	if diags.HasErrors() {
		return nil, diags
	}
	wanted := record{
		Requirements: hashRequirements(all.requirements), Supplied: all.supplied, Lock: hash(before), ReadOnly: req.ReadOnlyLock,
	}
	if !req.Upgrade && i.isDone(wanted, locked) && (!req.Verify || !i.isDamaged(wanted, locked)) {
		i.use(locked, nil)
		return &engine.PrepareResult{}, nil
	}
	i.opts.Working("Installing providers")
	selected, err := i.request(all.installed(), locked, req.Upgrade).Install(ctx)
	if err != nil {
		return nil, i.notInstalled(ctx, err, req)
	}
	// Nothing was selected for these, but others who work with the stack install them.
	for _, provider := range all.supplied {
		if lock := locked.Provider(provider); lock != nil {
			selected.Set(*lock)
		}
	}
	after := before
	if changed := locks.Format(selected); string(changed) != string(locks.Format(locked)) {
		after = changed
	}
	result := &engine.PrepareResult{Locked: Changes(i.versionsOf(locked), i.versionsOf(selected))}
	if req.ReadOnlyLock && len(result.Locked) > 0 {
		return nil, hcl.Diagnostics{OutOfDate(result.Locked)}
	}
	if !req.ReadOnlyLock && string(after) != string(before) {
		if diags := WriteLock(i.lockFile(), after, result.Locked); diags.HasErrors() {
			return nil, diags
		}
	}
	if err := i.write(wanted, after); err != nil {
		return nil, hcl.Diagnostics{failure.Of(summaryInstall, err)}
	}
	i.use(selected, nil)
	return result, nil
}

// write writes a copy of the lock file, and the record of the installation.
func (i *Installer) write(done record, after []byte) error {
	if !done.ReadOnly {
		done.Lock = hash(after)
	}
	text, err := json.Marshal(done)
	return errors.Join(err, safefile.Replace(i.dir.LockFile, after, 0o600), safefile.Replace(i.recordFile(), text, 0o600))
}

func (i *Installer) lockFile() string   { return filepath.Join(i.opts.StackDir, locks.FileName) }
func (i *Installer) recordFile() string { return filepath.Join(i.dir.Path, "installed.json") }

// record is the record of an installation, kept so that it is not repeated.
type record struct {
	Requirements string                `json:"requirements"` // hash
	Supplied     []stackaddrs.Provider `json:"supplied,omitempty"`
	Lock         string                `json:"lock"` // hash of the stack's lock file
	ReadOnly     bool                  `json:"read_only,omitempty"`
}

// isDone reports whether the wanted installation was done, and is still there.
func (i *Installer) isDone(wanted record, locked *locks.Locks) bool {
	var done record
	text, err := os.ReadFile(i.recordFile())
	if err != nil || json.Unmarshal(text, &done) != nil || done.Requirements != wanted.Requirements || done.Lock != wanted.Lock ||
		!slices.Equal(done.Supplied, wanted.Supplied) {
		return false
	}
	if done.ReadOnly && !wanted.ReadOnly { // checksums may be missing
		return false
	}
	return !slices.ContainsFunc(locked.All(), func(lock *locks.Lock) bool {
		return !slices.Contains(wanted.Supplied, lock.Provider) && i.packages().Package(lock.ID()) == nil
	})
}

// isDamaged reports whether an installed package is not the locked one any more. It reads all of
// them.
func (i *Installer) isDamaged(wanted record, locked *locks.Locks) bool {
	return slices.ContainsFunc(locked.All(), func(lock *locks.Lock) bool {
		if slices.Contains(wanted.Supplied, lock.Provider) {
			return false
		}
		lock = i.dir.Lock(lock)
		found := i.packages().Package(lock.ID())
		return found == nil || found.Check(lock.Hashes) != nil
	})
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func hashRequirements(requirements map[stackaddrs.Provider][]string) string {
	var lines []string
	for provider, constraints := range requirements {
		constraints = slices.Clone(constraints)
		slices.Sort(constraints)
		lines = append(lines, provider.String()+" "+strings.Join(slices.Compact(constraints), ", "))
	}
	slices.Sort(lines)
	return hash([]byte(strings.Join(lines, "\n")))
}

func (i *Installer) versionsOf(l *locks.Locks) map[stackaddrs.Provider]string {
	versions := map[stackaddrs.Provider]string{}
	for _, lock := range l.All() {
		versions[i.stackAddress(lock.Provider)] = lock.Version.String()
	}
	return versions
}

func (i *Installer) packages() packagecache.Dir {
	return packagecache.Dir{Path: i.dir.Providers, Platform: release.CurrentPlatform}
}

// request returns the request to install the packages of requirements from their sources.
func (i *Installer) request(requirements map[stackaddrs.Provider][]string, locked *locks.Locks, upgrade bool) *selection.Request {
	config, _ := i.config() //nolint:errcheck // Prepare has reported it
	req := &selection.Request{
		Requirements: requirements, Locks: locked, Upgrade: upgrade, Dir: i.packages(), Sources: i.sources(config),
		Unlocked: config.CacheUnlocked,
		Observe:  i.opts.Fetching, Shared: i.opts.Fetched, Hash: i.opts.Hashes.content,
	}
	if config.CacheDir != "" {
		req.Cache = &packagecache.Dir{Path: config.CacheDir, Platform: release.CurrentPlatform}
	}
	return req
}

// sources returns where the packages of a provider come from.
func (i *Installer) sources(config *cliconfig.Installation) func(stackaddrs.Provider) source.Source {
	client := i.opts.Registries
	if client == nil {
		env := i.opts.Environ
		if i.opts.Engine == toolchain.Tofu {
			env = cliconfig.ForTofu(env)
		}
		client = registry.New(registry.NewHTTPClient(), env)
	}
	return func(provider stackaddrs.Provider) source.Source {
		var sources source.Several
		for _, method := range config.Methods {
			if !method.Allows(provider) {
				continue
			}
			if !config.Explicit && method.Directory != "" && !has(method.Directory, provider) {
				continue
			}
			one, err := i.newSource(method, client)
			if err != nil {
				return broken{err}
			}
			sources = append(sources, one)
		}
		return withoutRegistry(config, sources)
	}
}

// withoutRegistry leaves out the registries if a directory that is looked into without being
// configured has the provider.
func withoutRegistry(config *cliconfig.Installation, sources source.Several) source.Several {
	if config.Explicit || len(sources) < 2 {
		return sources
	}
	return slices.DeleteFunc(sources, func(s source.Source) bool {
		_, isRegistry := s.(source.Registry)
		return isRegistry
	})
}

// has reports whether a directory has packages of a provider.
func has(dir string, provider stackaddrs.Provider) bool {
	info, err := os.Stat(filepath.Join(dir, provider.Hostname, provider.Namespace, provider.Type))
	return err == nil && info.IsDir()
}

func (i *Installer) newSource(method cliconfig.Method, client *registry.Client) (source.Source, error) {
	switch {
	case method.Directory != "":
		return source.Directory{Path: method.Directory}, nil
	case method.Network != "":
		return source.NewNetwork(client, method.Network)
	default:
		return source.Registry{Client: client, Keyless: i.keyless()}, nil
	}
}

// keyless is the registry whose packages need no signature if it knows no key of their publisher;
// "" for none. Tofu allows that to its own, unless its user forbids it.
func (i *Installer) keyless() string {
	if i.opts.Engine != toolchain.Tofu || environ.Get(i.opts.Environ, "OPENTOFU_ENFORCE_GPG_VALIDATION") == "true" {
		return ""
	}
	return toolchain.TofuRegistry
}

// broken is a source that cannot be used.
type broken struct{ err error }

func (b broken) Versions(context.Context, stackaddrs.Provider) (*source.Available, error) {
	return nil, b.err
}

func (b broken) Package(context.Context, release.ID, release.Platform) (*source.Package, error) {
	return nil, b.err
}

// notInstalled returns the diagnostics for the errors of an installation, each where the stack
// requires the provider.
func (i *Installer) notInstalled(ctx context.Context, err error, req *engine.PrepareRequest) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, one := range selection.Errors(err) {
		diag := failure.Of(summaryInstall, one)
		where := "in required_providers of the module"
		if failure, ok := errors.AsType[*selection.Error](one); ok {
			if at, known := req.Ranges[i.stackAddress(failure.Provider)]; known {
				diag.Subject, where = at.Ptr(), "here"
			}
		}
		if ctx.Err() == nil {
			advise(diag, one, where)
		}
		diags = diags.Append(diag)
	}
	return diags
}

// Locks implements [engine.Preparer].
func (i *Installer) Locks(context.Context) (map[stackaddrs.Provider]string, error) {
	locked, err := i.locked()
	if err != nil {
		return nil, err
	}
	versions := i.versionsOf(locked)
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, provider := range i.mu.supplied {
		versions[i.stackAddress(provider)] = ""
	}
	return versions, nil
}

// locked returns the locks of the stack.
func (i *Installer) locked() (*locks.Locks, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.mu.locked != nil {
		return i.mu.locked, nil
	}
	text, err := os.ReadFile(i.lockFile())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	locked, diags := locks.Parse(text, locks.FileName)
	if diags.HasErrors() {
		return nil, fmt.Errorf("provider lock file: %w", diags)
	}
	i.mu.locked = locked
	return locked, nil
}
