// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package prepare

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/cairnstacks/cairn/internal/engine/binary/workcopy"
	"github.com/cairnstacks/cairn/internal/install"
	"github.com/cairnstacks/cairn/internal/module"
)

// DataDir returns a directory in place of the one that init would have made for a module. All
// components that use the module share it; nothing is written to it later.
func (p *Preparer) DataDir(tree *module.Tree) (string, error) {
	manifest := workcopy.Manifest(tree)
	installed, err := p.Packages()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	sum.Write(manifest)
	for _, provider := range installed {
		sum.Write([]byte("\x00" + provider.Path))
	}
	name := hex.EncodeToString(sum.Sum(nil)[:12])

	p.mu.Lock()
	made := p.mu.data[name]
	if made == nil {
		made = sync.OnceValues(func() (string, error) {
			dir := p.absolute("data", name)
			if err := makeDataDir(dir, manifest, installed); err != nil {
				return "", fmt.Errorf("preparing modules and providers: %w", err)
			}
			return dir, nil
		})
		p.mu.data[name] = made
	}
	p.mu.Unlock()
	return made()
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
	err = FillDataDir(temporary, manifest, installed)
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
	if content, err := os.ReadFile(manifestIn(dir)); err == nil && bytes.Equal(content, manifest) {
		return nil
	}
	return install.WriteFile(manifestIn(dir), manifest)
}

func manifestIn(dir string) string { return filepath.Join(dir, "modules", "modules.json") }

// FillDataDir fills an empty directory with the files that init would have made for a module with
// this manifest and these packages.
func FillDataDir(dir string, manifest []byte, installed []install.Package) error {
	if err := os.Mkdir(filepath.Dir(manifestIn(dir)), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(manifestIn(dir), manifest, 0o600); err != nil {
		return err
	}
	for _, provider := range installed {
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
