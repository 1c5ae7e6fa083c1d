// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cairnstacks/cairn/internal/engine/binary/workcopy"
	"github.com/cairnstacks/cairn/internal/engine/module"
)

// dataDir returns the directory that stands for what init would have made for a module. All
// components that use the module share it; nothing is written to it later.
func (e *Session) dataDir(tree *module.Tree) (string, error) {
	manifest := workcopy.Manifest(tree)
	installed, err := e.installed()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	sum.Write(manifest)
	for _, provider := range installed {
		sum.Write([]byte("\x00" + provider.path))
	}
	name := hex.EncodeToString(sum.Sum(nil)[:12])

	e.mu.Lock()
	made := e.mu.data[name]
	if made == nil {
		made = &onceValue[string]{}
		e.mu.data[name] = made
	}
	e.mu.Unlock()
	return made.get(func() (string, error) {
		dir := e.absolute("data", name)
		if err := makeDataDir(dir, manifest, installed); err != nil {
			return "", fmt.Errorf("preparing modules and providers: %w", err)
		}
		return dir, nil
	})
}

// makeDataDir makes the directory as a whole, or finds it made.
func makeDataDir(dir string, manifest []byte, installed []installedProvider) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
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

func fillDataDir(dir string, manifest []byte, installed []installedProvider) error {
	modules := filepath.Join(dir, "modules")
	if err := os.Mkdir(modules, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(modules, "modules.json"), manifest, 0o600); err != nil {
		return err
	}
	for _, provider := range installed {
		// Only the last element may be a link.
		link := filepath.Join(dir, "providers", provider.path)
		if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
			return err
		}
		if err := linkPackage(provider.target, link); err != nil {
			return err
		}
	}
	return nil
}
