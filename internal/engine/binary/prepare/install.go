// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package prepare

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

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/binary/command"
	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/install"
	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/internal/providers/packagecache"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// installRecord is the record of an installation, kept so that it isn't repeated.
type installRecord struct {
	Requirements string `json:"requirements"` // hash
	Lock         string `json:"lock"`         // hash

	// LacksChecksums is set if the lock file was not to be changed and does not have the checksums of
	// all that is installed.
	LacksChecksums bool `json:"lacks_checksums,omitempty"`
}

// Give uses packages that are there already, and installs nothing. It makes links to them, where
// that was not done before.
func (p *Preparer) Give(ctx context.Context, packages []engine.ProviderPackage) hcl.Diagnostics {
	if err := p.useGiven(ctx, packages); err != nil {
		return hcl.Diagnostics{failure.Of("Unusable provider packages", err)}
	}
	return nil
}

// Install installs the providers of the requirements: all that there are, with those of the request
// and of its modules. It starts no process if nothing has changed since it was last called;
// installed says that something had.
//
// Entries of the lock file that nothing requires are removed from it, as init does.
func (p *Preparer) Install(ctx context.Context, requirements map[stackaddrs.Provider][]string, req *engine.PrepareRequest) (result *engine.PrepareResult, installed bool, diags hcl.Diagnostics) {
	if len(requirements) == 0 {
		entries, err := p.lockEntries()
		if err != nil || len(entries) == 0 {
			return &engine.PrepareResult{}, false, nil // Locks reports the error
		}
	}
	unlock, err := p.lockInstallation(ctx)
	if err != nil {
		return nil, false, hcl.Diagnostics{failure.Of("Provider installation failed", err)}
	}
	defer unlock()
	result = &engine.PrepareResult{}
	installed, diags = p.install(ctx, requirements, req, result)
	return result, installed, diags
}

// lockInstallation keeps other programs from installing at the same time.
func (p *Preparer) lockInstallation(ctx context.Context) (unlock func(), err error) {
	return install.In(p.opts.WorkDir).Exclusive(ctx)
}

func (p *Preparer) install(ctx context.Context, requirements map[stackaddrs.Provider][]string, req *engine.PrepareRequest, result *engine.PrepareResult) (installed bool, _ hcl.Diagnostics) {
	root := p.syntheticRoot(requirements)
	hash := hashOf(append(root, p.opts.Info.Name+p.opts.Info.Version...))
	lock, err := p.readLock()
	if err != nil {
		return false, hcl.Diagnostics{failure.Of("Unreadable provider lock file", err)}
	}
	done := !req.Upgrade && p.upToDate(installRecord{Requirements: hash, Lock: hashOf(lock), LacksChecksums: req.ReadOnlyLock})
	if done && (!req.Verify || !p.isDamaged()) {
		return false, nil
	}
	newLock, diags := p.installOnce(ctx, root, lock, req)
	if diags.HasErrors() {
		return false, diags
	}
	changes, err := p.lockChanges(lock, newLock)
	switch {
	case err != nil:
		return false, diags.Append(failure.Of("Unreadable provider lock file", err))
	case req.ReadOnlyLock && len(changes) > 0:
		return false, diags.Append(install.OutOfDate(changes))
	case req.ReadOnlyLock:
	case string(newLock) != string(lock):
		if moreDiags := install.WriteLock(p.lockPath(), newLock, changes); moreDiags.HasErrors() {
			return false, diags.Extend(moreDiags)
		}
		result.Locked = changes
	}
	record := installRecord{Requirements: hash, Lock: hashOf(newLock)}
	if req.ReadOnlyLock && string(newLock) != string(lock) {
		record.Lock, record.LacksChecksums = hashOf(lock), true
	}
	encoded, err := json.Marshal(record)
	if err == nil {
		err = install.WriteFile(p.absolute("init", "installed.json"), encoded)
	}
	if err != nil {
		return false, diags.Append(failure.Of("Provider installation failed", err))
	}
	p.mu.Lock()
	p.mu.data = map[string]func() (string, error){}
	p.mu.Unlock()
	return true, diags
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// upToDate reports whether the wanted installation was done. Checksums may be missing if want
// allows it.
func (p *Preparer) upToDate(want installRecord) bool {
	data, err := os.ReadFile(p.absolute("init", "installed.json"))
	if err != nil {
		return false
	}
	var record installRecord
	if json.Unmarshal(data, &record) != nil || record.LacksChecksums && !want.LacksChecksums {
		return false
	}
	if record.Requirements != want.Requirements || record.Lock != want.Lock {
		return false
	}
	locks, err := p.lockEntries()
	if err != nil {
		return false
	}
	installed, err := p.Packages()
	return err == nil && len(installed) == len(locks)
}

// isDamaged reports whether an installed package is not the locked one any more. It reads all of
// them.
func (p *Preparer) isDamaged() bool {
	text, err := os.ReadFile(p.paths.Lock) // which has the checksums for this platform
	if err != nil {
		return !errors.Is(err, os.ErrNotExist) // there are no providers
	}
	locked, diags := locks.Parse(text, locks.FileName)
	if diags.HasErrors() {
		return true
	}
	_, err = packagecache.Dir{Path: p.paths.Providers, Platform: release.CurrentPlatform}.Selected(locked)
	return err != nil
}

// syntheticRoot returns the configuration of a module that needs all the providers.
func (p *Preparer) syntheticRoot(requirements map[stackaddrs.Provider][]string) []byte {
	required := map[string]any{}
	for i, provider := range slices.SortedFunc(maps.Keys(requirements), stackaddrs.Provider.Compare) {
		constraints := slices.Clone(requirements[provider])
		slices.Sort(constraints)
		constraints = slices.Compact(constraints)
		entry := map[string]any{"source": p.providerSource(provider)}
		if len(constraints) > 0 {
			entry["version"] = strings.Join(constraints, ", ")
		}
		required[fmt.Sprintf("p%d", i)] = entry
	}
	root, err := json.Marshal(map[string]any{"terraform": map[string]any{"required_providers": required}})
	if err != nil {
		panic("encoding provider requirements: " + err.Error())
	}
	return root
}

// writeInit makes the init directory one of a module, with a lock file unless that is empty.
func (p *Preparer) writeInit(root, lock []byte) error {
	dir := p.absolute("init")
	lockFile := filepath.Join(dir, locks.FileName)
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "main.tf.json"), root, 0o600)
	}
	if err == nil {
		err = os.Remove(lockFile)
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
	}
	if err == nil && len(lock) > 0 {
		err = os.WriteFile(lockFile, lock, 0o600)
	}
	return err
}

// runInit installs into the init directory and returns the resulting lock file.
func (p *Preparer) runInit(ctx context.Context, root, lock []byte, req *engine.PrepareRequest) ([]byte, hcl.Diagnostics) {
	p.opts.Log.InfoContext(ctx, "installing providers", "upgrade", req.Upgrade)
	p.opts.Working("Installing providers")
	dir := p.absolute("init")
	lockFile := filepath.Join(dir, locks.FileName)
	if err := errors.Join(p.dropAdopted(), p.writeInit(root, lock)); err != nil {
		return nil, hcl.Diagnostics{failure.Of("Provider installation failed", err)}
	}
	args := []string{"-chdir=" + dir, "init", "-backend=false", "-input=false", "-no-color"}
	if req.Upgrade {
		args = append(args, "-upgrade")
	}
	unlock, err := p.opts.Shared.LockCache(ctx, p.opts.Binary.Environ)
	if err != nil {
		return nil, hcl.Diagnostics{failure.Of("Provider installation failed", err)}
	}
	defer unlock()
	stdout, stderr, err := p.opts.Binary.Run(ctx, command.Invocation{Dir: p.opts.StackDir, Env: p.installEnv(), Args: args})
	if hung, ok := errors.AsType[*runner.HungError](err); ok {
		return nil, hcl.Diagnostics{failure.Of("Provider installation failed", hung)}
	}
	if err != nil {
		return nil, p.initFailed(stdout, stderr, err, req)
	}
	newLock, err := os.ReadFile(lockFile)
	if err != nil && !errors.Is(err, os.ErrNotExist) { // providers in development are not locked
		return nil, hcl.Diagnostics{failure.Of("Provider installation failed", err)}
	}
	return newLock, nil
}

// installEnv makes the binary use the installation directory, whatever the user's environment says.
func (p *Preparer) installEnv() map[string]string {
	return map[string]string{"TF_DATA_DIR": p.absolute("init", install.DataDir)}
}

// Packages lists the locked providers that are in the installation directory, sorted.
func (p *Preparer) Packages() ([]install.Package, error) {
	entries, err := p.lockEntries()
	if err != nil {
		return nil, err
	}
	return p.packagesOf(entries)
}

// packagesOf is Packages for the entries of any lock file.
func (p *Preparer) packagesOf(entries []lockEntry) ([]install.Package, error) {
	var installed []install.Package
	for _, entry := range entries {
		path := filepath.Join(filepath.FromSlash(entry.source), entry.version)
		dir := filepath.Join(p.paths.Providers, path)
		platforms, err := os.ReadDir(dir)
		if err != nil {
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			return nil, fmt.Errorf("looking for installed providers: %w", err)
		}
		for _, platform := range platforms {
			target := filepath.Join(dir, platform.Name())
			// A link may lead into a cache that was removed; tofu leaves a lock file there.
			if stat, err := os.Stat(target); err != nil || !stat.IsDir() {
				continue
			}
			installed = append(installed, install.Package{Path: filepath.Join(path, platform.Name()), Dir: target})
		}
	}
	return installed, nil
}
