// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package prepare

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	tfaddr "github.com/hashicorp/terraform-registry-address"

	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/install"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// lockEntry is a provider in the lock file, by its address as the engine knows it.
type lockEntry struct{ source, version string }

// lockPath is the file that says which providers are used: that of the stack, unless those are
// given.
func (p *Preparer) lockPath() string {
	if p.given {
		return p.paths.Lock
	}
	return filepath.Join(p.opts.StackDir, locks.FileName)
}

// readLock returns the content of the stack's lock file, empty if there is none.
func (p *Preparer) readLock() ([]byte, error) {
	data, err := os.ReadFile(p.lockPath())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// Locks returns the versions in the lock file of the stack, or of packages that were given.
func (p *Preparer) Locks() (map[stackaddrs.Provider]string, error) {
	data, err := p.readLock()
	if err != nil {
		return nil, err
	}
	return p.lockedVersions(data)
}

// lockEntries returns the entries of the lock file, sorted by source.
func (p *Preparer) lockEntries() ([]lockEntry, error) {
	data, err := p.readLock()
	if err != nil {
		return nil, err
	}
	return parseLock(data)
}

// parseLock returns the entries of a lock file, sorted by source.
func parseLock(data []byte) ([]lockEntry, error) {
	locked, diags := locks.Parse(data, locks.FileName)
	if diags.HasErrors() {
		return nil, fmt.Errorf("provider lock file: %w", diags)
	}
	var entries []lockEntry
	for _, lock := range locked.All() {
		entries = append(entries, lockEntry{lock.Provider.String(), lock.Version.String()})
	}
	return entries, nil
}

// lockChanges compares the versions in two lock files. The result is sorted by provider.
func (p *Preparer) lockChanges(before, after []byte) ([]engine.LockChange, error) {
	old, err := p.lockedVersions(before)
	if err != nil {
		return nil, err
	}
	fresh, err := p.lockedVersions(after)
	if err != nil {
		return nil, err
	}
	return install.Changes(old, fresh), nil
}

// lockedVersions returns the versions in a lock file.
func (p *Preparer) lockedVersions(data []byte) (map[stackaddrs.Provider]string, error) {
	entries, err := parseLock(data)
	if err != nil {
		return nil, err
	}
	versions := make(map[stackaddrs.Provider]string, len(entries))
	for _, entry := range entries {
		provider, err := p.ParseProvider(entry.source)
		if err != nil {
			return nil, err
		}
		versions[provider] = entry.version
	}
	return versions, nil
}

// providerSource returns the source argument with which the engine finds a provider.
func (p *Preparer) providerSource(provider stackaddrs.Provider) string {
	if provider.Hostname == string(tfaddr.DefaultProviderRegistryHost) {
		return provider.Namespace + "/" + provider.Type // each engine has its own default registry
	}
	return provider.String()
}

// ParseProvider parses an address in the form that the engine writes.
func (p *Preparer) ParseProvider(source string) (stackaddrs.Provider, error) {
	parts := strings.Split(source, "/")
	if len(parts) != 3 {
		return stackaddrs.Provider{}, fmt.Errorf("provider lock file: %q is not a provider address", source)
	}
	if p.opts.Info.Name == toolchain.Tofu && parts[0] == toolchain.TofuRegistry {
		parts[0] = string(tfaddr.DefaultProviderRegistryHost)
	}
	return stackaddrs.Provider{Hostname: parts[0], Namespace: parts[1], Type: parts[2]}, nil
}

// LockFor returns the lock file for a module, having checked that its providers are installed.
// Providers that are assigned to it may be needed by its state only.
//
// It is the one of the installation, which also has the checksums of packages for this platform.
func (p *Preparer) LockFor(tree *module.Tree, assigned map[engine.ProviderSlot]engine.ProviderConfig) ([]byte, hcl.Diagnostics) {
	var needed []stackaddrs.Provider
	for provider := range tree.Module.Requirements {
		if !provider.IsBuiltin() {
			needed = append(needed, provider)
		}
	}
	fromStack := false
	for _, config := range assigned {
		fromStack = fromStack || !config.Provider.IsBuiltin()
	}
	if len(needed) == 0 && !fromStack {
		return nil, nil
	}
	slices.SortFunc(needed, stackaddrs.Provider.Compare)
	available, err := p.available()
	if err != nil {
		return nil, hcl.Diagnostics{failure.Of("Unreadable provider lock file", err)}
	}
	for _, provider := range needed {
		if !available[provider] {
			return nil, hcl.Diagnostics{{
				Severity: hcl.DiagError,
				Summary:  "Provider not installed",
				Detail:   fmt.Sprintf("Provider %s is not installed. Run cairn init.", provider),
			}}
		}
	}
	lock, err := p.InstalledLock()
	if err != nil && !errors.Is(err, os.ErrNotExist) { // providers in development are not locked
		return nil, hcl.Diagnostics{failure.Of("Unreadable provider lock file", err)}
	}
	return lock, nil
}

// InstalledLock returns the lock file of the installation.
//
// Errors: [os.ErrNotExist] if nothing that is locked is installed.
func (p *Preparer) InstalledLock() ([]byte, error) { return os.ReadFile(p.paths.Lock) }

// available reports which providers are locked and installed.
func (p *Preparer) available() (map[stackaddrs.Provider]bool, error) {
	installed, err := p.Packages()
	if err != nil {
		return nil, err
	}
	available := map[stackaddrs.Provider]bool{}
	for _, one := range installed {
		provider, err := p.ParseProvider(one.Source())
		if err != nil {
			return nil, err
		}
		available[provider] = true
	}
	return available, nil
}
