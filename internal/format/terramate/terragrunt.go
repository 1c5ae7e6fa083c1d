// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terramate

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/format/terragrunt"
	"github.com/cairnstacks/cairn/internal/gitdiff"
	"github.com/cairnstacks/cairn/internal/problem"
)

// useTerragrunt adds the files that terragrunt.hcl in directories of stacks use, if there are any.
func (f *finder) useTerragrunt(units []gitdiff.Unit) {
	isUnit := func(s *Stack) bool {
		_, err := os.Lstat(filepath.Join(f.tree.Root, filepath.FromSlash(s.Path), terragrunt.FileName))
		return err == nil
	}
	if !slices.ContainsFunc(f.tree.Stacks, isUnit) {
		return
	}
	read, _ := terragrunt.Load(f.tree.Root) //nolint:errcheck // the readable part is enough, and for the rest there are notes
	byDir := map[string]*terragrunt.Unit{}
	for _, u := range read {
		byDir[path.Join("/", u.Dir)] = u
	}
	for i, s := range f.tree.Stacks {
		if !isUnit(s) {
			continue
		}
		u := byDir[s.Path]
		if u == nil {
			f.unknownSource(s)
			continue
		}
		dir, known := sourceDir(u)
		if !known {
			f.unknownSource(s)
		}
		if dir != "" {
			units[i].Sources = append(units[i].Sources, dir)
		}
		for _, name := range slices.Concat(u.Included, u.Files) {
			units[i].Includes = append(units[i].Includes, gitdiff.Watch{Path: name, Text: name})
		}
		for _, place := range u.Unread {
			f.unknownFile(s, place)
		}
	}
}

// sourceDir returns the directory of the module of a unit, from the root of the tree; "" if it is
// not one of the tree. It is not known if the source could not be evaluated.
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

func (f *finder) unknownSource(s *Stack) {
	f.note(path.Join(s.Path, terragrunt.FileName), "Unknown module source",
		"The module source of %s cannot be evaluated here, so that changes there do not count as changes of the stack. "+
			"Write the source out, or name its directory in \"watch\".", s.Path)
}

func (f *finder) unknownFile(s *Stack, place hcl.Range) {
	f.result.Notes = f.result.Notes.Append(problem.Warning(problem.BadValue, &place, "Unknown file to read",
		"The name of a file that %s reads here cannot be evaluated, so that changes of that file do not count as changes of the stack. "+
			"Write the name out, or name the file in \"watch\".", s.Path))
}
