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

	"github.com/cairnstacks/cairn/internal/format/cairnfile"
	"github.com/cairnstacks/cairn/internal/format/terramate"
	"github.com/cairnstacks/cairn/internal/gitdiff"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/process"
	"github.com/cairnstacks/cairn/internal/tagquery"
)

// stackTree is a tree of stacks and what is selected of it.
type stackTree struct {
	*terramate.Tree
	place
	session  *session
	selected terramate.Selected
	changes  *changedStacks // nil if it does not matter what has changed
	phases   bool           // asked for
	diags    hcl.Diagnostics
}

// changedStacks are what has changed in a tree.
type changedStacks struct {
	*terramate.Changes
	diff       *gitdiff.Diff
	repository *gitdiff.Repository
}

// loadTree reads a tree. Warnings are in it.
func (s *session) loadTree(at place, o treeOptions) (*stackTree, error) {
	tree, diags := terramate.Load(at.root)
	for name, file := range tree.Files {
		s.files[name] = file
	}
	if diags.HasErrors() {
		return nil, diags
	}
	if len(tree.Stacks) == 0 {
		diags = diags.Append(noStacks(at.root))
	}
	return &stackTree{Tree: tree, place: at, session: s, phases: o.phases, diags: diags}, nil
}

// choose selects what passes the filters.
func (t *stackTree) choose(ctx context.Context, o treeOptions) error {
	tags, err := o.tagFilter()
	if err != nil {
		return err
	}
	query, err := tagQuery(o.query)
	if err != nil {
		return err
	}
	filter := terramate.Filter{Below: t.below, TagFilter: tags}
	filter.Only = func(s *terramate.Stack) bool { return query.Match(subjectOf(s)) }
	if o.changed {
		repository, diff, err := o.diffOf(ctx, t.root)
		if err != nil {
			return err
		}
		changed, err := t.Changes(ctx, diff)
		if err != nil {
			return changeProblem(err)
		}
		t.diags = t.diags.Extend(changed.Notes)
		t.changes = &changedStacks{changed, diff, repository}
		filter.Changed = make(order.Selection, len(t.Stacks))
		for i := range t.changes.Reasons {
			filter.Changed[i] = true
		}
	}
	t.selected = t.Select(filter)
	return nil
}

// noStacks says what a tree without stacks lacks.
func noStacks(root string) *hcl.Diagnostic {
	detail := fmt.Sprintf("There is no stack in %s: no directory with files *.tfcomponent.hcl, or with a stack block in *.tm.hcl or *.tsk.hcl. "+
		"Plain root modules are named in a file %s; \"cairn order convert -from=roots > %[2]s\" writes one.", shownDir(root), cairnfile.FileName)
	return &hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: "No stacks", Detail: detail}
}

// subjectOf is a stack as queries see it.
func subjectOf(s *terramate.Stack) tagquery.Subject {
	dir := cmp.Or(strings.TrimPrefix(s.Path, "/"), ".")
	subject := tagquery.Subject{Dir: dir, Tags: map[string]bool{"dir:" + dir: true}}
	if s.Kind != "" {
		subject.Tags["kind:"+string(s.Kind)] = true
	}
	for _, tag := range s.Tags {
		subject.Tags[tag] = true
	}
	return subject
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
			Tags: append([]string{}, stack.Tags...), Type: string(stack.Kind), Wanted: t.selected.Wanted[i],
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
