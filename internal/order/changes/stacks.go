// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package changes

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/order/localsource"
	"github.com/cairnstacks/cairn/internal/order/stackdir"
)

// Kind says how a change concerns a stack.
type Kind string

// The kinds of reasons.
const (
	InDirectory Kind = "directory"
	InModule    Kind = "module" // also an embedded stack
	Watched     Kind = "watch"
	Renamed     Kind = "renamed" // the whole stack
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
	RenamedTo string `json:"renamed_to,omitempty"`
}

// Stacks are the stacks that a diff concerns.
type Stacks struct {
	Reasons map[int][]Reason // by number of the stack in the tree
	Gone    []Gone           // sorted
}

// Stacks returns which stacks of a tree have changed.
func (d *Diff) Stacks(ctx context.Context, tree *stackdir.Tree) (*Stacks, error) {
	root, err := filepath.Abs(tree.Root)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return nil, err
	}
	f := &finder{diff: d, tree: tree, root: root, calls: map[string][]localsource.Call{}, result: &Stacks{Reasons: map[int][]Reason{}}}
	if f.prefix, err = filepath.Rel(d.repository.Dir, root); err != nil {
		return nil, err
	}
	f.prefix = filepath.ToSlash(f.prefix)
	f.gone(ctx)
	f.directories()
	for i := range tree.Stacks {
		f.modules(i)
		f.watched(i)
	}
	return f.result, nil
}

type finder struct {
	diff   *Diff
	tree   *stackdir.Tree
	root   string                        // absolute directory of the tree, without links
	prefix string                        // the same from the top of the repository
	calls  map[string][]localsource.Call // by directory
	result *Stacks
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
	inTree, ok := f.inTree(path.Dir(file))
	if !ok {
		return 0, false
	}
	return f.tree.Owner(inTree)
}

// modules finds changes in what a stack uses.
func (f *finder) modules(stack int) {
	type visit struct {
		dir  string // absolute
		path []string
	}
	own := filepath.Join(f.root, filepath.FromSlash(f.tree.Stacks[stack].Path))
	seen := map[string]bool{own: true}
	queue := []visit{{dir: own}}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if len(at.path) > 0 {
			f.module(stack, at.path)
		}
		for _, call := range f.callsIn(at.dir) {
			if rel, ok := f.inRepository(call.Dir); ok && !seen[call.Dir] {
				seen[call.Dir] = true
				queue = append(queue, visit{call.Dir, append(slices.Clone(at.path), rel)})
			}
		}
	}
}

// module adds the first change in the last of the directories that lead to it, if it is not in that of the stack anyway.
func (f *finder) module(stack int, modules []string) {
	dir := modules[len(modules)-1]
	moduleOwner, moduleOwned := f.owner(path.Join(dir, "x"))
	for _, file := range f.diff.Files {
		changed := file.Path
		if !isBelow(dir, changed) {
			if changed = file.From; changed == "" || !isBelow(dir, changed) {
				continue
			}
		}
		owner, owned := f.owner(changed)
		if owned && (owner == stack || !moduleOwned || owner != moduleOwner) {
			continue // in the directory of the stack, or in that of another one inside of the module's
		}
		f.add(stack, Reason{
			Kind: InModule, File: changed, Modules: modules,
			Text: fmt.Sprintf("module %s changed: %s %s", strings.Join(modules, " → "), file.Path, file.what()),
		})
		return
	}
}

func isBelow(dir, file string) bool {
	return dir == "." || strings.HasPrefix(file, dir+"/")
}

func (f *finder) callsIn(dir string) []localsource.Call {
	calls, known := f.calls[dir]
	if !known {
		calls, _ = localsource.In(dir) //nolint:errcheck // what is not there calls nothing; whoever uses it says so
		f.calls[dir] = calls
	}
	return calls
}

// watched finds changes of the files that a stack watches.
func (f *finder) watched(stack int) {
	s := f.tree.Stacks[stack]
	for _, watch := range s.Watch {
		wanted := watch.Text
		if !strings.HasPrefix(wanted, "/") {
			wanted = path.Join(s.Path, wanted)
		}
		wanted = path.Join(f.prefix, wanted)
		for _, file := range f.diff.Files {
			if file.Path == wanted || file.From == wanted || isBelow(wanted, file.Path) {
				f.add(stack, Reason{Kind: Watched, File: file.Path, Text: fmt.Sprintf("it watches %s: %s %s", watch.Text, file.Path, file.what())})
				break
			}
		}
	}
}

// gone finds stacks that there were at the base, and those that were renamed.
func (f *finder) gone(ctx context.Context) {
	for _, file := range f.diff.Files {
		before := file.From
		if file.Deleted {
			before = file.Path
		}
		was, ok := f.inTree(path.Dir(before))
		if before == "" || !ok {
			continue
		}
		if _, still := f.tree.Index(was); still || slices.ContainsFunc(f.result.Gone, func(g Gone) bool { return g.Path == was }) {
			continue
		}
		src, err := f.diff.repository.run(ctx, "show", f.diff.Commit+":"+before)
		if err != nil || !stackdir.Defines(path.Base(before), []byte(src)) {
			continue
		}
		gone := Gone{Path: was}
		if is, ok := f.inTree(path.Dir(file.Path)); ok && !file.Deleted {
			if i, there := f.tree.Index(is); there {
				gone.RenamedTo = is
				f.add(i, Reason{Kind: Renamed, File: file.Path, Text: "the stack was renamed from " + was})
			}
		}
		f.result.Gone = append(f.result.Gone, gone)
	}
	slices.SortFunc(f.result.Gone, func(a, b Gone) int { return strings.Compare(a.Path, b.Path) })
}
