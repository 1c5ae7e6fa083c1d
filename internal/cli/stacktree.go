// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/order/changes"
	"github.com/cairnstacks/cairn/internal/order/render"
	"github.com/cairnstacks/cairn/internal/order/stackdir"
)

// treeOptions choose stacks of a tree.
type treeOptions struct {
	root         string
	tags, noTags listValue
	changed      bool
	base         string

	plugins pluginOptions
}

func (f *flagSet) treeFlags(o *treeOptions) {
	*o = treeOptions{}
	f.rootFlag(o)
	f.Var(&o.tags, "tags", "only stacks whose tags match `QUERY`: a:b for both, a,b for one of them; may be repeated for alternatives")
	f.Var(&o.noTags, "no-tags", "no stacks whose tags match `QUERY`")
	f.BoolVar(&o.changed, "changed", false, "only stacks that have changed, as git tells")
	f.StringVar(&o.base, "base", "", "changed since the work left the commit or branch `REF`, or in a range FROM..TO (default: the default branch)")
}

func (f *flagSet) rootFlag(o *treeOptions) {
	f.StringVar(&o.root, "root", "", "the tree of stacks is in `DIR` (default: the git repository, or the current directory)")
}

// stackTree is a tree of stacks and what is selected of it.
type stackTree struct {
	*stackdir.Tree
	graph    *order.Graph // nil until it is asked for
	selected stackdir.Selected
	changes  *changedStacks // nil if it does not matter what has changed
	below    string         // the current directory, from the root; "" if it is not in the tree
	diags    hcl.Diagnostics
}

// changedStacks are what has changed in a tree.
type changedStacks struct {
	*changes.Stacks
	diff       *changes.Diff
	repository *changes.Repository
}

// openTree reads the tree and selects stacks.
//
// Errors: diagnostics of reading it, which come with the tree, so that there is source to show; warnings are in the tree.
func (s *session) openTree(ctx context.Context, o treeOptions) (*stackTree, error) {
	root, below, err := treeRoot(o.root)
	if err != nil {
		return nil, err
	}
	tree, diags := stackdir.Load(root)
	for name, file := range tree.Files {
		s.files[name] = file
	}
	if diags.HasErrors() {
		return nil, diags
	}
	t := &stackTree{Tree: tree, below: below, diags: diags}
	filter := stackdir.Filter{Below: below}
	if filter.Tags, err = tagQueries("-tags", o.tags); err != nil {
		return nil, err
	}
	if filter.NoTags, err = tagQueries("-no-tags", o.noTags); err != nil {
		return nil, err
	}
	switch {
	case o.changed:
		if t.changes, err = findChanges(ctx, tree, o.base); err != nil {
			return nil, changeProblem(err)
		}
		filter.Changed = make(order.Selection, len(tree.Stacks))
		for i := range t.changes.Reasons {
			filter.Changed[i] = true
		}
	case o.base != "":
		return nil, fail("Option without another", "The option -base is about what has changed: add -changed.")
	}
	t.selected = tree.Select(filter)
	return t, nil
}

// treeRoot returns the directory of the tree, relative to the current one where it can be, and the latter from there.
func treeRoot(option string) (root, below string, err error) {
	current, err := os.Getwd()
	if err != nil {
		return "", "", err
	}
	root = option
	if root == "" {
		top := repositoryTop(current)
		if root, err = filepath.Rel(current, top); err != nil {
			return "", "", err
		}
	} else if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return "", "", fail("Directory cannot be used", "The option -root names no directory: %s.", root)
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		return "", "", err
	}
	if rel, err := filepath.Rel(abs, current); err == nil && filepath.IsLocal(rel) {
		below = path.Join("/", filepath.ToSlash(rel))
	}
	return root, below, nil
}

// repositoryTop returns the directory above, or the one itself, that has a repository; without one the directory itself.
func repositoryTop(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

func tagQueries(option string, texts []string) ([]stackdir.Query, error) {
	var queries []stackdir.Query
	for _, text := range texts {
		query, err := stackdir.ParseQuery(text)
		if err != nil {
			return nil, hcl.Diagnostics{order.Problem(order.CodeBadTagQuery, nil, "Malformed tag query", "The option %s=%s is no query of tags: %s.", option, text, err)}
		}
		queries = append(queries, query)
	}
	return queries, nil
}

func findChanges(ctx context.Context, tree *stackdir.Tree, base string) (*changedStacks, error) {
	repository, err := changes.Open(ctx, tree.Root)
	if err != nil {
		return nil, err
	}
	diff, err := repository.Diff(ctx, base)
	if err != nil {
		return nil, err
	}
	stacks, err := diff.Stacks(ctx, tree)
	return &changedStacks{stacks, diff, repository}, err
}

// changeProblem makes a diagnostic of an error of change detection.
func changeProblem(err error) error {
	if p, ok := errors.AsType[*changes.Problem](err); ok {
		return fail(p.Summary, "%s", p.Detail)
	}
	return err
}

// order makes the graph.
func (t *stackTree) order() error {
	g, diags := t.Graph()
	if diags.HasErrors() {
		return t.diags.Extend(diags)
	}
	t.graph, t.diags = g, t.diags.Extend(diags)
	return nil
}

// name is how users see a stack: its directory, relative to the current one.
func (t *stackTree) name(i int) string { return t.nameOf(t.Stacks[i].Path) }

func (t *stackTree) nameOf(stackPath string) string {
	if t.below != "" {
		if rel, err := filepath.Rel(filepath.FromSlash(t.below), filepath.FromSlash(stackPath)); err == nil {
			return filepath.ToSlash(rel)
		}
	}
	return filepath.ToSlash(filepath.Join(t.Root, filepath.FromSlash(stackPath)))
}

// dir is the directory of a stack.
func (t *stackTree) dir(i int) string {
	return filepath.Join(t.Root, filepath.FromSlash(t.Stacks[i].Path))
}

func (t *stackTree) view(transitive bool) render.View {
	return render.View{Graph: t.graph, Selected: t.selected.Selection, Rule: order.ByQueue, Name: t.name, Transitive: transitive}
}

// find returns the stack that an argument names: its directory, or its path from the root.
func (t *stackTree) find(name string) (int, error) {
	at := name
	if !strings.HasPrefix(name, "/") {
		at = path.Join("/", t.below, filepath.ToSlash(name))
	}
	if i, ok := t.Index(path.Clean(at)); ok {
		return i, nil
	}
	names := make([]string, len(t.Stacks))
	for i := range t.Stacks {
		names[i] = t.name(i)
	}
	return 0, hcl.Diagnostics{order.Problem(order.CodeUnknownRef, nil, "No such stack", "There is no stack %q.%s Run \"cairn list\" for all.", name, didYouMean(name, names, ""))}
}

// listed returns the selected stacks by path.
func (t *stackTree) listed() []int {
	var list []int
	for i := range t.Stacks {
		if t.selected.Selection.Has(i) {
			list = append(list, i)
		}
	}
	return list
}

// reasons says why a stack is selected, as far as it is not by filters alone.
func (t *stackTree) reasons(i int) []string {
	var texts []string
	if t.changes != nil {
		for _, reason := range t.changes.Reasons[i] {
			texts = append(texts, reason.Text)
		}
	}
	if wanted := t.selected.Wanted[i]; wanted != "" {
		texts = append(texts, wanted)
	}
	return slices.Compact(texts)
}

// gone describes the stacks that there are no more.
func (t *stackTree) gone() []string {
	var texts []string
	if t.changes != nil {
		for _, gone := range t.changes.Gone {
			text := fmt.Sprintf("%s was deleted", gone.Path)
			if gone.RenamedTo != "" {
				text = fmt.Sprintf("%s was renamed to %s", gone.Path, gone.RenamedTo)
			}
			texts = append(texts, text)
		}
	}
	return texts
}
