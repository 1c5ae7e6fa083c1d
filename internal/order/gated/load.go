// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package gated

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/order/localsource"
	"github.com/cairnstacks/cairn/internal/order/yamldoc"
)

// ErrNoConfig says that a repository has no configuration.
var ErrNoConfig = errors.New("there is no " + ConfigFile)

// Load reads the configuration of a repository and finds its dirspaces.
//
// Errors: [ErrNoConfig], those of reading, or diagnostics. Warnings come with the layout.
func Load(root string) (*Layout, hcl.Diagnostics, error) {
	name := filepath.Join(root, filepath.FromSlash(ConfigFile))
	src, err := readConfig(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, ErrNoConfig
	}
	if err != nil {
		return nil, nil, err
	}
	config, diags := Read(name, src)
	if diags.HasErrors() {
		return nil, nil, diags
	}
	files, err := Files(root)
	if err != nil {
		return nil, nil, err
	}
	used, err := usedDirectories(root, files)
	if err != nil {
		return nil, nil, err
	}
	dirspaces, moreDiags := config.Dirspaces(files, func(dir string) bool { return used[dir] })
	diags = diags.Extend(moreDiags)
	if diags.HasErrors() {
		return nil, nil, diags
	}
	layout, moreDiags := New(config, dirspaces)
	diags = diags.Extend(moreDiags)
	if diags.HasErrors() {
		return nil, nil, diags
	}
	return layout, diags, nil
}

// readConfig does not follow links out of the repository.
func readConfig(root, name string) (src []byte, err error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	inside, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	src, err = yamldoc.ReadFile(inside.FS(), ConfigFile)
	return src, errors.Join(err, inside.Close())
}

// Files returns the files of a repository, with slashes, sorted. Directories whose names begin with a dot are left
// out, and links are not followed.
func Files(root string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name != root && strings.HasPrefix(entry.Name(), ".") {
				return filepath.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		files = append(files, filepath.ToSlash(rel))
		return nil
	})
	return files, err
}

// usedDirectories returns the directories that others take as modules, or embed as stacks.
func usedDirectories(root string, files []string) (map[string]bool, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	used, seen := map[string]bool{}, map[string]bool{}
	for _, file := range files {
		dir := path.Dir(file)
		if seen[dir] {
			continue
		}
		seen[dir] = true
		calls, err := localsource.In(filepath.Join(root, filepath.FromSlash(dir)))
		if err != nil {
			return nil, err
		}
		for _, call := range calls {
			if rel, err := filepath.Rel(root, call.Dir); err == nil {
				used[filepath.ToSlash(rel)] = true
			}
		}
	}
	return used, nil
}
