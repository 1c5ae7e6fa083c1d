// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/format/cairnfile"
	"github.com/cairnstacks/cairn/internal/format/terrateam"
	"github.com/cairnstacks/cairn/internal/gitdiff"
	orderproblem "github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/tagquery"
)

// stacks are what there is to list, to put in order and to run commands in, with what is selected of it: the stacks and tasks of a
// workspace file, those of a tree of directories, or the directories of a configuration of gates.
type stacks interface {
	// ordered puts them in order.
	ordered() (*ordering, error)

	// listed lists what is selected, by name or as it is run.
	listed(inOrder bool) (listing, error)

	// runIn runs a command in what is selected, and returns the exit code.
	runIn(ctx context.Context, o runOptions) (int, error)
}

var _, _, _ stacks = (*openedWorkspace)(nil), (*stackTree)(nil), (*gates)(nil)

// listing is what cairn list shows.
type listing struct {
	stacks []listedStack
	base   *listBase      // nil if it does not matter what has changed
	gone   []gitdiff.Gone // the same
	diags  hcl.Diagnostics
}

// openStacks reads the workspace file if there is one, else the tree of stacks, else the configuration of gates.
func (s *session) openStacks(ctx context.Context, o treeOptions) (stacks, error) {
	at, err := o.place()
	if err != nil {
		return nil, err
	}
	if cairnfile.Exists(at.root) {
		return s.openWorkspace(ctx, at, o, func(m *cairnfile.Model) (*cairnfile.Graph, hcl.Diagnostics) { return m.Graph(o.phases) })
	}
	tree, err := s.loadTree(at, o)
	if err != nil {
		return nil, err
	}
	if len(tree.Stacks) == 0 && terrateam.Exists(at.root) {
		return s.openGates(ctx, rollout.ApplyAll, gateOptions{tree: o})
	}
	return tree, tree.choose(ctx, o)
}

// treeOptions choose stacks of a tree.
type treeOptions struct {
	root         string
	tags, noTags listValue
	query        string
	changed      bool
	base         string
	phases       bool // of a workspace file, planning and applying on their own

	plugins pluginOptions
}

func (f *flagSet) treeFlags(o *treeOptions) {
	*o = treeOptions{}
	f.rootFlag(o)
	f.Var(&o.tags, "tags", "only stacks whose tags match `QUERY`: a:b for both, a,b for one of them; may be repeated for alternatives")
	f.Var(&o.noTags, "no-tags", "no stacks whose tags match `QUERY`")
	f.StringVar(&o.query, "query", "", "only what has tags that match `QUERY` with and, or, not: \"prod and not dir:live/prod/db\"; kind:stack, kind:terraform and kind:task are tags, too")
	f.BoolVar(&o.changed, "changed", false, "only stacks that have changed, as git tells")
	f.StringVar(&o.base, "base", "", "changed since the work left the commit or branch `REF`, or in a range FROM..TO (default: the default branch)")
}

func (f *flagSet) rootFlag(o *treeOptions) {
	f.StringVar(&o.root, "root", "", "the tree of stacks is in `DIR` (default: the git repository, or the current directory)")
}

// shownDir is a directory as messages name it: "." says nothing.
func shownDir(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

// place is where stacks are, and where the user is.
type place struct {
	root  string // directory of the tree, relative to the current one where it can be
	below string // the current directory, from the root; "" if it is not in it
}

// place finds the root that the options mean.
func (o *treeOptions) place() (place, error) {
	if o.base != "" && !o.changed {
		return place{}, fail("Option without another", "The option -base is about what has changed: add -changed.")
	}
	current, err := os.Getwd()
	if err != nil {
		return place{}, err
	}
	at := place{root: o.root}
	if at.root == "" {
		top := repositoryTop(current)
		if at.root, err = filepath.Rel(current, top); err != nil {
			return place{}, err
		}
	} else if info, err := os.Stat(at.root); err != nil || !info.IsDir() {
		return place{}, fail("Directory cannot be used", "The option -root names no directory: %s.", at.root)
	}
	abs, err := filepath.Abs(at.root)
	if err != nil {
		return place{}, err
	}
	if rel, err := filepath.Rel(abs, current); err == nil && filepath.IsLocal(rel) {
		at.below = path.Join("/", filepath.ToSlash(rel))
	}
	return at, nil
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

// chosen says what may have left out everything.
func (o *treeOptions) chosen() string {
	if o.changed {
		return "that is selected has changed"
	}
	return "is selected"
}

func tagQuery(text string) (tagquery.Query, error) {
	query, err := tagquery.Parse(text)
	if err != nil {
		return query, hcl.Diagnostics{orderproblem.New(orderproblem.BadTagQuery, nil, "Invalid tag query", "The option -query=%s is no query of tags: %s.", commandLine([]string{text}), err)}
	}
	return query, nil
}

// tagFilter is what the options -tags and -no-tags let pass.
func (o *treeOptions) tagFilter() (filter tagquery.TagFilter, err error) {
	if filter.Tags, err = tagQueries("-tags", o.tags); err != nil {
		return filter, err
	}
	filter.NoTags, err = tagQueries("-no-tags", o.noTags)
	return filter, err
}

func tagQueries(option string, texts []string) ([]tagquery.Terms, error) {
	var queries []tagquery.Terms
	for _, text := range texts {
		query, err := tagquery.ParseTerms(text)
		if err != nil {
			return nil, hcl.Diagnostics{orderproblem.New(orderproblem.BadTagQuery, nil, "Invalid tag query", "The option %s=%s is no query of tags: %s.", option, text, err)}
		}
		queries = append(queries, query)
	}
	return queries, nil
}

// diffOf asks git what has changed in a tree since the base of the options.
func (o *treeOptions) diffOf(ctx context.Context, root string) (*gitdiff.Repository, *gitdiff.Diff, error) {
	repository, err := gitdiff.Open(ctx, root)
	if err != nil {
		return nil, nil, changeProblem(err)
	}
	diff, err := repository.Diff(ctx, o.base)
	return repository, diff, changeProblem(err)
}

// changeProblem makes a diagnostic of an error of change detection.
func changeProblem(err error) error {
	if p, ok := errors.AsType[*gitdiff.Problem](err); ok {
		return fail(p.Summary, "%s", p.Detail)
	}
	return err
}
