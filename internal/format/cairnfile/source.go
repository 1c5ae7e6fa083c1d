// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/fleet"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/tagquery"
)

// opened is the graph of a workspace file with the selection of a request.
type opened struct {
	*Graph
	root     string // absolute path
	selected Selected
	modified *Changes       // nil if changes do not matter
	changes  *fleet.Changes // the same
	diags    hcl.Diagnostics
}

// openSelected selects of the graph that is made of the workspace file of a request.
func openSelected(
	ctx context.Context, r fleet.Request, model *Model, diags hcl.Diagnostics, graphOf func(*Model) (*Graph, hcl.Diagnostics),
) (*opened, error) {
	if diags.HasErrors() {
		return nil, diags
	}
	graph, moreDiags := graphOf(model)
	diags = diags.Extend(moreDiags)
	if moreDiags.HasErrors() {
		return nil, diags
	}
	root, err := filepath.Abs(r.Root)
	if err != nil {
		return nil, err
	}
	changes, err := r.Diff(ctx)
	if err != nil {
		return nil, err
	}
	o := &opened{Graph: graph, root: root, changes: changes, diags: diags}
	if changes != nil {
		if o.modified, err = model.Changes(ctx, r.Root, changes.Diff); err != nil {
			return nil, err
		}
		changes.Gone, o.diags = o.modified.Gone, o.diags.Extend(o.modified.Notes)
	}
	named, err := r.Named(model.names())
	if err != nil {
		return nil, err
	}
	subjects, number := make([]tagquery.Subject, len(model.Leaves)), make(map[*Leaf]int, len(model.Leaves))
	for i, leaf := range model.Leaves {
		subjects[i], number[leaf] = leaf.Subject(), i
	}
	matches := r.Matches(subjects)
	o.selected = model.Select(Filter{
		Below: r.Within(), TagFilter: r.TagFilter, Changes: o.modified, Along: r.Along,
		Only: func(leaf *Leaf) bool { return (named == nil || named[leaf.Name]) && matches(number[leaf]) },
	})
	return o, nil
}

// Open reads the workspace file in the root of a request, and returns its stacks and tasks with the
// selection of the request.
func Open(ctx context.Context, r fleet.Request) (*fleet.Source, error) {
	model, diags := Load(r.Root)
	o, err := openSelected(ctx, r, model, diags, func(m *Model) (*Graph, hcl.Diagnostics) { return m.Graph(r.Phases) })
	if err != nil {
		return nil, err
	}
	src := &fleet.Source{Place: r.Place, What: "stack or task", Selected: map[*fleet.Unit]bool{}, Changes: o.changes, Diags: o.diags}
	units := map[*Leaf]*fleet.Unit{}
	for _, leaf := range o.Model.Leaves {
		unit := o.fleetUnit(leaf, r.Root)
		units[leaf] = unit
		src.Units, src.Selected[unit] = append(src.Units, unit), o.selected.Leaves[leaf]
	}
	for leaf, cause := range o.selected.Reached {
		if unit := units[leaf]; unit.Wanted == cause.Text {
			unit.By, unit.ByAt = units[cause.By], cause.Place
		}
	}
	slices.SortFunc(src.Units, func(a, b *fleet.Unit) int { return cmp.Compare(a.Name, b.Name) })
	src.Order = &fleet.Order{
		Graph: o.Graph.Graph, Rule: o.Model.Rule(), Steps: make([]fleet.Step, o.Len()), Selected: make(order.Selection, o.Len()),
		Groups: o.groups(), Phased: r.Phases, Kinds: true, Parallel: o.Model.Parallel, Limits: o.Limits(), Conditions: o.Graph,
	}
	for n, step := range o.Steps {
		src.Order.Steps[n] = fleet.Step{Unit: units[step.Leaf], Name: o.Node(n).Name}
		if step.Phase != Whole {
			src.Order.Steps[n].Phase = phaseOf[step.Phase]
		}
		src.Order.Selected[n] = o.selected.Leaves[step.Leaf]
	}
	for _, group := range src.Order.Groups {
		src.GroupNames = append(src.GroupNames, group.Name)
	}
	return src, nil
}

// OpenWork reads the workspace file in the root of a request, and returns the work on the selection
// of the request.
func OpenWork(ctx context.Context, r fleet.Request, mode rollout.Mode) (*fleet.Work, error) {
	model, diags := Load(r.Root)
	return openWork(ctx, r, mode, model, diags)
}

// OpenWorkOf is [OpenWork] with the text of a workspace file that is not there.
func OpenWorkOf(ctx context.Context, r fleet.Request, mode rollout.Mode, src []byte) (*fleet.Work, error) {
	model, diags := LoadText(r.Root, src)
	return openWork(ctx, r, mode, model, diags)
}

func openWork(ctx context.Context, r fleet.Request, mode rollout.Mode, model *Model, diags hcl.Diagnostics) (*fleet.Work, error) {
	o, err := openSelected(ctx, r, model, diags, func(m *Model) (*Graph, hcl.Diagnostics) {
		if mode == rollout.Destroy {
			return m.DestroyGraph()
		}
		return m.Graph(true)
	})
	if err != nil {
		return nil, err
	}
	options := RolloutOptions{
		Root: o.root, Selected: o.selected.Leaves, Tasks: mode == rollout.ApplyAll,
		Reasons: func(leaf *Leaf) []string {
			why := o.selected.Why(leaf)
			if o.modified == nil && len(why) == 0 {
				return []string{"everything is asked for"}
			}
			return why
		},
	}
	if o.modified != nil {
		options.ByOutputs = maps.Clone(o.modified.ByOutputs)
		for leaf := range o.selected.Reached { // which is another reason
			delete(options.ByOutputs, leaf)
		}
	}
	return &fleet.Work{
		Work: o.Rollout(options), Parallel: o.Model.Parallel, Changes: o.changes, Diags: o.diags, Workers: o.Model.Workspace.Workers,
	}, nil
}

// groups returns the groups as they are written, with the nodes of their members.
func (g *Graph) groups() []fleet.Group {
	var groups []fleet.Group
	nodes := map[*Block][]int{}
	for n, step := range g.Steps {
		if step.Leaf == nil {
			continue
		}
		for _, block := range step.Leaf.Groups {
			nodes[block] = append(nodes[block], n)
		}
	}
	for _, block := range g.Model.Blocks {
		if block.Type == GroupType {
			groups = append(groups, fleet.Group{Name: block.Name, Nodes: nodes[block]})
		}
	}
	return groups
}

// fleetUnit returns a leaf as a unit, with the settings of programs that run in it.
func (o *opened) fleetUnit(leaf *Leaf, root string) *fleet.Unit {
	dir := filepath.Join(root, filepath.FromSlash(leaf.Dir()))
	unit := &fleet.Unit{
		Name: leaf.Name, Title: leaf.Name, Kind: rollout.Command, Path: path.Join("/", leaf.Dir()), Directory: filepath.ToSlash(dir), Dir: dir,
		Description: leaf.Description, Tags: leaf.Tags, Env: leaf.Environ(),
		Reasons: o.selected.Reasons[leaf], Wanted: o.selected.Wanted[leaf].Text,
	}
	for _, group := range leaf.Groups {
		unit.Groups = append(unit.Groups, group.Name)
	}
	if leaf.Task != nil {
		unit.Task = &leaf.Task.Task
		return unit
	}
	unit.Kind, unit.Deployment, unit.Workspace = leaf.Stack.Kind, leaf.Stack.Deployment, leaf.Stack.Workspace
	unit.Env = append(unit.Env, VarFilesEnviron(leaf.VarFiles(o.root), os.Getenv)...)
	if unit.Workspace != "" {
		unit.Env = append(unit.Env, "TF_WORKSPACE="+unit.Workspace)
	}
	return unit
}
