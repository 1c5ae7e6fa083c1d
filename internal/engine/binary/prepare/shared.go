// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package prepare

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/binary/limiter"
	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/internal/engine/toolchain/cliconfig"
	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/install"
	"github.com/cairnstacks/cairn/internal/once"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Shared is the results that the preparers of several stacks find once in one process. The zero
// value has none yet. It is safe for concurrent use.
//
// All results are kept by the facts that they depend on, so that none becomes wrong: packages of
// providers by the names, sizes and times of their files, installations by requirements, lock file,
// environment and CLI configuration.
type Shared struct {
	hashes        install.Hashes
	installations once.Map[string, *sharedInstallation]

	caching limiter.Limiter // of those that install into a cache of the user, one at a time
}

// LockCache keeps others from installing into a cache of the user, if the environment or the CLI
// configuration names one: the engine can do that for one at a time only.
//
// Errors: the cause of the end of ctx.
func (s *Shared) LockCache(ctx context.Context, env []string) (unlock func(), err error) {
	if environ.Get(env, cliconfig.CacheVariable) == "" && !cliconfig.SharesProviders(env) {
		return func() {}, nil
	}
	s.caching.Raise(1)
	return s.caching.Acquire(ctx)
}

// sharedInstallation is the packages that init has installed for a stack, and for all others that
// would get the same.
type sharedInstallation struct {
	lock     []byte
	packages []install.Package // by their real paths
}

// installationKey returns the key of init's result, which is a hash of all that it depends on. It
// is "" if there is none, since something is relative to the directory of the stack.
func (p *Preparer) installationKey(root, lock []byte, upgrade bool) string {
	config, err := cliconfig.Read(p.opts.Binary.Environ)
	if err != nil || config.HasRelativePaths() {
		return ""
	}
	if _, err := os.Stat(filepath.Join(p.opts.StackDir, "terraform.d")); !errors.Is(err, fs.ErrNotExist) {
		return "" // there may be providers in it
	}
	parts := []string{p.opts.Binary.Path, p.opts.Info.Name, p.opts.Info.Version, strconv.FormatBool(upgrade), string(root), string(lock), config.Digest()}
	for _, entry := range runner.Environ(p.opts.Binary.Environ, nil) {
		if name, _, _ := strings.Cut(entry, "="); !slices.Contains(unitVariables, name) {
			parts = append(parts, entry)
		}
	}
	return hashOf([]byte(strings.Join(parts, "\x00")))
}

// unitVariables name the stack of a run that is worked on. They are different for each, and the
// installation does not depend on them.
var unitVariables = []string{"CAIRN_STACK", "CAIRN_DEPLOYMENT"}

// installOnce installs the requirements of a root module and returns the resulting lock file. Of
// several stacks that would get the same, one runs init, and the others use its packages.
func (p *Preparer) installOnce(ctx context.Context, root, lock []byte, req *engine.PrepareRequest) ([]byte, hcl.Diagnostics) {
	key := p.installationKey(root, lock, req.Upgrade)
	if key == "" {
		return p.runInit(ctx, root, lock, req)
	}
	var ours bool
	var diags hcl.Diagnostics
	made, err := p.opts.Shared.installations.Get(ctx, key, func() (*sharedInstallation, error) {
		ours = true
		var newLock []byte
		if newLock, diags = p.runInit(ctx, root, lock, req); diags.HasErrors() {
			return nil, diags
		}
		return p.shareInstallation(newLock)
	})
	switch {
	case diags.HasErrors():
		return nil, diags
	case err != nil:
		return nil, hcl.Diagnostics{failure.Of("Provider installation failed", err)}
	case ours:
		return made.lock, diags
	}
	if err := p.adopt(ctx, root, made); err != nil {
		p.opts.Log.InfoContext(ctx, "packages of another stack are not used", "reason", err.Error())
		return p.runInit(ctx, root, lock, req)
	}
	return made.lock, nil
}

// shareInstallation describes the packages that init has left in the directory of this stack, with
// the lock file that it has written.
func (p *Preparer) shareInstallation(lock []byte) (*sharedInstallation, error) {
	entries, err := parseLock(lock)
	if err != nil {
		return nil, err
	}
	installed, err := p.packagesOf(entries)
	if err != nil {
		return nil, err
	}
	made := &sharedInstallation{lock: lock, packages: installed}
	for i, one := range installed {
		if made.packages[i].Dir, err = filepath.EvalSymlinks(one.Dir); err != nil {
			return nil, fmt.Errorf("looking at an installed provider: %w", err)
		}
	}
	return made, nil
}

// adopt makes the installation of another stack that of this one, by links to its packages.
func (p *Preparer) adopt(ctx context.Context, root []byte, made *sharedInstallation) error {
	for _, one := range made.packages {
		link := filepath.Join(p.paths.Providers, one.Path)
		if real, err := filepath.EvalSymlinks(link); err == nil && (real == one.Dir || p.samePackage(ctx, real, one.Dir)) {
			continue
		}
		if stat, err := os.Stat(one.Dir); err != nil || !stat.IsDir() {
			return fmt.Errorf("the package %s is gone: %w", one.Dir, errors.Join(err, fs.ErrNotExist))
		}
		if err := errors.Join(os.RemoveAll(link), os.MkdirAll(filepath.Dir(link), 0o700)); err != nil {
			return err
		}
		if err := linkPackage(one.Dir, link); err != nil {
			return err
		}
	}
	return p.writeInit(root, made.lock)
}

// samePackage reports whether two packages are known to have the same content.
func (p *Preparer) samePackage(ctx context.Context, a, b string) bool {
	hash := func(dir string) string {
		fingerprint, err := install.Fingerprint(dir)
		if err != nil {
			return ""
		}
		return p.opts.Shared.hashes.Of(ctx, fingerprint, dir)
	}
	known := hash(a)
	return known != "" && known == hash(b)
}

// linkPackage makes the link to a package; where only administrators make links, a copy of it.
func linkPackage(target, link string) error {
	if err := os.Symlink(target, link); err == nil {
		return nil
	}
	return os.CopyFS(link, os.DirFS(target))
}

// dropAdopted removes links to the packages of other stacks, which init would write through.
func (p *Preparer) dropAdopted() error {
	links, err := filepath.Glob(filepath.Join(p.paths.Providers, "*", "*", "*", "*", "*"))
	inStack := string(filepath.Separator) + filepath.Join(install.DataDir, "providers") + string(filepath.Separator)
	for _, link := range links {
		if target, notLink := os.Readlink(link); notLink != nil || !strings.Contains(target, inStack) {
			continue
		}
		err = errors.Join(err, os.Remove(link))
	}
	return err
}
