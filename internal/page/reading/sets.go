// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package reading

import (
	"context"
	"path/filepath"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet"
	"github.com/cairnstacks/cairn/internal/fleet/overview"
	"github.com/cairnstacks/cairn/internal/fleet/planset"
	"github.com/cairnstacks/cairn/internal/fleet/savedplan"
	"github.com/cairnstacks/cairn/internal/format"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/operation/planfile"
	"github.com/cairnstacks/cairn/internal/page/model"
)

// setDirs returns the directories of sets: those that were named, and the usual one if there is a
// set in it.
func (r *Repository) setDirs(src *fleet.Source) []string {
	dirs := slices.Clone(r.opts.Sets)
	if src == nil {
		return dirs
	}
	usual, err := filepath.Abs(filepath.Join(src.Root, planset.UsualDir))
	if err == nil && planset.Exists(usual) && !slices.Contains(dirs, usual) {
		dirs = append(dirs, usual)
	}
	return dirs
}

// SetNames are those of the named sets, by numbers from 1 on.
func (r *Repository) SetNames() []string { return baseNames(r.opts.Sets) }

// Sets looks at all sets. No plan in them is decoded.
func (r *Repository) Sets(ctx context.Context) []*model.SavedSet {
	units, src := r.look(ctx)
	var sets []*model.SavedSet
	for i := range r.setDirs(src) {
		if set, err := r.readSet(ctx, i+1, units, src); err == nil {
			sets = append(sets, set)
		}
	}
	return sets
}

// Set looks at the set with a number.
//
// Errors: [ErrNotFound].
func (r *Repository) Set(ctx context.Context, number int) (*model.SavedSet, error) {
	units, src := r.look(ctx)
	return r.readSet(ctx, number, units, src)
}

func (r *Repository) readSet(ctx context.Context, number int, units []overview.Unit, src *fleet.Source) (*model.SavedSet, error) {
	dirs := r.setDirs(src)
	if number < 1 || number > len(dirs) {
		return nil, ErrNotFound
	}
	set := &model.SavedSet{Number: number, Dir: dirs[number-1]}
	stack := operation.Open(r.surroundings(src))
	defer stack.Close() //nolint:errcheck // nothing was written
	keys, err := stack.Env().Keys()
	if err == nil {
		set.Set, set.Progress, err = planset.Read(ctx, set.Dir, keys)
	}
	if err != nil {
		set.Refused = operation.Diagnostics(err)
		return set, nil
	}
	if src != nil {
		set.Refused = refusals(set.Set, src)
	}
	states := map[string]*overview.Unit{}
	for i := range units {
		states[units[i].Name] = &units[i]
	}
	for _, unit := range set.Set.Units {
		if u := states[unit.Name]; u != nil && set.Progress[unit.Name] == "" && u.State.Last.Started.After(set.Set.Created) {
			set.Changed++
		}
	}
	return set, nil
}

// refusals are the reasons for which no plan of a set is applied, as far as files of the repository
// tell.
func refusals(set *planset.Set, src *fleet.Source) hcl.Diagnostics {
	var diags hcl.Diagnostics
	if err := set.CheckWorkspace(filepath.Join(src.Root, format.File)); err != nil {
		diags = operation.Diagnostics(err)
	}
	there := map[string]bool{}
	for _, unit := range src.Units {
		there[unit.Name] = true
	}
	for i := range set.Units {
		if unit := &set.Units[i]; !there[unit.Name] {
			diags = diags.Append(unit.Of(unit.NotThere()))
		}
	}
	return diags
}

// surroundings are the options of the stack in the current directory, whose settings name the keys
// of sets.
func (r *Repository) surroundings(src *fleet.Source) operation.Options {
	options := r.options(overview.Unit{})
	if src != nil {
		options.Env.Workspace = src.Root
	}
	return options
}

// SetPlan reads the plan of a unit of a set.
//
// Errors: [ErrNotFound]; all that keeps the set from being read.
func (r *Repository) SetPlan(ctx context.Context, number int, name string) (*savedplan.Plan, *model.SavedSet, error) {
	set, err := r.Set(ctx, number)
	switch {
	case err != nil:
		return nil, nil, err
	case set.Set == nil:
		return nil, nil, set.Refused
	}
	unit := set.Set.Unit(name)
	if unit == nil {
		return nil, nil, ErrNotFound
	}
	_, src := r.look(ctx)
	options := savedplan.StackOf(r.surroundings(src), unit)
	read, err := r.plan(options, filepath.Join(set.Dir, filepath.FromSlash(unit.Plan)), func(stack *operation.Stack) (savedplan.Plan, error) {
		return savedplan.ReadUnit(ctx, stack, set.Set, unit)
	})
	return read, set, err
}

// fitsAtOnce is how many plans are compared with their stacks at the same time.
const fitsAtOnce = 8

// Fits finds out whether the plans of units of a set still fit, in the order of the units. Nothing
// is installed or run for that, so that some remain unknown which an apply finds out.
func (r *Repository) Fits(ctx context.Context, set *model.SavedSet, members []*planset.Unit) []model.Fit {
	units, _ := r.Units(ctx)
	states := map[string]overview.Unit{}
	for _, u := range units {
		states[u.Name] = u
	}
	fits := make([]model.Fit, len(members))
	turns := make(chan struct{}, fitsAtOnce)
	var wait sync.WaitGroup
	for i, unit := range members {
		wait.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			u, listed := states[unit.Name]
			switch {
			case !listed:
				fits[i].Unknown = failure.Error("Not looked at", "It is not among the stacks that this page lists.")
			case unit.Module != nil:
				fits[i] = moduleFits(&u, unit.Module)
			default:
				fits[i] = r.stackFits(ctx, u, set.Set, unit)
			}
		})
	}
	wait.Wait()
	return fits
}

// stackFits compares a stack with its plan.
func (r *Repository) stackFits(ctx context.Context, u overview.Unit, set *planset.Set, unit *planset.Unit) model.Fit {
	stack := r.Open(u)
	defer stack.Close() //nolint:errcheck // nothing was written
	plan, err := savedplan.ReadUnit(ctx, stack, set, unit)
	if err != nil {
		return model.Fit{Reason: err}
	}
	reason, err := operation.Unfit(ctx, stack, plan.Plan, plan.Made)
	return model.Fit{Reason: reason, Unknown: err}
}

// moduleFits compares a root module with its plan, and its state if that is in a file: other
// backends are known to the engine only.
func moduleFits(u *overview.Unit, module *planset.Module) model.Fit {
	diag, err := module.CheckConfig(env.Absolute(u.Dir))
	switch problem := u.Problem(); {
	case diag != nil:
		return model.Fit{Reason: hcl.Diagnostics{diag}}
	case err != nil:
		return model.Fit{Unknown: err}
	case problem != nil:
		return model.Fit{Unknown: hcl.Diagnostics{problem}}
	case !u.State.Known:
		return model.Fit{Unknown: failure.Error("State not looked at", "%s.", failure.Capitalize(u.State.Unread))}
	}
	now := planfile.StateVersion{
		File: planfile.StatePlace(u.Place), Lineage: u.State.Lineage,
		Serial: uint64(u.State.Last.Serial), //nolint:gosec // no state has a negative one
	}
	if diag := module.CheckState(now); diag != nil {
		return model.Fit{Reason: hcl.Diagnostics{diag}}
	}
	return model.Fit{}
}
