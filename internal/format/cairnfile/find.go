// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

import (
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
)

// Find returns the directories that a workspace file could name as stacks, with slashes, sorted:
// those with a stack of the Terraform Stacks language or a root module that nothing else takes by a
// local path. Directories whose names begin with a dot and those with a file .tmskip are left out
// with their subdirectories; links are not followed.
func Find(root string) ([]string, hcl.Diagnostics) {
	unreadable := func(err error) hcl.Diagnostics {
		return hcl.Diagnostics{problem.New(problem.BadPath, &hcl.Range{Filename: root}, "Unreadable directory",
			"The directory cannot be searched for stacks: %s.", safefile.Reason(err))}
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, unreadable(err)
	}
	var found []string
	used := map[string]bool{}
	err = fs.WalkDir(os.DirFS(abs), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !entry.IsDir():
			return nil
		case name != "." && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		}
		entries, err := fs.ReadDir(os.DirFS(abs), name)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ".tmskip" }) {
			return fs.SkipDir
		}
		if kindOf(entries) == "" {
			return nil
		}
		found = append(found, name)
		calls, err := localsource.In(filepath.Join(abs, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		for _, call := range calls {
			if rel, err := filepath.Rel(abs, call.Dir); err == nil {
				used[path.Clean(filepath.ToSlash(rel))] = true
			}
		}
		return nil
	})
	if err != nil {
		return nil, unreadable(err)
	}
	found = slices.DeleteFunc(found, func(dir string) bool { return used[dir] })
	slices.Sort(found)
	return found, nil
}
