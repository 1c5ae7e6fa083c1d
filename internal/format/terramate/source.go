// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terramate

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/fleet"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/tagquery"
)

// Rule is the order of stacks that nothing else orders.
const Rule = order.ByQueue

// Source returns the stacks of a tree and the selection of a request.
func (t *Tree) Source(ctx context.Context, r fleet.Request) (*fleet.Source, error) {
	nodes := t.nodes()
	names := make([]string, len(nodes.all))
	for i, one := range nodes.all {
		names[i] = nodes.name(i, r.Shown(t.Stacks[one.stack].Path))
	}
	named, err := r.Named(names)
	if err != nil {
		return nil, err
	}
	// The user names and selects nodes, one for each deployment; tags and changes belong to stacks.
	// Hence the two numberings, of which the one of nodes goes into the result.
	subjects := make([]tagquery.Subject, len(nodes.all))
	for i, one := range nodes.all {
		subjects[i] = t.Stacks[one.stack].subject(one.deployment)
	}
	matches := r.Matches(subjects)
	filter := Filter{Below: r.Within(), TagFilter: r.TagFilter, Along: r.Along, Only: func(i int) bool {
		return (named == nil || named[names[i]]) && matches(i)
	}}
	changes, err := r.Diff(ctx)
	if err != nil {
		return nil, err
	}
	src := &fleet.Source{Place: r.Place, What: "stack", Changes: changes, Files: t.Files, Selected: map[*fleet.Unit]bool{}}
	found := &Changes{}
	if changes != nil {
		if found, err = t.Changes(ctx, changes.Diff); err != nil {
			return nil, err
		}
		src.Diags, changes.Gone = found.Notes, found.Gone
		filter.Changed = make(order.Selection, len(t.Stacks))
		for i := range found.Reasons {
			filter.Changed[i] = true
		}
	}
	graph, diags := nodes.graph()
	filter.Graph = graph
	selected := nodes.choose(filter)
	groups := map[int]*fleet.Group{} // by stack
	for i, one := range nodes.all {
		unit := t.Stacks[one.stack].unit(r.Place)
		unit.Name = names[i]
		if one.deployment != "" {
			unit.Deployment, unit.Env = one.deployment, []string{"CAIRN_DEPLOYMENT=" + one.deployment}
			if groups[one.stack] == nil {
				groups[one.stack] = &fleet.Group{Name: unit.Directory}
			}
			groups[one.stack].Nodes = append(groups[one.stack].Nodes, i)
		}
		unit.Reasons, unit.Wanted = found.Reasons[one.stack], selected.Wanted[i]
		src.Units = append(src.Units, unit)
		src.Selected[unit] = selected.Selection.Has(i)
	}
	for i, added := range selected.Added {
		src.Units[i].By, src.Units[i].ByAt = src.Units[added.By], added.Place
	}
	src.OrderDiags = diags
	if diags.HasErrors() {
		return src, nil // the stacks can be listed all the same
	}
	src.Order = &fleet.Order{Graph: graph, Rule: Rule, Selected: make(order.Selection, graph.Len()), Steps: make([]fleet.Step, graph.Len())}
	copy(src.Order.Selected, selected.Selection)
	for n := range graph.Len() {
		src.Order.Steps[n].Name = graph.Node(n).Name
		if n < len(src.Units) {
			src.Order.Steps[n] = fleet.Step{Unit: src.Units[n], Name: src.Units[n].Name}
		}
	}
	for _, stack := range slices.Sorted(maps.Keys(groups)) {
		src.Order.Groups = append(src.Order.Groups, *groups[stack])
	}
	return src, nil
}

func (s *Stack) unit(place fleet.Place) *fleet.Unit {
	shown := place.Shown(s.Path)
	return &fleet.Unit{
		Name: shown, Kind: s.Kind, Path: s.Path, Directory: shown, Dir: filepath.Join(place.Root, filepath.FromSlash(s.Path)),
		ID: s.ID, Title: s.Name, Description: s.Description, Tags: s.Tags,
	}
}

// subject is a stack, or one of its deployments, as queries see it.
func (s *Stack) subject(deployment string) tagquery.Subject {
	dir := cmp.Or(strings.TrimPrefix(s.Path, "/"), ".")
	subject := tagquery.Subject{Dir: dir, Tags: map[string]bool{"dir:" + dir: true}}
	if s.Kind != "" {
		subject.Tags["kind:"+string(s.Kind)] = true
	}
	if deployment != "" {
		subject.Tags["deployment:"+deployment] = true
	}
	for _, tag := range s.Tags {
		subject.Tags[tag] = true
	}
	return subject
}
