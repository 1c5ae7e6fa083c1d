// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terramate

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"

	"github.com/cairnstacks/cairn/internal/fleet"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/tagquery"
)

// Rule is how what no stack orders is ordered.
const Rule = order.ByQueue

// Source returns the stacks of a tree and what a request selects of them.
func (t *Tree) Source(ctx context.Context, r fleet.Request) (*fleet.Source, error) {
	names := make([]string, len(t.Stacks))
	for i, stack := range t.Stacks {
		names[i] = r.Shown(stack.Path)
	}
	named, err := r.Named(names)
	if err != nil {
		return nil, err
	}
	filter := Filter{Below: r.Within(), TagFilter: r.TagFilter, Along: r.Along, Only: func(s *Stack) bool {
		return (named == nil || named[r.Shown(s.Path)]) && r.Query.Match(s.subject())
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
	graph, diags := t.Graph()
	filter.Graph = graph
	selected := t.Select(filter)
	for i, stack := range t.Stacks {
		unit := stack.unit(r.Place)
		unit.Reasons, unit.Wanted = found.Reasons[i], selected.Wanted[i]
		src.Units = append(src.Units, unit)
		src.Selected[unit] = selected.Selection.Has(i)
	}
	for i, added := range selected.Added {
		src.Units[i].By, src.Units[i].ByAt = src.Units[added.By], added.Place
	}
	src.OrderDiags = diags
	if diags.HasErrors() {
		return src, nil // what there is can be listed all the same
	}
	src.Order = &fleet.Order{Graph: graph, Rule: Rule, Selected: selected.Selection}
	for _, unit := range src.Units {
		src.Order.Steps = append(src.Order.Steps, fleet.Step{Unit: unit, Name: unit.Name})
	}
	return src, nil
}

func (s *Stack) unit(place fleet.Place) *fleet.Unit {
	shown := place.Shown(s.Path)
	return &fleet.Unit{
		Name: shown, Kind: rollout.Kind(s.Kind), Path: s.Path, Directory: shown, Dir: filepath.Join(place.Root, filepath.FromSlash(s.Path)),
		ID: s.ID, Title: s.Name, Description: s.Description, Tags: s.Tags,
	}
}

// subject is a stack as queries see it.
func (s *Stack) subject() tagquery.Subject {
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
