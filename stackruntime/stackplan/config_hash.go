// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackplan

import (
	"bytes"
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

// ConfigFiles are the hashes of files by their names, which are relative to the directory of the
// root stack.
type ConfigFiles map[string][]byte

// HashConfig returns the hashes of the contents of files. They do not depend on
// where Base is, nor on the order and repetition of the sources.
//
// In module directories, leftovers of tools do not count: states, plan files, locks and hidden
// directories such as .terraform and .git.
func HashConfig(sources ConfigSources) (ConfigFiles, error) {
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
			return nil, fmt.Errorf("hashing the configuration: %w", err)
		}
	}
	for _, dir := range sources.ModuleDirs {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(sources.Base, dir)
		}
		if err := walkModule(dir, add); err != nil {
			return nil, fmt.Errorf("hashing the configuration: %w", err)
		}
	}
	files := ConfigFiles{}
	for name, path := range names {
		sum, err := hashFile(path)
		if err != nil {
			return nil, fmt.Errorf("hashing the configuration: %w", err)
		}
		files[name] = sum
	}
	return files, nil
}

// Hash returns a hash over the names and contents of all files, in hexadecimal.
func (f ConfigFiles) Hash() string {
	total := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(f)) {
		fmt.Fprintf(total, "%d %s %x\n", len(name), name, f[name])
	}
	return hex.EncodeToString(total.Sum(nil))
}

// ConfigChange is the difference between a file and its earlier content.
type ConfigChange struct {
	Name           string
	Added, Removed bool // neither if its content has changed
}

// Since returns the changes from other files to these, sorted by name.
func (f ConfigFiles) Since(before ConfigFiles) []ConfigChange {
	var all []ConfigChange
	for name, sum := range f {
		if former, ok := before[name]; !ok {
			all = append(all, ConfigChange{Name: name, Added: true})
		} else if !bytes.Equal(former, sum) {
			all = append(all, ConfigChange{Name: name})
		}
	}
	for name := range before {
		if _, ok := f[name]; !ok {
			all = append(all, ConfigChange{Name: name, Removed: true})
		}
	}
	slices.SortFunc(all, func(a, b ConfigChange) int { return strings.Compare(a.Name, b.Name) })
	return all
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
		info, err := os.Stat(path) // symbolic links count as their targets
		if err != nil || !info.Mode().IsRegular() {
			return nil //nolint:nilerr // a dangling link is not a file of the module
		}
		if isPlanFile(path) {
			return nil
		}
		return add(path)
	})
}

// isLeftover reports whether a file is made by running things, not written.
func isLeftover(name string) bool {
	return strings.HasPrefix(name, "cairn.state.db") ||
		strings.Contains(name, ".tfstate") ||
		strings.HasSuffix(name, ".tfplan") ||
		strings.HasSuffix(name, ".tmp") && strings.HasPrefix(name, ".") ||
		name == ".terraform.lock.hcl" || name == "crash.log"
}

// isPlanFile reports whether a file is a plan, of whatever name.
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
