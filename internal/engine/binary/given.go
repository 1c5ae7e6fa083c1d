// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

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
	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// useGiven makes an installation of packages that are there already, by links to them. Where that was done before, it does nothing.
func (e *Session) useGiven(ctx context.Context, packages []engine.ProviderPackage) error {
	e.installation.given = true
	lock, err := e.lockOf(packages)
	if err != nil {
		return err
	}
	given := &sharedInstallation{lock: lock}
	for _, p := range packages {
		path := filepath.Join(filepath.FromSlash(e.lockedSource(p.Provider)), p.Version, runtime.GOOS+"_"+runtime.GOARCH)
		dir, err := filepath.Abs(p.Dir)
		if err != nil {
			return fmt.Errorf("package of %s: %w", p.Provider, err)
		}
		given.packages = append(given.packages, installedProvider{path, dir})
	}
	if e.isGiven(given) {
		return nil
	}
	unlock, err := e.lockInstallation(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if e.isGiven(given) { // by another session, meanwhile
		return nil
	}
	return e.adopt(ctx, []byte("{}"), given)
}

// isGiven reports whether an installation is of just these packages. Its lock file is the last that was written of it.
func (e *Session) isGiven(want *sharedInstallation) bool {
	lock, err := os.ReadFile(e.installation.lock)
	isNone := errors.Is(err, os.ErrNotExist) && len(want.lock) == 0
	if err != nil && !isNone || !bytes.Equal(lock, want.lock) {
		return false
	}
	return !slices.ContainsFunc(want.packages, func(p installedProvider) bool {
		target, err := os.Readlink(filepath.Join(e.installation.providers, p.path))
		return err != nil || target != p.target
	})
}

// lockOf returns the lock file that has just these packages, as the engine names them.
func (e *Session) lockOf(packages []engine.ProviderPackage) ([]byte, error) {
	var selected locks.Locks
	for _, p := range packages {
		provider, err := locks.ParseProvider(e.lockedSource(p.Provider))
		if err != nil {
			return nil, err
		}
		version, err := versions.ParseVersion(p.Version)
		if err != nil {
			return nil, fmt.Errorf("version of %s: %w", p.Provider, err)
		}
		lock := locks.Lock{Provider: provider, Version: version}
		for _, hash := range p.Hashes {
			lock.Hashes = append(lock.Hashes, release.Hash(hash))
		}
		selected.Set(lock)
	}
	return locks.Format(&selected), nil
}

// lockedSource is the address that the engine has for a provider in lock files and directories: the reverse of parseProvider.
func (e *Session) lockedSource(provider stackaddrs.Provider) string {
	if e.info.Name == toolchain.Tofu && provider.Hostname == string(tfaddr.DefaultProviderRegistryHost) {
		return strings.Join([]string{toolchain.TofuRegistry, provider.Namespace, provider.Type}, "/")
	}
	return provider.String()
}
