// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terrateam

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/localsource"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/safefile"
	"github.com/cairnstacks/cairn/internal/yamldoc"
)

// ErrNoConfig says that a repository has no configuration.
var ErrNoConfig = errors.New("there is no " + ConfigFile)

// Load reads the configuration of a repository and finds its dirspaces.
//
// Errors: [ErrNoConfig], or diagnostics. Warnings come with the layout.
func Load(root string) (*Layout, hcl.Diagnostics, error) {
	file := configFile(root)
	if file == "" {
		return nil, nil, ErrNoConfig
	}
	name := filepath.Join(root, filepath.FromSlash(file))
	src, err := readConfig(root, file)
	if err != nil {
		return nil, unreadable(name, err), nil
	}
	config, diags := Read(name, src)
	if diags.HasErrors() {
		return nil, nil, diags
	}
	files, err := Files(root)
	if err != nil {
		return nil, unreadable(root, err), nil
	}
	used, err := usedDirectories(root, files)
	if err != nil {
		return nil, unreadable(root, err), nil
	}
	dirspaces, moreDiags := config.Dirspaces(files, func(dir string) bool { return used[dir] })
	diags = diags.Extend(moreDiags)
	if diags.HasErrors() {
		return nil, nil, diags
	}
	for _, d := range dirspaces {
		entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(d.Dir)))
		if err != nil {
			return nil, unreadable(root, err), nil
		}
		d.IsStack = slices.ContainsFunc(entries, func(entry fs.DirEntry) bool { return localsource.IsStackFile(entry.Name()) })
	}
	layout, moreDiags := New(config, dirspaces)
	diags = diags.Extend(moreDiags)
	if diags.HasErrors() {
		return nil, nil, diags
	}
	return layout, diags, nil
}

// unreadable is about a file, or another that the error names.
func unreadable(name string, err error) hcl.Diagnostics {
	if pathError, ok := errors.AsType[*fs.PathError](err); ok &&
		filepath.IsAbs(pathError.Path) == filepath.IsAbs(name) && pathError.Path != ConfigFile && pathError.Path != OtherConfigFile {
		name = pathError.Path
	}
	return hcl.Diagnostics{problem.New(problem.BadPath, &hcl.Range{Filename: name}, "Unreadable file", "It cannot be read: %s.",
		safefile.Reason(err))}
}

// Exists reports whether a repository has a configuration, be it one that cannot be read.
func Exists(root string) bool { return configFile(root) != "" }

// configFile returns where the configuration of a repository is; "" if it has none.
func configFile(root string) string {
	for _, name := range []string{ConfigFile, OtherConfigFile} {
		if _, err := os.Lstat(filepath.Join(root, filepath.FromSlash(name))); err == nil {
			return name
		}
	}
	return ""
}

// readConfig does not follow links out of the repository.
func readConfig(root, name string) (src []byte, err error) {
	inside, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	src, err = yamldoc.ReadFile(inside.FS(), name)
	return src, errors.Join(err, inside.Close())
}

// Files returns the files of a repository, with slashes, sorted. Directories whose names begin with
// a dot are left out, and links are not followed.
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
