// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

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
	"github.com/cairnstacks/cairn/internal/engine/installation"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// installRecord is what is remembered about an installation, so that it isn't repeated.
type installRecord struct {
	Requirements string `json:"requirements"` // hash
	Lock         string `json:"lock"`         // hash

	// LacksChecksums is set if the lock file was not to be changed and does not have the checksums of all that is installed.
	LacksChecksums bool `json:"lacks_checksums,omitempty"`
}

// installedProvider is a provider in the installation directory.
type installedProvider struct {
	path   string // HOST/NAMESPACE/TYPE/VERSION/PLATFORM
	target string // absolute
}

// source returns the provider's address as the engine writes it.
func (p installedProvider) source() string {
	return strings.Join(strings.Split(filepath.ToSlash(p.path), "/")[:3], "/")
}

// Prepare implements [engine.Preparer]. It starts no process if nothing has changed since it was last called.
//
// Entries of the lock file that nothing requires are removed from it, as init does.
func (e *Session) Prepare(ctx context.Context, req *engine.PrepareRequest) (*engine.PrepareResult, hcl.Diagnostics) {
	if req.InstallNothing {
		if err := e.useGiven(ctx, req.Packages); err != nil {
			return nil, hcl.Diagnostics{failed("Unusable provider packages", err)}
		}
		return &engine.PrepareResult{}, nil
	}
	requirements := map[stackaddrs.Provider][]string{}
	merge := func(more map[stackaddrs.Provider][]string) {
		for provider, constraints := range more {
			if !provider.IsBuiltin() {
				requirements[provider] = append(requirements[provider], constraints...)
			}
		}
	}
	merge(req.Requirements)
	for _, dir := range req.Modules {
		tree, _ := e.modules.Load(dir) //nolint:errcheck // Module reports the diagnostics
		if tree != nil {
			merge(tree.Module.Requirements)
		}
	}
	if len(requirements) == 0 {
		entries, err := e.lockEntries()
		if err != nil || len(entries) == 0 {
			return &engine.PrepareResult{}, nil // Locks reports the error
		}
	}
	unlock, err := e.lockInstallation(ctx)
	if err != nil {
		return nil, hcl.Diagnostics{failed("Provider installation failed", err)}
	}
	defer unlock()
	result := &engine.PrepareResult{}
	return result, e.install(ctx, requirements, req, result)
}

// lockInstallation keeps other programs from installing at the same time.
func (e *Session) lockInstallation(ctx context.Context) (unlock func(), err error) {
	return installation.In(e.workDir).Exclusive(ctx)
}

func (e *Session) install(ctx context.Context, requirements map[stackaddrs.Provider][]string, req *engine.PrepareRequest, result *engine.PrepareResult) hcl.Diagnostics {
	root := e.syntheticRoot(requirements)
	hash := hashOf(append(root, e.info.Name+e.info.Version...))
	lock, err := e.readLock()
	if err != nil {
		return hcl.Diagnostics{failed("Unreadable provider lock file", err)}
	}
	if !req.Upgrade && e.upToDate(installRecord{Requirements: hash, Lock: hashOf(lock), LacksChecksums: req.ReadOnlyLock}) {
		return nil
	}
	newLock, diags := e.installOnce(ctx, root, lock, req)
	if diags.HasErrors() {
		return diags
	}
	changes, err := e.lockChanges(lock, newLock)
	switch {
	case err != nil:
		return diags.Append(failed("Unreadable provider lock file", err))
	case req.ReadOnlyLock && len(changes) > 0:
		return diags.Append(installation.OutOfDate(changes))
	case req.ReadOnlyLock:
	case string(newLock) != string(lock):
		if err := installation.WriteLock(e.lockPath(), newLock); err != nil {
			return diags.Append(failed("Provider lock file not written", err))
		}
		result.Locked = changes
	}
	done := installRecord{Requirements: hash, Lock: hashOf(newLock)}
	if req.ReadOnlyLock && string(newLock) != string(lock) {
		done.Lock, done.LacksChecksums = hashOf(lock), true
	}
	record, err := json.Marshal(done)
	if err == nil {
		err = installation.WriteFile(e.absolute("init", "installed.json"), record)
	}
	if err != nil {
		return diags.Append(failed("Provider installation failed", err))
	}
	e.mu.Lock()
	e.mu.data = map[string]*onceValue[string]{}
	e.mu.schemas = &onceValue[*providerSchemas]{}
	e.mu.binaries = map[stackaddrs.Provider]string{}
	e.mu.Unlock()
	return diags
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// upToDate reports whether what is wanted was done. Checksums may be lacking if they are in what is wanted.
func (e *Session) upToDate(want installRecord) bool {
	data, err := os.ReadFile(e.absolute("init", "installed.json"))
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
	locks, err := e.lockEntries()
	if err != nil {
		return false
	}
	installed, err := e.installed()
	return err == nil && len(installed) == len(locks)
}

// syntheticRoot returns the configuration of a module that needs all the providers.
func (e *Session) syntheticRoot(requirements map[stackaddrs.Provider][]string) []byte {
	required := map[string]any{}
	for i, provider := range slices.SortedFunc(maps.Keys(requirements), stackaddrs.Provider.Compare) {
		constraints := slices.Clone(requirements[provider])
		slices.Sort(constraints)
		constraints = slices.Compact(constraints)
		entry := map[string]any{"source": e.providerSource(provider)}
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
func (e *Session) writeInit(root, lock []byte) error {
	dir := e.absolute("init")
	lockFile := filepath.Join(dir, lockFileName)
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
func (e *Session) runInit(ctx context.Context, root, lock []byte, req *engine.PrepareRequest) ([]byte, hcl.Diagnostics) {
	e.log.InfoContext(ctx, "installing providers", "upgrade", req.Upgrade)
	e.working("Installing providers")
	dir := e.absolute("init")
	lockFile := filepath.Join(dir, lockFileName)
	if err := errors.Join(e.dropAdopted(), e.writeInit(root, lock)); err != nil {
		return nil, hcl.Diagnostics{failed("Provider installation failed", err)}
	}
	args := []string{"-chdir=" + dir, "init", "-backend=false", "-input=false", "-no-color"}
	if req.Upgrade {
		args = append(args, "-upgrade")
	}
	unlock, err := e.shared.LockCache(ctx, e.binary.Environ)
	if err != nil {
		return nil, hcl.Diagnostics{failed("Provider installation failed", err)}
	}
	defer unlock()
	stdout, stderr, err := e.binary.Run(ctx, command.Invocation{Dir: e.stackDir, Env: e.installEnv(), Args: args})
	if hung, ok := errors.AsType[*runner.HungError](err); ok {
		return nil, hcl.Diagnostics{failed("Provider installation failed", hung)}
	}
	if err != nil {
		return nil, e.initFailed(stdout, stderr, err, req)
	}
	newLock, err := os.ReadFile(lockFile)
	if err != nil && !errors.Is(err, os.ErrNotExist) { // providers in development are not locked
		return nil, hcl.Diagnostics{failed("Provider installation failed", err)}
	}
	return newLock, nil
}

// installEnv makes the binary use the installation directory, whatever the user's environment says.
func (e *Session) installEnv() map[string]string {
	return map[string]string{"TF_DATA_DIR": e.absolute("init", dataDirName)}
}

// installed lists the locked providers that are in the installation directory, sorted.
func (e *Session) installed() ([]installedProvider, error) {
	entries, err := e.lockEntries()
	if err != nil {
		return nil, err
	}
	return e.installedOf(entries)
}

// installedOf is installed for the entries of any lock file.
func (e *Session) installedOf(entries []lockEntry) ([]installedProvider, error) {
	var installed []installedProvider
	for _, entry := range entries {
		path := filepath.Join(filepath.FromSlash(entry.source), entry.version)
		dir := filepath.Join(e.installation.providers, path)
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
			installed = append(installed, installedProvider{filepath.Join(path, platform.Name()), target})
		}
	}
	return installed, nil
}
