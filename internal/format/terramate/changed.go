// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terramate

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/gitdiff"
	"github.com/cairnstacks/cairn/internal/hclsource"
	"github.com/cairnstacks/cairn/internal/problem"
)

// Changes are the stacks that a diff concerns.
type Changes struct {
	Reasons map[int][]gitdiff.Reason // by number of the stack in the tree
	Gone    []gitdiff.Gone           // sorted
	Notes   hcl.Diagnostics          // warnings: of changes that may be overlooked
}

// Changes returns which stacks of the tree have changed.
//
// A stack has changed if something has changed in its directory, unless it is in that of a stack
// further inside; in a local module or embedded stack that it uses, at any depth, also by the
// source in its terragrunt.hcl; or of the files that it watches, or that its terragrunt.hcl
// includes. A file .tmtriggers/STACK/FILE that is new or has changed says that a stack counts as
// changed all the same, or that it does not.
func (t *Tree) Changes(ctx context.Context, diff *gitdiff.Diff) (*Changes, error) {
	prefix, err := diff.Prefix(t.Root)
	if err != nil {
		return nil, err
	}
	f := &finder{diff: diff, tree: t, prefix: prefix, result: &Changes{Reasons: map[int][]gitdiff.Reason{}}}
	if err := f.gone(ctx); err != nil {
		return nil, err
	}
	units := gitdiff.Units{Root: t.Root, Units: make([]gitdiff.Unit, len(t.Stacks)), Ignored: isTrigger}
	for i, stack := range t.Stacks {
		units.Units[i] = gitdiff.Unit{Path: stack.Path, Watches: stack.watches()}
	}
	f.useTerragrunt(units.Units)
	reasons, err := diff.Reasons(units)
	if err != nil {
		return nil, err
	}
	for i, more := range reasons {
		f.result.Reasons[i] = append(f.result.Reasons[i], more...)
	}
	f.triggers()
	return f.result, nil
}

// watches returns the watched files of a stack, by paths from the root.
func (s *Stack) watches() []gitdiff.Watch {
	watches := make([]gitdiff.Watch, len(s.Watch))
	for i, watch := range s.Watch {
		wanted := watch.Text
		if !strings.HasPrefix(wanted, "/") {
			wanted = path.Join(s.Path, wanted)
		}
		watches[i] = gitdiff.Watch{Path: wanted, Text: watch.Text}
	}
	return watches
}

// finder finds the changes that a diff makes to the stacks of a tree besides changes of files.
type finder struct {
	diff   *gitdiff.Diff
	tree   *Tree
	prefix string // of the tree, from the top of the repository
	result *Changes
}

func (f *finder) inTree(file string) (string, bool) { return gitdiff.FromRoot(f.prefix, file) }

func (f *finder) add(stack int, reason gitdiff.Reason) {
	f.result.Reasons[stack] = append(f.result.Reasons[stack], reason)
}

// note adds a warning about a file of the tree, by its path from the root.
func (f *finder) note(file, summary, detail string, args ...any) {
	at := &hcl.Range{Filename: filepath.Join(f.tree.Root, filepath.FromSlash(file))}
	f.result.Notes = f.result.Notes.Append(problem.Warning(problem.BadValue, at, summary, detail, args...))
}

// gone finds stacks that there were at the base, and those that were renamed.
func (f *finder) gone(ctx context.Context) error {
	type candidate struct {
		file        gitdiff.File
		before, was string // path of the file, and of the stack in the tree
	}
	var candidates []candidate
	var paths []string
	for _, file := range f.diff.Files {
		before := file.From
		if file.Deleted {
			before = file.Path
		}
		was, ok := f.inTree(path.Dir(before))
		if before == "" || !ok || !MayDefine(path.Base(before)) {
			continue
		}
		if _, still := f.tree.Index(was); !still {
			candidates = append(candidates, candidate{file, before, was})
			paths = append(paths, before)
		}
	}
	sources, err := f.diff.ContentsBefore(ctx, paths, hclsource.MaxSize)
	if err != nil {
		return fmt.Errorf("read the earlier stacks: %w", err)
	}
	found := map[string]bool{}
	for _, c := range candidates {
		src, readable := sources[c.before]
		if found[c.was] || !readable || !Defines(path.Base(c.before), src) {
			continue
		}
		found[c.was] = true
		gone := gitdiff.Gone{Path: c.was}
		if is, ok := f.inTree(path.Dir(c.file.Path)); ok && !c.file.Deleted {
			if i, there := f.tree.Index(is); there {
				gone.RenamedTo = is
				f.add(i, gitdiff.Reason{Kind: gitdiff.Renamed, File: c.file.Path, Text: "the stack was renamed from " + c.was})
			}
		}
		f.result.Gone = append(f.result.Gone, gone)
	}
	slices.SortFunc(f.result.Gone, func(a, b gitdiff.Gone) int { return strings.Compare(a.Path, b.Path) })
	return nil
}
