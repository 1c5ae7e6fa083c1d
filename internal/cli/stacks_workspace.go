// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"cmp"
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/format/cairnfile"
	"github.com/cairnstacks/cairn/internal/gitdiff"
	"github.com/cairnstacks/cairn/internal/order"
	orderproblem "github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/process"
	"github.com/cairnstacks/cairn/internal/show"
)

// openedWorkspace is what a workspace file says, and what is selected of it.
type openedWorkspace struct {
	ordering
	*cairnfile.Graph
	place
	session  *session
	absolute string // path of the root
	selected cairnfile.Selected
	changes  *cairnfile.Changes // nil if it does not matter what has changed
	diff     *gitdiff.Diff      // the same
}

// openWorkspace reads the workspace file and selects of the graph that is made of it.
func (s *session) openWorkspace(
	ctx context.Context, at place, o treeOptions, graphOf func(*cairnfile.Model) (*cairnfile.Graph, hcl.Diagnostics),
) (*openedWorkspace, error) {
	model, diags := cairnfile.Load(at.root)
	if diags.HasErrors() {
		return nil, diags
	}
	graph, moreDiags := graphOf(model)
	if moreDiags.HasErrors() {
		return nil, diags.Extend(moreDiags)
	}
	absolute, err := filepath.Abs(at.root)
	if err != nil {
		return nil, err
	}
	w := &openedWorkspace{place: at, session: s, Graph: graph, absolute: absolute}
	f := finder{what: "stack or task", names: make([]string, graph.Len()), dirs: make([]string, graph.Len()), below: at.below}
	for n, step := range graph.Steps {
		if step.Leaf != nil {
			f.names[n] = step.Leaf.Name
			if step.Leaf.Stack != nil {
				f.dirs[n] = path.Join("/", step.Leaf.Stack.Dir)
			}
		}
	}
	w.ordering = ordering{
		graph: graph.Graph, rule: model.Rule(), diags: diags.Extend(moreDiags),
		name: func(n int) string { return graph.Node(n).Name }, find: func(name string) (int, error) {
			if block := model.Block(name); block != nil && block.Type == cairnfile.GroupType {
				return 0, hcl.Diagnostics{orderproblem.New(orderproblem.UnknownRef, nil, "Group instead of a stack", "%q is a group. Name a stack or task in it, or that waits for it.", name)}
			}
			return f.find(name)
		},
		groups: workspaceGroups(graph), kind: func(n int) show.Kind { return workspaceKind(graph.Steps[n]) },
	}
	if err := w.choose(ctx, o); err != nil {
		return nil, err
	}
	w.ordering.selected = make(order.Selection, graph.Len())
	for n, step := range graph.Steps {
		w.ordering.selected[n] = w.selected.Leaves[step.Leaf]
	}
	return w, nil
}

// workspaceGroups returns the groups as they are written, with the nodes of what they hold.
func workspaceGroups(graph *cairnfile.Graph) []show.Group {
	var groups []show.Group
	for _, block := range graph.Model.Blocks {
		if block.Type != cairnfile.GroupType {
			continue
		}
		group := show.Group{Name: block.Name}
		for n, step := range graph.Steps {
			if step.Leaf != nil && slices.Contains(step.Leaf.Groups, block) {
				group.Nodes = append(group.Nodes, n)
			}
		}
		groups = append(groups, group)
	}
	return groups
}

func workspaceKind(step cairnfile.Step) show.Kind {
	switch {
	case step.Leaf == nil:
		return ""
	case step.Leaf.Task != nil:
		return show.TaskKind
	case step.Phase == cairnfile.Plan:
		return show.PlanKind
	case step.Phase == cairnfile.Apply:
		return show.ApplyKind
	}
	return show.StackKind
}

// choose selects what passes the filters.
func (w *openedWorkspace) choose(ctx context.Context, o treeOptions) error {
	tags, err := o.tagFilter()
	if err != nil {
		return err
	}
	query, err := tagQuery(o.query)
	if err != nil {
		return err
	}
	if o.changed {
		if w.repository, w.diff, err = o.diffOf(ctx, w.root); err != nil {
			return err
		}
		if w.changes, err = w.Model.Changes(ctx, w.root, w.diff); err != nil {
			return changeProblem(err)
		}
		w.diags = w.diags.Extend(w.changes.Notes)
	}
	w.selected = w.Model.Select(cairnfile.Filter{
		Below: w.below, TagFilter: tags, Changes: w.changes,
		Only: func(leaf *cairnfile.Leaf) bool { return query.Match(leaf.Subject()) },
	})
	return nil
}

func (w *openedWorkspace) ordered() (*ordering, error) { return &w.ordering, nil }

func (w *openedWorkspace) listed(inOrder bool) (listing, error) {
	var leaves []*cairnfile.Leaf
	for _, n := range w.graph.Sequence(w.rule, w.ordering.selected) {
		leaves = append(leaves, w.Steps[n].Leaf)
	}
	if !inOrder {
		slices.SortFunc(leaves, func(a, b *cairnfile.Leaf) int { return cmp.Compare(a.Name, b.Name) })
	}
	l := listing{diags: w.diags}
	for _, leaf := range leaves {
		listed := listedStack{
			shown: leaf.Name,
			Path:  path.Join("/", leaf.Dir()), Directory: filepath.ToSlash(filepath.Join(w.root, filepath.FromSlash(leaf.Dir()))),
			Name: leaf.Name, Description: leaf.Description, Tags: append([]string{}, leaf.Tags...), Type: string(cairnfile.TaskType),
			Wanted: w.selected.Wanted[leaf].Text, Reasons: w.selected.Reasons[leaf],
		}
		if leaf.Stack != nil {
			listed.Type, listed.Deployment, listed.Workspace = string(leaf.Stack.Kind), leaf.Stack.Deployment, leaf.Stack.Workspace
		}
		for _, group := range leaf.Groups {
			listed.Groups = append(listed.Groups, group.Name)
		}
		l.stacks = append(l.stacks, listed)
	}
	if w.changes != nil {
		l.base, l.gone = baseOf(w.diff), w.changes.Gone
	}
	return l, nil
}

// runIn runs a command in the stacks, and the tasks.
func (w *openedWorkspace) runIn(ctx context.Context, options runOptions) (int, error) {
	o := w.ordering
	done := make([]bool, w.Len()) // what has run counts as changed
	changed := func(n int) bool { return done[n] }
	if options.parallelOption == 0 && w.Model.Parallel > 0 {
		options.parallel = w.Model.Parallel
	}
	graphOptions := order.RunOptions{Parallel: options.parallel, Limits: w.Limits(), Decide: w.Decide(changed)}
	if options.reverse {
		// What tasks do is not undone by doing it once more.
		o.graph, graphOptions.Decide = o.graph.Reverse(), nil
		o.selected = slices.Clone(o.selected)
		for n, step := range w.Steps {
			o.selected[n] = o.selected[n] && step.Leaf.Stack != nil
		}
	}
	return w.session.runNodes(ctx, &o, options, graphOptions, func(n int) nodeWork {
		leaf := w.Steps[n].Leaf
		done[n] = true // read only by what waits for it, and then only if it has succeeded
		if leaf.Task != nil {
			return w.taskWork(leaf, w.Reacts(n, changed))
		}
		return w.stackWork(leaf, options)
	})
}

func (w *openedWorkspace) stackWork(leaf *cairnfile.Leaf, options runOptions) nodeWork {
	env := append(os.Environ(), leaf.Environ()...)
	env = append(env, cairnfile.VarFilesEnviron(leaf.VarFiles(w.absolute), os.Getenv)...)
	if leaf.Stack.Workspace != "" {
		env = append(env, "TF_WORKSPACE="+leaf.Stack.Workspace)
	}
	return nodeWork{
		shown: options.command,
		Job:   process.Job{Command: process.Command{Program: options.program, Args: options.command[1:], Dir: w.dir(leaf), Env: env}},
	}
}

func (w *openedWorkspace) taskWork(leaf *cairnfile.Leaf, reacts bool) nodeWork {
	job := leaf.Task.Job(w.dir(leaf), append(os.Environ(), leaf.Environ()...), reacts)
	return nodeWork{job, leaf.Task.Command}
}

func (w *openedWorkspace) dir(leaf *cairnfile.Leaf) string {
	return filepath.Join(w.root, filepath.FromSlash(leaf.Dir()))
}
