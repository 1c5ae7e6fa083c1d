// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/binary/workcopy"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/initdir"
	"github.com/cairnstacks/cairn/internal/install"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/safefile"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// dataDir returns a directory in place of the one that init would have made for a module. All
// components that use the module share it; nothing is written to it later.
func (e *Session) dataDir(tree *module.Tree) (string, error) {
	manifest := workcopy.Manifest(tree)
	installed, err := e.installer.Packages()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	sum.Write(manifest)
	for _, one := range installed {
		sum.Write([]byte("\x00" + one.Path + "\x00" + one.Dir))
	}
	dir := e.absolute("data", hex.EncodeToString(sum.Sum(nil)[:12]))
	e.dataDirs.Lock() // a package is copied where no links can be made
	defer e.dataDirs.Unlock()
	if err := makeDataDir(dir, manifest, installed); err != nil {
		return "", fmt.Errorf("preparing modules and providers: %w", err)
	}
	return dir, nil
}

// lockFor returns the lock file for a module, having checked that its providers are installed.
// Providers that are assigned to it may be needed by its state only.
//
// It is the one of the installation, which also has the checksums of packages for this platform.
func (e *Session) lockFor(tree *module.Tree, assigned map[engine.ProviderSlot]engine.ProviderConfig) ([]byte, hcl.Diagnostics) {
	needed := map[stackaddrs.Provider]bool{}
	for provider := range tree.Module.Requirements {
		if !provider.IsBuiltin() {
			needed[provider] = true
		}
	}
	fromStack := false
	for _, config := range assigned {
		fromStack = fromStack || !config.Provider.IsBuiltin()
	}
	if len(needed) == 0 && !fromStack {
		return nil, nil
	}
	installed, err := e.installer.Packages()
	if err != nil {
		return nil, hcl.Diagnostics{failure.Of("Unreadable provider lock file", err)}
	}
	for _, one := range installed {
		delete(needed, e.installer.Address(one))
	}
	if len(needed) > 0 {
		return nil, hcl.Diagnostics{notInstalled(slices.SortedFunc(maps.Keys(needed), stackaddrs.Provider.Compare)[0])}
	}
	lock, err := e.installer.LockFile()
	if err != nil {
		return nil, hcl.Diagnostics{failure.Of("Unreadable provider lock file", err)}
	}
	return lock, nil
}

func notInstalled(provider stackaddrs.Provider) *hcl.Diagnostic {
	return failure.Of("Provider not installed", &install.NotInstalledError{Provider: provider})
}

// makeDataDir makes the directory as a whole, or finds it made.
func makeDataDir(dir string, manifest []byte, installed []install.Package) error {
	if _, err := os.Stat(dir); err == nil {
		return repairManifest(dir, manifest)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	temporary, err := os.MkdirTemp(filepath.Dir(dir), ".new-*")
	if err != nil {
		return err
	}
	err = fillDataDir(temporary, manifest, installed)
	if err == nil {
		err = os.Rename(temporary, dir)
	}
	if err == nil {
		return nil
	}
	err = errors.Join(err, os.RemoveAll(temporary))
	if _, statErr := os.Stat(dir); statErr == nil {
		return nil // somebody else was faster
	}
	return err
}

// repairManifest writes the manifest of a directory again if it is damaged: the engine would not
// know its modules.
func repairManifest(dir string, manifest []byte) error {
	if content, err := os.ReadFile(initdir.ManifestIn(dir)); err == nil && bytes.Equal(content, manifest) {
		return nil
	}
	return safefile.Replace(initdir.ManifestIn(dir), manifest, 0o600)
}

// fillDataDir fills an empty directory with the files that init would have made for a module with
// this manifest and these packages.
func fillDataDir(dir string, manifest []byte, installed []install.Package) error {
	if err := os.Mkdir(filepath.Dir(initdir.ManifestIn(dir)), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(initdir.ManifestIn(dir), manifest, 0o600); err != nil {
		return err
	}
	for _, provider := range installed {
		if provider.InDevelopment { // the CLI configuration says where it is
			continue
		}
		// Only the last element may be a link.
		link := filepath.Join(dir, "providers", provider.Path)
		if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
			return err
		}
		if err := linkPackage(provider.Dir, link); err != nil {
			return err
		}
	}
	return nil
}

// linkPackage makes the link to a package; where only administrators make links, a copy of it.
func linkPackage(target, link string) error {
	if err := os.Symlink(target, link); err == nil {
		return nil
	}
	return os.CopyFS(link, os.DirFS(target))
}
