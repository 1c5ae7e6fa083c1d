// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package gone finds the units of a commit that do not exist any more: stacks, deployments of them,
// and workspaces of root modules, with managed objects still to be destroyed.
//
// Their configuration is that of the commit, in a directory to which it was exported. Their states
// are where they were.
//
// Rules:
//
//   - G1. A unit that may exist under another name, or in another place, is left alone, and so is
//     one without a state. Both are reported.
//   - G2. A unit that a living one depends on, or whose state a living one has, is an error, and
//     nothing is done.
//   - G3. Nothing is destroyed here, and nothing is written but next to the exported configuration.
//   - G4. Where other machines do the work, the exported files are all that they get, and they have
//     the states: a unit is at home where its copy is, and its plan says what it has.
package gone

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/gitdiff"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// Comparison is the work of a commit and that of now, to be compared.
type Comparison struct {
	Base   *rollout.Work // to destroy the units of the base, read from the exported files
	Living *rollout.Work // the units that exist, of which nothing is done; nil if nothing lists them

	Root     string // absolute directory of the living units
	Exported string // absolute directory that stands for it, with the files of the commit
	Diff     *gitdiff.Diff

	// Elsewhere says that other machines do the work, with a copy of the exported files (rule G4).
	Elsewhere bool

	// Named are the directories that rules of living units name.
	Named []fleet.NamedDir
}

// Gone is the work to destroy units that are gone.
type Gone struct {
	Work *rollout.Work // nothing else is selected in it

	// Missing are the directories of stacks that do not exist any more, by unit, each with those above
	// it that do not either. Their work may make them, if it is done here.
	Missing map[int][]string

	leftovers leftovers
}

// Find returns the selected units of the base that do not exist any more, and reports about the
// others that do not. With errors nothing is to be destroyed.
func Find(ctx context.Context, c Comparison) (*Gone, hcl.Diagnostics) {
	base, diags := expand(c.Base)
	living, moreDiags := c.living()
	diags = diags.Extend(moreDiags)
	if diags.HasErrors() {
		return nil, diags
	}
	f := &finder{Comparison: c, work: base, living: living}
	// The files of the base are exported to another directory, but states, and files that git does
	// not have, are where the units were: home comes first for all units, also for those that are only
	// read. The state of a stack is in its directory, which may have to be made again for the work; a
	// root module runs in the exported one, and an override file leads it to its state.
	for i := range base.Units {
		f.home(&base.Units[i])
	}
	selected := map[int]bool{}
	for _, unit := range base.Chosen() {
		if u := &base.Units[unit]; u.Task == nil && f.isGone(u) {
			found, moreDiags := f.destroyed(ctx, u)
			diags, selected[unit] = diags.Extend(moreDiags), found
		}
	}
	if diags.HasErrors() {
		return nil, diags
	}
	result := &Gone{Work: base, Missing: map[int][]string{}}
	selectUnits(base, func(unit int) bool { return selected[unit] })
	for unit, found := range selected {
		u := &base.Units[unit]
		if u.Kind == rollout.Components && found && !c.Elsewhere {
			for dir := u.Home; !exists(dir); dir = filepath.Dir(dir) {
				result.Missing[unit] = append(result.Missing[unit], dir)
			}
		}
		if found {
			if err := result.leftovers.add(u, c.Diff); err != nil {
				return nil, diags.Extend(failure.Diagnostics(err))
			}
		}
		u.Reasons = []string{reason(u, c.Diff.Base)}
	}
	if c.Elsewhere {
		return result, diags.Extend(f.complete())
	}
	return result, diags.Extend(f.keepRootStates())
}

// Again returns the work that [Find] has found before in a copy of the same exported files, by the
// names of its selected units and the name of the base.
func Again(exported *rollout.Work, names []string, base string) (*rollout.Work, hcl.Diagnostics) {
	work, diags := expand(exported)
	if diags.HasErrors() {
		return nil, diags
	}
	selectUnits(work, func(unit int) bool { return slices.Contains(names, work.Units[unit].Name) })
	for _, unit := range work.Chosen() {
		u := &work.Units[unit]
		u.Reasons = []string{reason(u, base)}
	}
	return work, diags
}

// selectUnits selects the steps of some units of a work, and nothing else.
func selectUnits(work *rollout.Work, selected func(unit int) bool) {
	work.Selected = make(order.Selection, len(work.Steps))
	for n, step := range work.Steps {
		work.Selected[n] = step.Phase != "" && selected(step.Unit)
	}
}

// finder finds units that are gone.
type finder struct {
	Comparison
	work   *rollout.Work
	living *present

	states map[*rollout.Unit]location // of living units, once they are asked for
}

// home says where the state of a unit is, and takes files that git does not have from where they
// are.
func (f *finder) home(u *rollout.Unit) {
	u.Home = f.original(u.Dir)
	u.VarFiles = slices.Clone(u.VarFiles)
	for i, file := range u.VarFiles {
		if original := f.original(file); !exists(file) && exists(original) {
			u.VarFiles[i] = original
		}
	}
}

// original returns the path that an exported file stands for.
func (f *finder) original(file string) string {
	rel, err := filepath.Rel(f.Exported, file)
	if err != nil {
		return file
	}
	return filepath.Join(f.Root, rel)
}

// isGone reports whether there is no unit any more with the state of one.
func (f *finder) isGone(u *rollout.Unit) bool { return f.living.units[keyOf(u)] == nil }

// destroyed reports whether a unit that is gone is to be destroyed. If not, the diagnostics say
// why.
func (f *finder) destroyed(ctx context.Context, u *rollout.Unit) (bool, hcl.Diagnostics) {
	if why := f.stillThere(u); why != nil {
		return false, hcl.Diagnostics{why}
	}
	state, diags := stateOf(u)
	if diags.HasErrors() {
		return false, diags
	}
	if to := f.movedTo(u); to != nil {
		diag, err := f.moved(u, state, to)
		return false, append(err, diag...)
	}
	if diags := f.inUse(u, state); diags.HasErrors() {
		return false, diags
	}
	if diags := f.dependents(u, state); diags.HasErrors() {
		return false, diags
	}
	return f.hasState(ctx, u, state)
}

// stillThere returns the reason why an unlisted unit does not count as gone; nil if it does.
func (f *finder) stillThere(u *rollout.Unit) *hcl.Diagnostic {
	now := f.living.dirs[clean(u.Path)]
	if now == nil {
		now = lookAt(u.Home)
	}
	keep := func(detail string, args ...any) *hcl.Diagnostic {
		return failure.Warning(summaryKept, "%s is not destroyed: %s", quoted(u), fmt.Sprintf(detail, args...))
	}
	switch {
	case now.kind == "":
		return nil // there is no configuration any more
	case now.kind != u.Kind:
		return keep("there is another kind of configuration in %s now, which may have taken over its objects. "+
			"If it has not, destroy it from a checkout of %s.", u.Path, f.Diff.Base)
	case u.Kind == rollout.Components && slices.Contains(now.deployments, deploymentOf(u)):
		return keep("the deployment is still declared in %s, and only nothing lists it any more. Delete its block, or destroy it there.", u.Path)
	case u.Kind == rollout.Components && u.Deployment == "" && len(now.deployments) > 0:
		return keep("%s has deployments now, and the earlier state belongs to the deployment \"default\". "+
			"Move its state to one of them, or destroy it from a checkout of %s.", u.Path, f.Diff.Base)
	case !now.listed:
		return keep("its configuration is still in %s, and only nothing lists it any more. "+
			"Delete that directory, or destroy its objects there.", u.Path)
	}
	return nil
}

// reason says why a unit is selected that was there at a base.
func reason(u *rollout.Unit, base string) string {
	what := ""
	switch {
	case u.Deployment != "":
		what = "the deployment " + u.Deployment + " of "
	case u.Workspace != "":
		what = "the workspace " + u.Workspace + " of "
	}
	return fmt.Sprintf("%s%s was there at %s", what, u.Path, base)
}

// CodeNeeded is of errors because of living units, which do not matter if the unit in question is
// not selected.
const CodeNeeded fault.Code = "gone/needed"

// The summaries of diagnostics.
const (
	summaryKept       = "Configuration still there"
	summaryMoved      = "Moved to another place"
	summaryNoState    = "No state to destroy"
	summaryEmpty      = "Nothing left to destroy"
	summaryInUse      = "State in use by another"
	summaryDependents = "Dependents still there"
)

func quoted(u *rollout.Unit) string { return fmt.Sprintf("%q", u.Name) }

// clean makes paths from the root comparable.
func clean(dir string) string { return path.Clean("/" + filepath.ToSlash(dir)) }
