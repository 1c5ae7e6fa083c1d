// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package gitdiff

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/format/terramate"
	"github.com/cairnstacks/cairn/internal/hclsource"
	"github.com/cairnstacks/cairn/internal/localsource"
)

// Kind says how a change concerns a stack.
type Kind string

// The kinds of reasons.
const (
	InDirectory Kind = "directory"
	InModule    Kind = "module" // also an embedded stack
	Watched     Kind = "watch"
	Included    Kind = "include" // a file that its terragrunt.hcl includes
	Triggered   Kind = "trigger" // a file that says that it is to count as changed
	Renamed     Kind = "renamed" // the whole stack
	Inputs      Kind = "inputs"  // what it is run with, by the workspace file

	ModifiedBy Kind = "modified_by" // another one, by the workspace file
	GoesAlong  Kind = "task"        // with another one: a task of the workspace file
	Gate       Kind = "gate"        // by a configuration of gates
)

// Reason is why a stack counts as changed.
type Reason struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text"` // a sentence without a full stop
	File string `json:"file"` // that has changed, from the top of the repository

	// Modules are the directories that lead from the stack to the module, from the top of the repository.
	Modules []string `json:"modules,omitempty"`
}

// Gone is a stack that there was, and is not any more.
type Gone struct {
	Path      string `json:"path"`
	Name      string `json:"name,omitempty"`       // in a workspace file
	RenamedTo string `json:"renamed_to,omitempty"` // another path; in a workspace file another name
}

// Stacks are the stacks that a diff concerns.
type Stacks struct {
	Reasons map[int][]Reason // by number of the stack in the tree
	Gone    []Gone           // sorted
	Notes   hcl.Diagnostics  // warnings: of changes that may be overlooked
}

// Stacks returns which stacks of a tree have changed.
func (d *Diff) Stacks(ctx context.Context, tree *terramate.Tree) (*Stacks, error) {
	root, err := localsource.RealPath(tree.Root)
	if err != nil {
		return nil, err
	}
	f := &finder{
		diff: d, tree: tree, root: root, used: map[string][]used{}, places: newPathIndex(d.Files),
		sources: map[string][]used{}, inModules: map[string][]changedIn{}, result: &Stacks{Reasons: map[int][]Reason{}},
	}
	if f.prefix, err = d.Prefix(root); err != nil {
		return nil, err
	}
	if err := f.gone(ctx); err != nil {
		return nil, err
	}
	f.directories()
	f.units()
	for i := range tree.Stacks {
		f.modules(i)
		f.watched(i)
	}
	f.triggers()
	return f.result, nil
}

type finder struct {
	diff   *Diff
	tree   *terramate.Tree
	root   string            // absolute directory of the tree, without links
	prefix string            // the same from the top of the repository
	used   map[string][]used // by directory
	places pathIndex

	sources map[string][]used // by directory: what files terragrunt.hcl say

	inModules map[string][]changedIn // by directory, from the top of the repository
	result    *Stacks
}

// changedIn is a change in a module.
type changedIn struct {
	file  *File
	path  string // the one that is in the module
	owner int    // the stack in whose directory that is; -1 for none
}

// inTree returns a path from the root of the tree.
func (f *finder) inTree(file string) (string, bool) {
	rel, err := filepath.Rel(filepath.FromSlash(f.prefix), filepath.FromSlash(file))
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return path.Join("/", filepath.ToSlash(rel)), true
}

// inRepository returns a path from the top of the repository.
func (f *finder) inRepository(dir string) (string, bool) {
	rel, err := filepath.Rel(f.diff.repository.Dir, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

func (f *finder) add(stack int, reason Reason) {
	f.result.Reasons[stack] = append(f.result.Reasons[stack], reason)
}

// directories finds the stacks in whose directories files have changed. What has left a stack has changed it, too.
func (f *finder) directories() {
	for _, file := range f.diff.Files {
		if i, ok := f.owner(file.Path); ok {
			f.add(i, Reason{Kind: InDirectory, File: file.Path, Text: fmt.Sprintf("%s %s", file.Path, file.what())})
		}
		if file.From == "" {
			continue
		}
		left, ok := f.owner(file.From)
		if into, same := f.owner(file.Path); ok && (!same || into != left) {
			f.add(left, Reason{Kind: InDirectory, File: file.From, Text: fmt.Sprintf("%s was renamed to %s", file.From, file.Path)})
		}
	}
}

func (f *finder) owner(file string) (int, bool) {
	if _, isTrigger := f.trigger(file); isTrigger {
		return 0, false
	}
	inTree, ok := f.inTree(path.Dir(file))
	if !ok {
		return 0, false
	}
	return f.tree.Owner(inTree)
}

// modules finds changes in what a stack uses.
func (f *finder) modules(stack int) {
	own := filepath.Join(f.root, filepath.FromSlash(f.tree.Stacks[stack].Path))
	seen := map[string]bool{own: true}
	queue := []*visit{{used: used{dir: own}}}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if at.from != nil {
			f.module(stack, at)
		}
		for _, u := range f.usedIn(at.dir) {
			if !seen[u.dir] {
				seen[u.dir] = true
				queue = append(queue, &visit{u, at})
			}
		}
	}
}

// used is a directory of a module that something uses.
type used struct {
	dir string // absolute
	rel string // from the top of the repository
}

// visit is a module on the way from a stack.
type visit struct {
	used
	from *visit // nil for the stack
}

// modules are the directories that lead from the stack to the module, from the top of the repository.
func (v *visit) modules() []string {
	var dirs []string
	for ; v.from != nil; v = v.from {
		dirs = append(dirs, v.rel)
	}
	slices.Reverse(dirs)
	return dirs
}

// module adds the first change in a module, if it is not in the directory of the stack anyway.
func (f *finder) module(stack int, at *visit) {
	changed := f.changedIn(at.rel)
	i := slices.IndexFunc(changed, func(c changedIn) bool { return c.owner != stack })
	if i < 0 {
		return
	}
	modules := at.modules()
	f.add(stack, Reason{
		Kind: InModule, File: changed[i].path, Modules: modules,
		Text: fmt.Sprintf("module %s changed: %s %s", strings.Join(modules, " → "), changed[i].file.Path, changed[i].file.what()),
	})
}

// changedIn returns the changes in a module, in the order of the diff, without those in the directories of other stacks than
// the one that the module itself may be in.
func (f *finder) changedIn(dir string) []changedIn {
	changed, known := f.inModules[dir]
	if known {
		return changed
	}
	moduleOwner, moduleOwned := f.owner(path.Join(dir, "x"))
	for _, place := range inOrder(f.places.below(dir)) {
		owner, owned := f.owner(place.path)
		switch {
		case !owned:
			owner = -1
		case !moduleOwned || owner != moduleOwner:
			continue
		}
		changed = append(changed, changedIn{&f.diff.Files[place.file], place.path, owner})
	}
	f.inModules[dir] = changed
	return changed
}

// usedIn returns the directories of the repository that one uses. Each is read once.
func (f *finder) usedIn(dir string) []used {
	all, known := f.used[dir]
	if known {
		return all
	}
	calls, _ := localsource.In(dir) //nolint:errcheck // what is not there calls nothing; whoever uses it says so
	for _, call := range calls {
		if rel, ok := f.inRepository(call.Dir); ok {
			all = append(all, used{call.Dir, rel})
		}
	}
	all = append(all, f.sources[dir]...)
	f.used[dir] = all
	return all
}

// watched finds changes of the files that a stack watches.
func (f *finder) watched(stack int) {
	s := f.tree.Stacks[stack]
	for _, watch := range s.Watch {
		wanted := watch.Text
		if !strings.HasPrefix(wanted, "/") {
			wanted = path.Join(s.Path, wanted)
		}
		if file := f.firstAt(path.Join(f.prefix, wanted)); file != nil {
			f.add(stack, Reason{Kind: Watched, File: file.Path, Text: fmt.Sprintf("it watches %s: %s %s", watch.Text, file.Path, file.what())})
		}
	}
}

// firstAt returns the first file that is, or was, at a path or is below it; nil if there is none.
func (f *finder) firstAt(path string) *File {
	first := len(f.diff.Files)
	for _, place := range f.places.at(path) {
		first = min(first, place.file)
	}
	for _, place := range f.places.below(path) {
		if !place.from {
			first = min(first, place.file)
		}
	}
	if first == len(f.diff.Files) {
		return nil
	}
	return &f.diff.Files[first]
}

// gone finds stacks that there were at the base, and those that were renamed.
func (f *finder) gone(ctx context.Context) error {
	type candidate struct {
		file        File
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
		if before == "" || !ok || !terramate.MayDefine(path.Base(before)) {
			continue
		}
		if _, still := f.tree.Index(was); !still {
			candidates = append(candidates, candidate{file, before, was})
			paths = append(paths, before)
		}
	}
	sources, err := f.diff.repository.contents(ctx, f.diff.Commit, paths, hclsource.MaxSize)
	if err != nil {
		return fmt.Errorf("read what stacks there were: %w", err)
	}
	found := map[string]bool{}
	for _, c := range candidates {
		src, readable := sources[c.before]
		if found[c.was] || !readable || !terramate.Defines(path.Base(c.before), src) {
			continue
		}
		found[c.was] = true
		gone := Gone{Path: c.was}
		if is, ok := f.inTree(path.Dir(c.file.Path)); ok && !c.file.Deleted {
			if i, there := f.tree.Index(is); there {
				gone.RenamedTo = is
				f.add(i, Reason{Kind: Renamed, File: c.file.Path, Text: "the stack was renamed from " + c.was})
			}
		}
		f.result.Gone = append(f.result.Gone, gone)
	}
	slices.SortFunc(f.result.Gone, func(a, b Gone) int { return strings.Compare(a.Path, b.Path) })
	return nil
}
