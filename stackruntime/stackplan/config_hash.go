// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackplan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ConfigSources are the files that a plan depends on.
type ConfigSources struct {
	Base       string   // directory that names are relative to: that of the root stack
	Files      []string // component files, absolute or relative to Base
	ModuleDirs []string // directories of modules, all files below which count
}

// ConfigHash returns a hash over the names and contents of the files, in
// hexadecimal. It does not depend on where Base is, nor on the order and
// repetition of the sources.
//
// In module directories, what tools leave behind does not count: states, plan
// files, locks and hidden directories such as .terraform and .git.
func ConfigHash(sources ConfigSources) (string, error) {
	names := map[string]string{} // relative name → path
	add := func(path string) error {
		if !filepath.IsAbs(path) {
			path = filepath.Join(sources.Base, path)
		}
		name, err := filepath.Rel(sources.Base, path)
		names[filepath.ToSlash(name)] = path
		return err
	}
	for _, file := range sources.Files {
		if err := add(file); err != nil {
			return "", fmt.Errorf("hashing the configuration: %w", err)
		}
	}
	for _, dir := range sources.ModuleDirs {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(sources.Base, dir)
		}
		if err := walkModule(dir, add); err != nil {
			return "", fmt.Errorf("hashing the configuration: %w", err)
		}
	}
	total := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(names)) {
		sum, err := hashFile(names[name])
		if err != nil {
			return "", fmt.Errorf("hashing the configuration: %w", err)
		}
		fmt.Fprintf(total, "%d %s %x\n", len(name), name, sum)
	}
	return hex.EncodeToString(total.Sum(nil)), nil
}

// walkModule calls add for each file below dir that is part of a module.
func walkModule(dir string, add func(path string) error) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != dir && strings.HasPrefix(entry.Name(), "."):
			return filepath.SkipDir
		case entry.IsDir() || isLeftover(entry.Name()):
			return nil
		}
		info, err := os.Stat(path) // symbolic links count as what they lead to
		if err != nil || !info.Mode().IsRegular() {
			return nil //nolint:nilerr // a dangling link is no file of the module
		}
		if isPlanFile(path) {
			return nil
		}
		return add(path)
	})
}

// isLeftover tells whether a file is made by running things, not written.
func isLeftover(name string) bool {
	return strings.HasPrefix(name, "cairn.state.db") ||
		strings.Contains(name, ".tfstate") ||
		strings.HasSuffix(name, ".tfplan") ||
		strings.HasSuffix(name, ".tmp") && strings.HasPrefix(name, ".") ||
		name == ".terraform.lock.hcl" || name == "crash.log"
}

// isPlanFile tells whether a file is a plan, of whatever name.
func isPlanFile(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // it was only read
	return startsLikePlan(f)
}

func hashFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return nil, err
	}
	return sum.Sum(nil), nil
}
