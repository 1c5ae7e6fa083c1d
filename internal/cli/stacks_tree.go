// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/order/changes"
	"github.com/cairnstacks/cairn/internal/order/process"
	"github.com/cairnstacks/cairn/internal/order/stackdir"
	"github.com/cairnstacks/cairn/internal/order/tagquery"
	"github.com/cairnstacks/cairn/internal/order/workspace"
)

// stackTree is a tree of stacks and what is selected of it.
type stackTree struct {
	*stackdir.Tree
	session  *session
	selected stackdir.Selected
	changes  *changedStacks // nil if it does not matter what has changed
	below    string         // the current directory, from the root; "" if it is not in the tree
	phases   bool           // asked for
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
	if len(tree.Stacks) == 0 {
		diags = diags.Append(noStacks(root))
	}
	t := &stackTree{Tree: tree, session: s, below: below, phases: o.phases, diags: diags}
	filter := stackdir.Filter{Below: below}
	if filter.TagFilter, err = o.tagFilter(); err != nil {
		return nil, err
	}
	query, err := tagQuery(o.query)
	if err != nil {
		return nil, err
	}
	filter.Only = func(s *stackdir.Stack) bool { return query.Match(subjectOf(s)) }
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

// noStacks says what a tree without stacks lacks.
func noStacks(root string) *hcl.Diagnostic {
	detail := fmt.Sprintf("There is no stack in %s: no directory with files *.tfcomponent.hcl, or with a stack block in *.tm.hcl or *.tsk.hcl. "+
		"Plain root modules are named in a file %s; \"cairn order convert -from=roots > %[2]s\" writes one.", shownDir(root), workspace.FileName)
	return &hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: "No stacks", Detail: detail}
}

// subjectOf is a stack as queries see it.
func subjectOf(s *stackdir.Stack) tagquery.Subject {
	dir := cmp.Or(strings.TrimPrefix(s.Path, "/"), ".")
	subject := tagquery.Subject{Dir: dir, Tags: map[string]bool{"dir:" + dir: true}}
	for _, tag := range s.Tags {
		subject.Tags[tag] = true
	}
	return subject
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

func (t *stackTree) ordered() (*ordering, error) {
	if t.phases {
		return nil, noPhases()
	}
	graph, diags := t.Graph()
	if diags.HasErrors() {
		return nil, t.diags.Extend(diags)
	}
	o := &ordering{
		graph: graph, rule: order.ByQueue, selected: t.selected.Selection, name: t.name, find: t.finder().find, diags: t.diags.Extend(diags),
	}
	if t.changes != nil {
		o.repository = t.changes.repository
	}
	return o, nil
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

// finder finds stacks by their directories, their paths from the root, and their ids.
func (t *stackTree) finder() finder {
	f := finder{what: "stack", below: t.below}
	for i, stack := range t.Stacks {
		f.names, f.dirs, f.ids = append(f.names, t.name(i)), append(f.dirs, stack.Path), append(f.ids, stack.ID)
	}
	return f
}

func (t *stackTree) listed(inOrder bool) (listing, error) {
	l := listing{diags: t.diags}
	var selected []int
	if inOrder {
		o, err := t.ordered()
		if err != nil {
			return l, err
		}
		l.diags = o.diags
		selected = o.graph.Sequence(o.rule, o.selected)
	} else {
		for i := range t.Stacks {
			if t.selected.Selection.Has(i) {
				selected = append(selected, i)
			}
		}
	}
	for _, i := range selected {
		stack := t.Stacks[i]
		listed := listedStack{
			shown: t.name(i), Path: stack.Path, Directory: t.name(i), ID: stack.ID, Name: stack.Name, Description: stack.Description,
			Tags: append([]string{}, stack.Tags...), Wanted: t.selected.Wanted[i],
		}
		if t.changes != nil {
			listed.Reasons = t.changes.Reasons[i]
		}
		l.stacks = append(l.stacks, listed)
	}
	if t.changes != nil {
		l.base, l.gone = baseOf(t.changes.diff), t.changes.Gone
	}
	return l, nil
}

func (t *stackTree) runIn(ctx context.Context, options runOptions) (int, error) {
	o, err := t.ordered()
	if err != nil {
		return 0, err
	}
	if options.reverse {
		o.graph = o.graph.Reverse()
	}
	return t.session.runNodes(ctx, o, options, order.RunOptions{Parallel: options.parallel}, func(i int) nodeWork {
		command := process.Command{Program: options.program, Args: options.command[1:], Dir: t.dir(i)}
		return nodeWork{shown: options.command, Job: process.Job{Command: command}}
	})
}
