// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package gitdiff

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/format/terragrunt"
	"github.com/cairnstacks/cairn/internal/format/terramate"
)

// units reads what the files terragrunt.hcl in directories of stacks use, if there are any.
func (f *finder) units() {
	isUnit := func(s *terramate.Stack) bool {
		_, err := os.Lstat(filepath.Join(f.root, filepath.FromSlash(s.Path), terragrunt.FileName))
		return err == nil
	}
	if !slices.ContainsFunc(f.tree.Stacks, isUnit) {
		return
	}
	units, _ := terragrunt.Load(f.root) //nolint:errcheck // what could be read is enough, and for the rest there are notes
	byDir := map[string]*terragrunt.Unit{}
	for _, u := range units {
		byDir[path.Join("/", u.Dir)] = u
	}
	for i, s := range f.tree.Stacks {
		if !isUnit(s) {
			continue
		}
		if u := byDir[s.Path]; u != nil {
			f.unit(i, u)
		} else {
			f.unknownSource(s)
		}
	}
}

func (f *finder) unit(stack int, u *terragrunt.Unit) {
	s := f.tree.Stacks[stack]
	dir, known := sourceDir(u)
	if !known {
		f.unknownSource(s)
	}
	if dir != "" {
		dir = filepath.Join(f.root, filepath.FromSlash(dir))
		if rel, ok := f.inRepository(dir); ok {
			own := filepath.Join(f.root, filepath.FromSlash(s.Path))
			f.sources[own] = append(f.sources[own], used{dir, rel})
		}
	}
	for _, name := range u.Included {
		if file := f.firstAt(path.Join(f.prefix, name)); file != nil {
			f.add(stack, Reason{Kind: Included, File: file.Path, Text: fmt.Sprintf("it includes %s: %s %s", name, file.Path, file.what())})
		}
	}
}

// sourceDir returns the directory of the module of a unit, from the root of the tree; "" if it is not one of the tree. It is not known if the source could
// not be evaluated.
func sourceDir(u *terragrunt.Unit) (dir string, known bool) {
	source, _, _ := strings.Cut(u.Source, "?")
	switch {
	case source == "":
		return "", true
	case strings.Contains(source, "…"):
		return "", false
	case strings.HasPrefix(source, "/"):
		return path.Clean(source), true
	case source == "." || source == ".." || strings.HasPrefix(source, "./") || strings.HasPrefix(source, "../"):
		return path.Join(u.Dir, source), true // also of a path with "//" in it
	}
	return "", true
}

func (f *finder) unknownSource(s *terramate.Stack) {
	file, ok := f.inRepository(filepath.Join(f.root, filepath.FromSlash(s.Path), terragrunt.FileName))
	if !ok {
		return
	}
	f.note(file, "Source not known", "What %s takes as its module cannot be evaluated here, so that changes there do not count as changes of the stack. "+
		"Write the source out, or name its directory in \"watch\".", s.Path)
}
