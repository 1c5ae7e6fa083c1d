// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package gitdiff

import (
	"cmp"
	"path/filepath"
	"slices"

	"github.com/cairnstacks/cairn/internal/localsource"
)

// DiffOf is a diff of files that are known to have changed without asking git, by their paths from
// a directory. Their contents before that are unknown.
func DiffOf(dir string, files ...File) (*Diff, error) {
	dir, err := localsource.RealPath(dir)
	if err != nil {
		return nil, err
	}
	sorted := slices.SortedFunc(slices.Values(files), func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return &Diff{Files: sorted, repository: &Repository{Dir: dir}}, nil
}

// Prefix returns the path of a directory from the top of the repository, with slashes.
func (d *Diff) Prefix(dir string) (string, error) {
	dir, err := localsource.RealPath(dir)
	if err != nil {
		return "", err
	}
	prefix, err := filepath.Rel(d.repository.Dir, dir)
	return filepath.ToSlash(prefix), err
}

// Below returns the paths from a directory, with slashes, of the files that have changed in it or
// below it. Of a file that was renamed, also the one before counts.
func (d *Diff) Below(dir string) ([]string, error) {
	prefix, err := d.Prefix(dir)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, file := range d.Files {
		for _, name := range []string{file.Path, file.From} {
			rel, err := filepath.Rel(filepath.FromSlash(prefix), filepath.FromSlash(name))
			if name != "" && err == nil && filepath.IsLocal(rel) {
				files = append(files, filepath.ToSlash(rel))
			}
		}
	}
	return files, nil
}
