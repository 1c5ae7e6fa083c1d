// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package prepare

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/apparentlymart/go-versions/versions"
	tfaddr "github.com/hashicorp/terraform-registry-address"

	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/install"
	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// useGiven makes an installation of packages that are there already, by links to them. Where that
// was done before, it does nothing.
func (p *Preparer) useGiven(ctx context.Context, packages []engine.ProviderPackage) error {
	p.given = true
	lock, err := p.lockOf(packages)
	if err != nil {
		return err
	}
	given := &sharedInstallation{lock: lock}
	for _, one := range packages {
		path := filepath.Join(filepath.FromSlash(p.lockedSource(one.Provider)), one.Version, runtime.GOOS+"_"+runtime.GOARCH)
		dir, err := filepath.Abs(one.Dir)
		if err != nil {
			return fmt.Errorf("package of %s: %w", one.Provider, err)
		}
		given.packages = append(given.packages, install.Package{Path: path, Dir: dir})
	}
	if p.isGiven(given) {
		return nil
	}
	unlock, err := p.lockInstallation(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if p.isGiven(given) { // by another session, meanwhile
		return nil
	}
	return p.adopt(ctx, []byte("{}"), given)
}

// isGiven reports whether an installation is of just these packages. Its lock file is the last that
// was written of it.
func (p *Preparer) isGiven(want *sharedInstallation) bool {
	lock, err := os.ReadFile(p.paths.Lock)
	isNone := errors.Is(err, os.ErrNotExist) && len(want.lock) == 0
	if err != nil && !isNone || !bytes.Equal(lock, want.lock) {
		return false
	}
	return !slices.ContainsFunc(want.packages, func(one install.Package) bool {
		target, err := os.Readlink(filepath.Join(p.paths.Providers, one.Path))
		return err != nil || target != one.Dir
	})
}

// lockOf returns the lock file that has just these packages, as the engine names them.
func (p *Preparer) lockOf(packages []engine.ProviderPackage) ([]byte, error) {
	var selected locks.Locks
	for _, one := range packages {
		provider, err := locks.ParseProvider(p.lockedSource(one.Provider))
		if err != nil {
			return nil, err
		}
		version, err := versions.ParseVersion(one.Version)
		if err != nil {
			return nil, fmt.Errorf("version of %s: %w", one.Provider, err)
		}
		lock := locks.Lock{Provider: provider, Version: version}
		for _, hash := range one.Hashes {
			lock.Hashes = append(lock.Hashes, release.Hash(hash))
		}
		selected.Set(lock)
	}
	return locks.Format(&selected), nil
}

// lockedSource is the address that the engine has for a provider in lock files and directories: the
// reverse of ParseProvider.
func (p *Preparer) lockedSource(provider stackaddrs.Provider) string {
	if p.opts.Info.Name == toolchain.Tofu && provider.Hostname == string(tfaddr.DefaultProviderRegistryHost) {
		return strings.Join([]string{toolchain.TofuRegistry, provider.Namespace, provider.Type}, "/")
	}
	return provider.String()
}
