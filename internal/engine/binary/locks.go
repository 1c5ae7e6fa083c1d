// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	tfaddr "github.com/hashicorp/terraform-registry-address"

	"github.com/cairnstacks/cairn/internal/engine/binary/workcopy"
	"github.com/cairnstacks/cairn/internal/engine/installation"
	"github.com/cairnstacks/cairn/internal/engine/module"
	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

const lockFileName = workcopy.LockFile

// lockEntry is a provider in the lock file, by its address as the engine knows it.
type lockEntry struct{ source, version string }

// lockPath is the file that says which providers are used: that of the stack, unless those are given.
func (e *Session) lockPath() string {
	if e.installation.given {
		return e.installation.lock
	}
	return filepath.Join(e.stackDir, lockFileName)
}

// readLock returns the content of the stack's lock file, empty if there is none.
func (e *Session) readLock() ([]byte, error) {
	data, err := os.ReadFile(e.lockPath())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// Locks implements [engine.Preparer].
func (e *Session) Locks(context.Context) (map[stackaddrs.Provider]string, error) {
	data, err := e.readLock()
	if err != nil {
		return nil, err
	}
	return e.lockedVersions(data)
}

// lockEntries returns the entries of the lock file, sorted by source.
func (e *Session) lockEntries() ([]lockEntry, error) {
	data, err := e.readLock()
	if err != nil {
		return nil, err
	}
	return parseLock(data)
}

// parseLock returns the entries of a lock file, sorted by source.
func parseLock(data []byte) ([]lockEntry, error) {
	locked, diags := locks.Parse(data, lockFileName)
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
func (e *Session) lockChanges(before, after []byte) ([]engine.LockChange, error) {
	old, err := e.lockedVersions(before)
	if err != nil {
		return nil, err
	}
	fresh, err := e.lockedVersions(after)
	if err != nil {
		return nil, err
	}
	return installation.Changes(old, fresh), nil
}

// lockedVersions returns the versions in a lock file.
func (e *Session) lockedVersions(data []byte) (map[stackaddrs.Provider]string, error) {
	entries, err := parseLock(data)
	if err != nil {
		return nil, err
	}
	versions := make(map[stackaddrs.Provider]string, len(entries))
	for _, entry := range entries {
		provider, err := e.parseProvider(entry.source)
		if err != nil {
			return nil, err
		}
		versions[provider] = entry.version
	}
	return versions, nil
}

// providerSource returns the source argument with which the engine finds a provider.
func (e *Session) providerSource(provider stackaddrs.Provider) string {
	if provider.Hostname == string(tfaddr.DefaultProviderRegistryHost) {
		return provider.Namespace + "/" + provider.Type // each engine has its own default registry
	}
	return provider.String()
}

// parseProvider parses an address in the form that the engine writes.
func (e *Session) parseProvider(source string) (stackaddrs.Provider, error) {
	parts := strings.Split(source, "/")
	if len(parts) != 3 {
		return stackaddrs.Provider{}, fmt.Errorf("provider lock file: %q is not a provider address", source)
	}
	if e.info.Name == toolchain.Tofu && parts[0] == toolchain.TofuRegistry {
		parts[0] = string(tfaddr.DefaultProviderRegistryHost)
	}
	return stackaddrs.Provider{Hostname: parts[0], Namespace: parts[1], Type: parts[2]}, nil
}

// lockFor returns the lock file for a module, having checked that what it needs is installed. Providers that are
// assigned to it may be needed by its state only.
//
// It is the one of the installation, which also has the checksums of packages for this platform.
func (e *Session) lockFor(tree *module.Tree, assigned map[engine.ProviderSlot]engine.ProviderConfig) ([]byte, hcl.Diagnostics) {
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
	available, err := e.available()
	if err != nil {
		return nil, hcl.Diagnostics{failed("Unreadable provider lock file", err)}
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
	lock, err := os.ReadFile(e.installation.lock)
	if err != nil && !errors.Is(err, os.ErrNotExist) { // providers in development are not locked
		return nil, hcl.Diagnostics{failed("Unreadable provider lock file", err)}
	}
	return lock, nil
}

// available reports which providers are locked and installed.
func (e *Session) available() (map[stackaddrs.Provider]bool, error) {
	installed, err := e.installed()
	if err != nil {
		return nil, err
	}
	available := map[stackaddrs.Provider]bool{}
	for _, one := range installed {
		provider, err := e.parseProvider(one.source())
		if err != nil {
			return nil, err
		}
		available[provider] = true
	}
	return available, nil
}
