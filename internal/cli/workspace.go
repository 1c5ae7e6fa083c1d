// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"cmp"
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/order/changes"
	"github.com/cairnstacks/cairn/internal/order/stackdir"
	"github.com/cairnstacks/cairn/internal/order/workspace"
	"github.com/cairnstacks/cairn/internal/views/diagnostic"
	"github.com/cairnstacks/cairn/internal/views/jsonview"
)

// openedWorkspace is what a workspace file says, and what is selected of it.
type openedWorkspace struct {
	ordering
	*workspace.Graph
	root     string
	selected map[*workspace.Leaf]bool
	changes  *workspaceChanges // nil if it does not matter what has changed
}

// workspaceChanges say why something has changed.
type workspaceChanges struct {
	reasons    map[*workspace.Leaf][]changes.Reason
	diff       *changes.Diff
	repository *changes.Repository
}

// openWorkspace reads the workspace file and selects of it. It returns nil without an error if there is no such file.
func (s *session) openWorkspace(ctx context.Context, o treeOptions) (*openedWorkspace, error) {
	root, below, err := treeRoot(o.root)
	if err != nil {
		return nil, err
	}
	if !workspace.Exists(root) {
		return nil, nil //nolint:nilnil // there is none
	}
	model, diags := workspace.Load(root)
	if diags.HasErrors() {
		return nil, diags
	}
	graph, moreDiags := model.Graph(false)
	if moreDiags.HasErrors() {
		return nil, diags.Extend(moreDiags)
	}
	w := &openedWorkspace{Graph: graph, root: root}
	names := make([]string, graph.Len())
	for n, step := range graph.Steps {
		if step.Leaf != nil {
			names[n] = step.Leaf.Name
		}
	}
	w.ordering = ordering{
		graph: graph.Graph, rule: order.ByWeight, diags: diags.Extend(moreDiags),
		name: func(n int) string { return graph.Node(n).Name }, find: finder("stack or task", names),
	}
	if err := w.choose(ctx, o, below); err != nil {
		return nil, err
	}
	w.ordering.selected = make(order.Selection, graph.Len())
	for n, step := range graph.Steps {
		w.ordering.selected[n] = w.selected[step.Leaf]
	}
	return w, nil
}

// choose selects what passes the filters, with the tasks that go with what has changed.
func (w *openedWorkspace) choose(ctx context.Context, o treeOptions, below string) error {
	tags, err := tagQueries("-tags", o.tags)
	if err != nil {
		return err
	}
	noTags, err := tagQueries("-no-tags", o.noTags)
	if err != nil {
		return err
	}
	switch {
	case o.changed:
		if err := w.findChanges(ctx, o.base); err != nil {
			return changeProblem(err)
		}
	case o.base != "":
		return fail("Option without another", "The option -base is about what has changed: add -changed.")
	}
	w.selected = map[*workspace.Leaf]bool{}
	passes := func(leaf *workspace.Leaf) bool {
		matches := func(q stackdir.Query) bool { return q.Matches(tagsOf(leaf)) }
		return isBelow(below, directoryOf(leaf)) && (len(tags) == 0 || slices.ContainsFunc(tags, matches)) && !slices.ContainsFunc(noTags, matches)
	}
	for _, leaf := range w.Model.Leaves {
		changed := w.changes == nil || len(w.changes.reasons[leaf]) > 0
		w.selected[leaf] = changed && passes(leaf)
		if !w.selected[leaf] {
			delete(w.selected, leaf)
		}
	}
	if w.changes != nil {
		w.Model.WithTasks(w.selected)
		for leaf := range w.selected {
			if leaf.Task != nil && !passes(leaf) {
				delete(w.selected, leaf)
			}
		}
	}
	return nil
}

func tagsOf(leaf *workspace.Leaf) []string {
	var tags []string
	for tag := range leaf.AllTags {
		tags = append(tags, tag)
	}
	slices.Sort(tags)
	return tags
}

func directoryOf(leaf *workspace.Leaf) string {
	if leaf.Stack != nil {
		return leaf.Stack.Dir
	}
	return leaf.Task.Dir
}

// isBelow tells whether a directory, from the root, is in another one, which begins with a slash or is "".
func isBelow(dir, at string) bool {
	dir = strings.TrimPrefix(dir, "/")
	return dir == "" || at == dir || strings.HasPrefix(at, dir+"/")
}

// findChanges finds out what has changed, and what counts as modified because of that.
func (w *openedWorkspace) findChanges(ctx context.Context, base string) error {
	repository, err := changes.Open(ctx, w.root)
	if err != nil {
		return err
	}
	diff, err := repository.Diff(ctx, base)
	if err != nil {
		return err
	}
	reasons, err := w.ownReasons(ctx, diff, repository)
	if err != nil {
		return err
	}
	causes := map[*workspace.Leaf]workspace.Cause{}
	for leaf, list := range reasons {
		causes[leaf] = workspace.Cause{Text: list[0].Text}
	}
	for leaf, cause := range w.Model.Modified(causes) {
		if cause.By != nil {
			reasons[leaf] = append(reasons[leaf], changes.Reason{Kind: "modified_by", Text: cause.Text})
		}
	}
	w.changes = &workspaceChanges{reasons, diff, repository}
	return nil
}

// ownReasons are files in directories of stacks, in local modules they use, and those they watch.
func (w *openedWorkspace) ownReasons(ctx context.Context, diff *changes.Diff, repository *changes.Repository) (map[*workspace.Leaf][]changes.Reason, error) {
	tree := &stackdir.Tree{Root: w.root}
	for _, leaf := range w.Model.Leaves {
		if leaf.Stack != nil {
			tree.Stacks = append(tree.Stacks, &stackdir.Stack{Path: path.Join("/", leaf.Stack.Dir)})
		}
	}
	slices.SortFunc(tree.Stacks, func(a, b *stackdir.Stack) int { return cmp.Compare(a.Path, b.Path) })
	tree.Stacks = slices.CompactFunc(tree.Stacks, func(a, b *stackdir.Stack) bool { return a.Path == b.Path })
	found, err := diff.Stacks(ctx, tree)
	if err != nil {
		return nil, err
	}
	reasons := map[*workspace.Leaf][]changes.Reason{}
	for _, leaf := range w.Model.Leaves {
		if leaf.Stack == nil {
			continue
		}
		if i, ok := tree.Index(path.Join("/", leaf.Stack.Dir)); ok && len(found.Reasons[i]) > 0 {
			reasons[leaf] = found.Reasons[i]
		}
	}
	files, err := w.changedFiles(diff, repository)
	if err != nil {
		return nil, err
	}
	for leaf, cause := range w.Model.Watching(files) {
		reasons[leaf] = append(slices.Clone(reasons[leaf]), changes.Reason{Kind: changes.Watched, Text: cause.Text})
	}
	return reasons, nil
}

// changedFiles are the files of a diff, from the root of the workspace.
func (w *openedWorkspace) changedFiles(diff *changes.Diff, repository *changes.Repository) ([]string, error) {
	root, err := filepath.Abs(w.root)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return nil, err
	}
	var files []string
	add := func(name string) {
		rel, err := filepath.Rel(root, filepath.Join(repository.Dir, filepath.FromSlash(name)))
		if name != "" && err == nil && filepath.IsLocal(rel) {
			files = append(files, filepath.ToSlash(rel))
		}
	}
	for _, file := range diff.Files {
		add(file.Path)
		add(file.From)
	}
	return files, nil
}

// listWorkspace is cairn list.
func (s *session) listWorkspace(w *openedWorkspace, runOrder, why bool) error {
	var leaves []*workspace.Leaf
	for _, n := range w.graph.Sequence(w.rule, w.ordering.selected) {
		leaves = append(leaves, w.Steps[n].Leaf)
	}
	if !runOrder {
		slices.SortFunc(leaves, func(a, b *workspace.Leaf) int { return cmp.Compare(a.Name, b.Name) })
	}
	if s.options.json {
		return jsonview.WriteDocument(s.streams.Out, s.workspaceDocument(w, leaves), true)
	}
	if err := s.report(w.diags); err != nil {
		return err
	}
	for _, leaf := range leaves {
		s.stdout("%s\n", leaf.Name)
		if why {
			s.stdout("%s", reasonLines(w.reasons(leaf)))
		}
	}
	return nil
}

// reasons says why something is selected because of what has changed.
func (w *openedWorkspace) reasons(leaf *workspace.Leaf) []string {
	var texts []string
	for _, reason := range w.changes.reasons[leaf] {
		texts = append(texts, reason.Text)
	}
	if len(texts) == 0 {
		texts = append(texts, "it goes with what has changed")
	}
	return texts
}

func (s *session) workspaceDocument(w *openedWorkspace, leaves []*workspace.Leaf) stackList {
	list := stackList{FormatVersion: jsonview.FormatVersion, Stacks: []listedStack{}, Diagnostics: diagnostic.All(w.diags, s.sources())}
	for _, leaf := range leaves {
		listed := listedStack{
			Path: path.Join("/", directoryOf(leaf)), Directory: filepath.ToSlash(filepath.Join(w.root, filepath.FromSlash(directoryOf(leaf)))),
			Name: leaf.Name, Description: leaf.Description, Tags: append([]string{}, leaf.Tags...), Type: string(workspace.TaskType),
		}
		if leaf.Stack != nil {
			listed.Type, listed.Deployment = string(leaf.Stack.Kind), leaf.Stack.Deployment
		}
		for _, group := range leaf.Groups {
			listed.Groups = append(listed.Groups, group.Name)
		}
		if w.changes != nil {
			listed.Reasons = w.changes.reasons[leaf]
		}
		list.Stacks = append(list.Stacks, listed)
	}
	if w.changes != nil {
		list.Base = &listBase{w.changes.diff.Base, w.changes.diff.Commit}
	}
	return list
}
