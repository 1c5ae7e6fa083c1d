// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terrateam

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path"
	"slices"

	"github.com/cairnstacks/cairn/internal/fleet"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/gitdiff"
	"github.com/cairnstacks/cairn/internal/order"
)

const everything = "everything is asked for"

// OpenWork reads the configuration in the root of a request, and returns the work on the selection
// of the request.
//
// Errors: [ErrNoConfig].
func OpenWork(ctx context.Context, r fleet.Request, mode rollout.Mode) (*fleet.Work, error) {
	work, _, err := openWork(ctx, r, mode)
	return work, err
}

// addedBy is the cause of an addition to a selection, by its name for users, and the place where
// that is written.
type addedBy struct {
	name string
	at   order.Place
}

// openWork is OpenWork that also returns the additions by the graph, by their names.
func openWork(ctx context.Context, r fleet.Request, mode rollout.Mode) (*fleet.Work, map[string]addedBy, error) {
	layout, diags, err := Load(r.Root)
	if err == nil && diags.HasErrors() {
		err = diags
	}
	if err != nil {
		return nil, nil, err
	}
	causes := layout.All(everything)
	changes, err := r.Diff(ctx)
	if err != nil {
		return nil, nil, err
	}
	if changes != nil {
		if causes, err = layout.Changed(r.Root, changes.Diff); err != nil {
			return nil, nil, err
		}
	}
	only, err := layout.chosen(r)
	if err != nil {
		return nil, nil, err
	}
	change := layout.Change(causes, ChangeOptions{Only: only})
	added := layout.along(r, change)
	if len(added) > 0 || mode == rollout.Destroy {
		for _, d := range slices.Sorted(maps.Keys(added)) {
			causes = append(causes, Cause{Dirspace: d, Reason: added[d].Text})
		}
		before := change
		change = layout.Change(causes, ChangeOptions{Destroy: mode == rollout.Destroy, Only: func(d int) bool {
			_, isAdded := added[d]
			return isAdded || before.inChange[d]
		}})
		change.because(added)
	}
	work, moreDiags := change.Rollout(RolloutOptions{Root: r.Root, Name: r.Shown})
	if moreDiags.HasErrors() {
		return nil, nil, moreDiags
	}
	diags = diags.Extend(layout.Hidden(os.Environ()))
	if mode == rollout.ApplyAll {
		diags = diags.Extend(change.Unchecked())
	}
	by := map[string]addedBy{}
	for d, why := range added {
		by[layout.shown(d, r.Shown)] = addedBy{layout.shown(why.By, r.Shown), why.Place}
	}
	return &fleet.Work{Work: work, Changes: changes, Diags: diags}, by, nil
}

// Open reads the configuration in the root of a request, and returns its directories with the
// selection of the request.
//
// Errors: [ErrNoConfig].
func Open(ctx context.Context, r fleet.Request) (*fleet.Source, error) {
	w, added, err := openWork(ctx, r, rollout.ApplyAll)
	if err != nil {
		return nil, err
	}
	src := &fleet.Source{Place: r.Place, What: "directory", Selected: map[*fleet.Unit]bool{}, Changes: w.Changes, Diags: w.Diags, Work: w.Work}
	units := make([]*fleet.Unit, len(w.Units))
	byName := map[string]*fleet.Unit{}
	for i := range w.Units {
		units[i] = unitOf(&w.Units[i], r, w.Changes != nil)
		byName[units[i].Name] = units[i]
	}
	for name, by := range added {
		unit := byName[name]
		unit.Wanted, unit.Reasons, unit.By, unit.ByAt = unit.Reasons[0].Text, nil, byName[by.name], by.at
	}
	for _, i := range w.Chosen() {
		src.Units = append(src.Units, units[i])
		src.Selected[units[i]] = true
	}
	slices.SortFunc(src.Units, func(a, b *fleet.Unit) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Workspace, b.Workspace))
	})
	src.Order = orderOf(w, units, r.Phases)
	return src, nil
}

// orderOf is the order of directories, or with phases of their plans and applies.
func orderOf(w *fleet.Work, units []*fleet.Unit, phases bool) *fleet.Order {
	o := &fleet.Order{
		Graph: w.Graph, Rule: w.Rule, Steps: make([]fleet.Step, w.Graph.Len()), Selected: make(order.Selection, w.Graph.Len()),
		Phased: phases, Kinds: phases, Limits: w.AllLimits(),
	}
	groups := map[string]int{}
	for n, step := range w.Steps {
		if step.Phase == "" {
			o.Steps[n].Name = w.Graph.Node(n).Name
			continue
		}
		if !phases && step.Phase == rollout.Plan {
			continue
		}
		unit := units[step.Unit]
		o.Selected[n] = w.Selected.Has(n)
		o.Steps[n] = fleet.Step{Unit: unit, Name: unit.Name}
		if phases {
			o.Steps[n] = fleet.Step{Unit: unit, Name: string(step.Phase) + " " + unit.Name, Phase: step.Phase}
		}
		at, known := groups[unit.Title]
		if !known {
			at = len(o.Groups)
			groups[unit.Title] = at
			o.Groups = append(o.Groups, fleet.Group{Name: unit.Title})
		}
		o.Groups[at].Nodes = append(o.Groups[at].Nodes, n)
	}
	return o
}

func unitOf(u *rollout.Unit, r fleet.Request, changed bool) *fleet.Unit {
	unit := &fleet.Unit{
		Name: u.Name, Title: u.Stack, Kind: u.Kind, Path: path.Join("/", u.Path), Directory: r.Shown(u.Path), Dir: u.Dir,
		Tags: u.Tags, Workspace: u.Workspace, Env: append(slices.Clone(u.Env), "CAIRN_STACK="+u.Stack),
	}
	if u.Workspace != "" {
		unit.Env = append(unit.Env, "TF_WORKSPACE="+u.Workspace)
	}
	if changed || u.Reasons[0] != everything {
		for _, reason := range u.Reasons {
			unit.Reasons = append(unit.Reasons, gitdiff.Reason{Kind: gitdiff.Gate, Text: reason})
		}
	}
	return unit
}
